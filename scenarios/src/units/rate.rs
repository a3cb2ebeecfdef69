//! Rates in percent.

use picklock_sim::plan::Rate;

use super::UnitMistake;

/// Reads a rate such as `5%` or `0.25%`.
///
/// # Errors
///
/// Says what is wrong: no number, no percent, nothing, everything, or too fine.
pub fn parse_rate(text: &str) -> Result<Rate, UnitMistake> {
    let wrong = |what: &str, help: &str| Err(UnitMistake::new(what, help));
    let example = r#"expected a rate such as "5%" or "0.25%""#;
    let Some(number) = text.strip_suffix('%') else {
        return wrong("this is no rate in percent", example);
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || whole.len() > 6 {
        return wrong("this is no rate in percent", example);
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 4 {
        return wrong(
            "this rate is too fine",
            "a rate has four digits behind the point at most",
        );
    }
    let whole: u32 = whole.parse().unwrap_or(u32::MAX);
    let rest: u32 = format!("{fraction:0<4}").parse().unwrap_or_default();
    let parts = whole.saturating_mul(10_000).saturating_add(rest);
    match Rate::of_million(parts) {
        Some(rate) => Ok(rate),
        None if parts == 0 => wrong("at 0% nothing is lost", "expected more than 0%"),
        None if parts == Rate::WHOLE => wrong(
            "at 100% nothing gets through",
            "write `black-hole` for that, or expected less than 100%",
        ),
        None => wrong("there is no more than 100%", example),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_more_than_nothing_and_less_than_all() {
        for (text, parts) in [
            ("5%", 50_000),
            ("0.25%", 2_500),
            ("99.9999%", 999_999),
            ("050.50%", 505_000),
        ] {
            let rate = parse_rate(text).unwrap();
            assert_eq!(rate.parts(), parts, "{text}");
            assert_eq!(parse_rate(&rate.to_string()).unwrap(), rate);
        }
        for text in [
            "5",
            "%",
            "0%",
            "0.0%",
            "100%",
            "100.0001%",
            "-1%",
            "1.00001%",
            "1e1%",
            "9999999%",
            ".5%",
        ] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }
}
