//! Durations as people write them: `"20s"`, `"1.5s"`, `"1ms..5ms"`.
//!
//! One number and one unit; nothing finer than a microsecond, which is the resolution of simulated
//! time.

mod rate;
mod reads;

use std::time::Duration;

pub use rate::parse_rate;
pub use reads::{parse_reads, reads};

use crate::nearest::nearest;

/// The longest duration that a scenario may speak of. A sum of a few never overflows.
pub const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// Units and their length in nanoseconds, the longest first.
const UNITS: [(&str, u128); 5] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
];

/// What is wrong with a duration, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitMistake {
    /// What is wrong, in a few words.
    pub message: String,
    /// What would be right.
    pub help: String,
}

impl UnitMistake {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
        }
    }

    fn shape() -> Self {
        Self::new(
            "this is not a duration",
            r#"expected a duration such as "20s" or "5ms""#,
        )
    }
}

/// Reads a duration such as `20s`, `5ms`, or `1.5s`.
///
/// # Errors
///
/// Says what is wrong: no unit, an unknown one, a sign, too long, finer than a microsecond.
pub fn parse_duration(text: &str) -> Result<Duration, UnitMistake> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    if text.starts_with('-') && parse_duration(&text[1..]).is_ok() {
        return Err(UnitMistake::new(
            "this duration is negative",
            r#"expected a duration such as "20s" or "5ms""#,
        ));
    }
    if number.is_empty() {
        return Err(UnitMistake::shape());
    }
    if unit.is_empty() {
        return Err(UnitMistake::new(
            "this duration has no unit",
            format!("units are us, ms, s, m, and h: for seconds, write \"{number}s\""),
        ));
    }
    let Some((_, nanos_per_unit)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(unknown_unit(unit));
    };
    let nanos = in_nanos(number, *nanos_per_unit)?;
    if nanos > LONGEST.as_nanos() {
        return Err(UnitMistake::new(
            "this duration is too long",
            "no duration may be longer than 366 days (8784h)",
        ));
    }
    if !nanos.is_multiple_of(1_000) {
        return Err(finer_than_time());
    }
    let micros = u64::try_from(nanos / 1_000).map_err(|_| UnitMistake::shape())?;
    Ok(Duration::from_micros(micros))
}

/// Reads a duration that may be negative, such as `-5s`: whether it is, and how long.
///
/// # Errors
///
/// As for [`parse_duration`].
pub fn parse_signed(text: &str) -> Result<(bool, Duration), UnitMistake> {
    match text.strip_prefix('-') {
        Some(rest) if !rest.starts_with('-') => Ok((true, parse_duration(rest)?)),
        Some(_) => Err(UnitMistake::shape()),
        None => Ok((false, parse_duration(text)?)),
    }
}

/// Reads a duration that may be negative, in whole milliseconds.
///
/// # Errors
///
/// As for [`parse_duration`], and if it is no whole number of milliseconds.
pub fn parse_signed_millis(text: &str) -> Result<i64, UnitMistake> {
    let (back, by) = parse_signed(text)?;
    if !by.subsec_micros().is_multiple_of(1_000) {
        return Err(UnitMistake::new(
            "clocks are off by whole milliseconds",
            r#"expected a duration such as "20s" or "-5ms""#,
        ));
    }
    let millis = i64::try_from(by.as_millis()).map_err(|_| UnitMistake::shape())?;
    Ok(if back { -millis } else { millis })
}

/// Reads a range of durations that may be negative, such as `-5s..5s`, in whole milliseconds.
///
/// # Errors
///
/// As for [`parse_signed_millis`], and if the range runs backwards.
pub fn parse_signed_millis_range(text: &str) -> Result<(i64, i64), UnitMistake> {
    let Some((from, to)) = text.split_once("..") else {
        let both = parse_signed_millis(text)?;
        return Ok((both, both));
    };
    let range = (parse_signed_millis(from)?, parse_signed_millis(to)?);
    if range.0 > range.1 {
        return Err(UnitMistake::new(
            "this range runs backwards",
            format!("did you mean \"{to}..{from}\"?"),
        ));
    }
    Ok(range)
}

/// Reads a range such as `1ms..5ms`, both ends included; a single duration is a range of its own.
///
/// # Errors
///
/// As for [`parse_duration`], and if the range runs backwards.
pub fn parse_range(text: &str) -> Result<(Duration, Duration), UnitMistake> {
    let Some((from, to)) = text.split_once("..") else {
        let both = parse_duration(text)?;
        return Ok((both, both));
    };
    let range = (parse_duration(from)?, parse_duration(to)?);
    if range.0 > range.1 {
        return Err(UnitMistake::new(
            "this range runs backwards",
            format!("did you mean \"{to}..{from}\"?"),
        ));
    }
    Ok(range)
}

/// Writes a duration in the largest unit that leaves it whole.
pub fn write_duration(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    if nanos == 0 {
        return "0s".to_owned();
    }
    match UNITS
        .iter()
        .find(|(_, length)| nanos.is_multiple_of(*length))
    {
        Some((unit, length)) => format!("{}{unit}", nanos / length),
        None => format!("{}us", nanos.div_ceil(1_000)),
    }
}

/// Writes a range; one whose ends are the same as a single duration.
pub fn write_range((from, to): (Duration, Duration)) -> String {
    if from == to {
        write_duration(from)
    } else {
        format!("{}..{}", write_duration(from), write_duration(to))
    }
}

