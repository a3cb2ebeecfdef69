//! How often a contender takes the lock to read.

use picklock_sim::plan::Reads;

use super::{UnitMistake, parse_rate};

const NEVER: &str = "never";
const ALWAYS: &str = "always";

/// Reads `never`, `always`, or a share such as `50%`.
///
/// # Errors
///
/// Says what is wrong: another word, no percent, more than all, or too fine.
pub fn parse_reads(text: &str) -> Result<Reads, UnitMistake> {
    match text {
        NEVER | "0%" => return Ok(Reads::Never),
        ALWAYS | "100%" => return Ok(Reads::Always),
        _ => {}
    }
    let help = r#"expected "never", "always", or a share of the rounds such as "50%""#;
    let share = parse_rate(text).map(Reads::Share);
    share.map_err(|mistake| UnitMistake::new(mistake.message.replace("rate", "share"), help))
}

/// As [`parse_reads`] reads it.
pub fn reads(reads: Reads) -> String {
    match reads {
        Reads::Never => NEVER.to_owned(),
        Reads::Share(rate) => rate.to_string(),
        Reads::Always => ALWAYS.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["never", "always", "50%", "0.5%"] {
            let read = parse_reads(text).expect(text);
            assert_eq!(reads(read), text);
        }
        assert_eq!(parse_reads("0%"), Ok(Reads::Never));
        assert_eq!(parse_reads("100%"), Ok(Reads::Always));
    }

    #[test]
    fn a_mistake_says_what_there_is() {
        for text in ["sometimes", "101%", "50", "0.00001%"] {
            let mistake = parse_reads(text).expect_err(text);
            assert!(mistake.help.contains("always"), "{text}: {mistake:?}");
        }
    }
}
