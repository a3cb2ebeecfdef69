//! Which seeds, as a command line says it.

use std::ops::Range;

/// More than this many seeds are taken for a slip of the finger.
pub const MOST: u64 = 1_000_000_000;

/// Reads `A..B` (from A to below B), or `N` for `0..N`.
///
/// # Errors
///
/// What is wrong with it, and what would be right.
pub fn parse(text: &str) -> Result<Range<u64>, String> {
    let (from, to) = match text.split_once("..") {
        Some((from, to)) => (number(from)?, number(to)?),
        None => (0, number(text)?),
    };
    if from >= to {
        let right = match from.checked_add(1) {
            Some(next) => format!("write {from}..{next} for seed {from} alone"),
            None => "write the lower end first".to_owned(),
        };
        return Err(if from == to {
            format!("there is no seed in it, because the end is not part of it; {right}")
        } else {
            format!("it ends before it begins; write {to}..{from}")
        });
    }
    if to - from > MOST {
        return Err("these are more than 1,000,000,000 seeds; take some of them at a time".into());
    }
    Ok(from..to)
}

/// Reads one seed.
///
/// # Errors
///
/// What would be right.
pub fn one(text: &str) -> Result<u64, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match digits {
        true => number(text),
        false => Err("expected one seed, a number from 0 on, such as 7".to_owned()),
    }
}

fn number(text: &str) -> Result<u64, String> {
    let expected = "expected seeds such as 0..100, or 100 for the same";
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(expected.to_owned());
    }
    text.parse()
        .map_err(|_| format!("{text} is too large: seeds end at {}", u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_its_first_seed_and_not_its_last() {
        assert_eq!(parse("5..8"), Ok(5..8));
        assert_eq!(parse("100"), Ok(0..100));
        assert_eq!(
            parse("18446744073709551614..18446744073709551615").map(|seeds| seeds.count()),
            Ok(1)
        );
    }

    #[test]
    fn what_is_no_seed_is_told_what_would_be() {
        assert_eq!(one("7"), Ok(7));
        for text in ["", "x", "-1", "0..3", "+7", "1.5"] {
            assert!(one(text).unwrap_err().contains("such as 7"), "{text}");
        }
        assert!(
            one("18446744073709551616")
                .unwrap_err()
                .contains("too large")
        );
    }

    #[test]
    fn what_is_no_range_is_told_what_would_be() {
        let wrong = |text: &str| parse(text).unwrap_err();
        assert!(wrong("5..5").ends_with("write 5..6 for seed 5 alone"));
        assert!(wrong("9..3").ends_with("write 3..9"));
        assert!(wrong("0").contains("no seed"));
        for text in [
            "", "..", "a..b", "1..", "-1..3", "1..=3", "1...3", " 1..3", "1.5", "٣",
        ] {
            assert!(wrong(text).starts_with("expected"), "{text}");
        }
        assert!(wrong("0..18446744073709551616").contains("too large"));
        assert!(wrong("0..18446744073709551615").contains("1,000,000,000"));
    }
}
