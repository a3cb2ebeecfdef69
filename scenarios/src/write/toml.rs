//! Strings and numbers of TOML.

use std::fmt::Write as _;

/// A string in one line.
pub(super) fn text(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() => {
                write!(quoted, "\\u{:04x}", u32::from(c)).expect("a String takes everything");
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A string in as many lines as it has. White space around it is not kept.
pub(super) fn prose(prose: &str) -> String {
    let one_line = !prose.contains('\n');
    if one_line || prose.chars().any(|c| c.is_control() && c != '\n') {
        return text(prose);
    }
    let escaped = prose.replace('\\', "\\\\").replace("\"\"", "\\\"\\\"");
    format!("\"\"\"\n{escaped}\n\"\"\"")
}

/// A number, as a whole number if it is one.
pub(super) fn number(number: f64) -> String {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        format!("{number:.0}")
    } else {
        format!("{number:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped() {
        assert_eq!(text("a \"b\"\\\n\u{1}ä"), r#""a \"b\"\\\n\u0001ä""#);
    }

    #[test]
    fn whole_numbers_need_no_point() {
        assert_eq!(number(20.0), "20");
        assert_eq!(number(24.5), "24.5");
    }
}
