//! Small words: plurals, numbers, durations, and lines that fit.

use std::time::Duration;

use picklock_checker::outcome::Standing;

/// The width that reports keep to if they go to no terminal.
pub(crate) const WIDTH: usize = 100;

/// Text in fewer columns than this is not read.
const LEAST: usize = 20;

/// The word for a standing, as a verdict line begins with it.
pub fn verdict(standing: Standing) -> &'static str {
    match standing {
        Standing::Holds => "HOLDS",
        Standing::AsExpected => "AS EXPECTED",
        Standing::Skipped => "SKIPPED",
        Standing::Undecided => "UNDECIDED",
        Standing::Fail => "FAIL",
        Standing::Broken => "BROKEN",
    }
}

/// A count with its noun: `1 seed`, `1000 seeds`. The plural is the noun with an `s`.
pub fn count(number: u64, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

/// A number with a comma between its thousands: `49,995,000`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with that many decimals, and a comma between its thousands.
pub fn decimal(number: f64, decimals: usize) -> String {
    if !number.is_finite() {
        return "-".to_owned();
    }
    let text = format!("{:.decimals$}", number.abs());
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let sign = if number.is_sign_negative() && text.contains(|digit| digit > '0') {
        "-"
    } else {
        ""
    };
    let whole = whole
        .parse()
        .map_or_else(|_| whole.to_owned(), |whole: u64| thousands(whole));
    format!("{sign}{whole}{fraction}")
}

/// A duration in the unit that suits it, with about three digits: `870 us`, `1.25 ms`, `20.0 s`.
pub fn duration(micros: u64) -> String {
    let seconds = micros as f64 / 1e6;
    let (number, unit) = match micros {
        0 => return "0 s".to_owned(),
        1..=999 => return format!("{micros} us"),
        1_000..=999_499 => (seconds * 1e3, "ms"),
        _ => (seconds, "s"),
    };
    let decimals = match number {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{} {unit}", decimal(number, decimals))
}

/// How long something took, with one decimal: `2.1 s`.
pub(crate) fn took(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}

/// How long an overlap lasted, in milliseconds: `8,012 ms`, `0.250 ms`.
pub(crate) fn milliseconds(duration: Duration) -> String {
    let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    if micros.is_multiple_of(1_000) {
        format!("{} ms", thousands(micros / 1_000))
    } else {
        format!("{} ms", decimal(micros as f64 / 1e3, 3))
    }
}

/// The text in lines of at most `width` characters, broken at spaces; a longer word has its own
/// line.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let wide = line.chars().count() + 1 + word.chars().count();
        if line.is_empty() {
            line.push_str(word);
        } else if wide <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(std::mem::replace(&mut line, word.to_owned()));
        }
    }
    lines.push(line);
    lines
}

/// The text, wrapped to this width, after `first` on its first line and below it on the others.
pub(crate) fn hanging(first: &str, text: &str, width: usize) -> String {
    let indent = first.chars().count();
    if indent + LEAST > width {
        // What comes first leaves no room: the text begins below it.
        let own = first.chars().take_while(|letter| *letter == ' ').count() + 2;
        let lines = wrap(text, width.saturating_sub(own).max(LEAST));
        let below = format!("\n{:own$}", "");
        return format!("{}{below}{}", first.trim_end(), lines.join(&below));
    }
    let lines = wrap(text, width.saturating_sub(indent));
    let below = format!("\n{:indent$}", "");
    format!("{first}{}", lines.join(&below))
        .trim_end()
        .to_owned()
}

/// The text with every name replaced by its letter, where the name stands as a word of its own.
pub(crate) fn rename(text: &str, letters: &[(String, String)]) -> String {
    let mut renamed = String::with_capacity(text.len());
    let mut rest = text;
    'text: while let Some(next) = rest.chars().next() {
        let starts_word = !renamed.chars().next_back().is_some_and(in_name);
        if starts_word {
            for (name, letter) in letters {
                if let Some(after) = rest.strip_prefix(name.as_str())
                    && !name.is_empty()
                    && ends_word(after)
                {
                    renamed.push_str(letter);
                    rest = after;
                    continue 'text;
                }
            }
        }
        renamed.push(next);
        rest = &rest[next.len_utf8()..];
    }
    renamed
}

/// Whether a text mentions a name as a word of its own.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(start, _)| {
        !text[..start].chars().next_back().is_some_and(in_name)
            && ends_word(&text[start + name.len()..])
    })
}

fn ends_word(after: &str) -> bool {
    !after.chars().next().is_some_and(in_name)
}

/// Whether a character can belong to the name of a contender.
fn in_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '-' || letter == '_'
}

/// Text that may come from a file of the user, without anything that would steer the terminal.
pub fn harmless(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_everything_else_is_plural() {
        assert_eq!(count(0, "seed"), "0 seeds");
        assert_eq!(count(1, "seed"), "1 seed");
        assert_eq!(count(2, "seed"), "2 seeds");
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_000), "1,000");
        assert_eq!(thousands(49_995_000), "49,995,000");
        assert_eq!(decimal(1234.5, 1), "1,234.5");
        assert_eq!(decimal(-0.04, 1), "0.0");
        assert_eq!(decimal(f64::NAN, 1), "-");
    }

    #[test]
    fn durations_come_in_the_unit_that_suits_them() {
        let texts = [0, 870, 1_250, 12_300, 870_000, 999_600, 20_000_000].map(duration);
        assert_eq!(
            texts,
            [
                "0 s", "870 us", "1.25 ms", "12.3 ms", "870 ms", "1.00 s", "20.0 s"
            ]
        );
        assert_eq!(milliseconds(Duration::from_millis(8_012)), "8,012 ms");
        assert_eq!(milliseconds(Duration::from_micros(250)), "0.250 ms");
    }

    #[test]
    fn a_name_is_replaced_only_where_it_is_a_whole_word() {
        let letters = [("contender-1".to_owned(), "A".to_owned())];
        assert_eq!(
            rename("contender-1's hold, contender-10, (contender-1)", &letters),
            "A's hold, contender-10, (A)"
        );
        assert!(mentions("pause contender-1 for 20s", "contender-1"));
        assert!(!mentions("pause contender-10 for 20s", "contender-1"));
    }

    #[test]
    fn lines_break_at_spaces_and_never_inside_a_word() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("incomprehensible", 4), ["incomprehensible"]);
    }
}