/// A decimal number of units, in nanoseconds, exactly.
fn in_nanos(number: &str, nanos_per_unit: u128) -> Result<u128, UnitMistake> {
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) => (whole, fraction),
        None => (number, "0"),
    };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) {
        return Err(UnitMistake::shape());
    }
    let whole = match whole.trim_start_matches('0') {
        "" => 0,
        digits if digits.len() > 18 => u128::from(u64::MAX),
        digits => digits.parse().map_err(|_| UnitMistake::shape())?,
    };
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() {
        return Ok(whole * nanos_per_unit);
    }
    if fraction.len() > 12 {
        return Err(finer_than_time());
    }
    let scale = 10_u128.pow(u32::try_from(fraction.len()).map_err(|_| UnitMistake::shape())?);
    let part: u128 = fraction.parse().map_err(|_| UnitMistake::shape())?;
    if !(part * nanos_per_unit).is_multiple_of(scale) {
        return Err(finer_than_time());
    }
    Ok(whole * nanos_per_unit + part * nanos_per_unit / scale)
}

fn finer_than_time() -> UnitMistake {
    UnitMistake::new(
        "this duration is too fine",
        "simulated time has a resolution of one microsecond (1us)",
    )
}

fn unknown_unit(unit: &str) -> UnitMistake {
    if unit.starts_with(|c: char| c.is_ascii_lowercase()) && unit.contains(char::is_numeric) {
        return UnitMistake::new(
            "this duration has more than one unit",
            r#"one number and one unit: instead of "1m30s", write "90s""#,
        );
    }
    let spelled = match unit.trim() {
        "sec" | "secs" | "second" | "seconds" | "S" => Some("s"),
        "min" | "mins" | "minute" | "minutes" | "M" => Some("m"),
        "hour" | "hours" | "hr" | "H" => Some("h"),
        "msec" | "millis" | "milliseconds" | "millisecond" => Some("ms"),
        "usec" | "micros" | "microseconds" | "microsecond" | "µs" | "μs" => Some("us"),
        other => nearest(other, UNITS.iter().map(|(name, _)| *name)),
    };
    let shown: String = unit
        .trim()
        .chars()
        .take(20)
        .flat_map(char::escape_debug)
        .collect();
    let hint = spelled.map_or(String::new(), |unit| format!("; did you mean `{unit}`?"));
    UnitMistake::new(
        format!("unknown unit `{shown}`"),
        format!("units are us, ms, s, m, and h{hint}"),
    )
}

/// The most bytes that a buffer may have: ZooKeeper counts them by a signed number of 32 bits.
pub const MOST_BYTES: u32 = i32::MAX as u32;

/// Reads a number of bytes such as `4MiB`, `512KiB`, or `1048575`.
///
/// # Errors
///
/// Says what is wrong: no number, an unknown unit, too few or too many.
pub fn parse_bytes(text: &str) -> Result<u32, UnitMistake> {
    let wrong = |what: &str| {
        UnitMistake::new(
            what,
            r#"expected bytes from 1024 to 2147483647, such as "4MiB""#,
        )
    };
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(wrong("this is no number of bytes")),
    };
    let number = number
        .parse::<u64>()
        .map_err(|_| wrong("this is no number of bytes"))?;
    let bytes = u32::try_from(number.saturating_mul(unit)).unwrap_or(u32::MAX);
    if (1_024..=MOST_BYTES).contains(&bytes) {
        Ok(bytes)
    } else {
        Err(wrong("these are too few bytes, or too many"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units_of_1024_or_none() {
        assert_eq!(parse_bytes("4MiB"), Ok(4 << 20));
        assert_eq!(parse_bytes("1048575"), Ok(1_048_575));
        for bad in [
            "",
            "MiB",
            "4MB",
            "2GiB",
            "1023",
            "-1",
            "1.5MiB",
            "99999999999999999999",
        ] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_are_read_exactly() {
        for (text, micros) in [
            ("20s", 20_000_000),
            ("5ms", 5_000),
            ("7us", 7),
            ("1.5s", 1_500_000),
            ("0.25ms", 250),
            ("2m", 120_000_000),
            ("1h", 3_600_000_000),
            ("0s", 0),
            ("0.000001s", 1),
        ] {
            assert_eq!(
                parse_duration(text),
                Ok(Duration::from_micros(micros)),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_not_a_duration_is_told_so() {
        for text in [
            "",
            "s",
            "20",
            "20 s",
            "20sec",
            "-5s",
            "1m30s",
            "1..2s",
            ".5s",
            "5.s",
            "1e3s",
            "0.1us",
            "0.0000000000000001h",
            "99999999999999999999999999h",
            "9000h",
            "٣s",
            "--5s",
            "+5s",
        ] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_range_includes_both_ends_and_never_runs_backwards() {
        let millis = Duration::from_millis;
        assert_eq!(parse_range("1ms..5ms"), Ok((millis(1), millis(5))));
        assert_eq!(parse_range("3ms"), Ok((millis(3), millis(3))));
        assert_eq!(
            parse_range("5ms..1ms").unwrap_err().help,
            r#"did you mean "1ms..5ms"?"#
        );
    }

    #[test]
    fn what_is_written_is_read_back() {
        for micros in [
            0,
            1,
            999,
            1_000,
            1_500_000,
            60_000_000,
            3_600_000_000,
            90_000_000,
        ] {
            let duration = Duration::from_micros(micros);
            assert_eq!(parse_duration(&write_duration(duration)), Ok(duration));
        }
        assert_eq!(write_duration(Duration::from_secs(90)), "90s");
        assert_eq!(write_duration(Duration::from_secs(120)), "2m");
    }
}
