//! Text for a terminal in lines that it has not to break.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar;

/// What a shell takes for nothing at the end of a line.
const GOES_ON: &str = " \\";
/// What comes before a colour, and what ends it.
const ESCAPE: char = '\u{1b}';

/// How many columns a line takes on a terminal; colours take none.
pub fn columns_of(line: &str) -> usize {
    let mut is_escape = false;
    let columns = line.chars().map(|letter| match (is_escape, letter) {
        (false, ESCAPE) => {
            is_escape = true;
            0
        }
        (false, letter) => letter.width().unwrap_or(0),
        (true, letter) => {
            is_escape = letter != 'm';
            0
        }
    });
    columns.sum()
}

/// The text in lines of at most so many columns; none leaves it as it is. A line that is too wide goes on below, a
/// little to the right, and a line that is a command of `program` so that a shell takes it for one.
pub fn fitted(text: &str, width: Option<usize>, program: &str) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let mut fitted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line
            .strip_suffix('\n')
            .map_or((line, ""), |line| (line, "\n"));
        match columns_of(line) <= width {
            true => fitted.push_str(line),
            false => fitted.push_str(&broken(line, width, program)),
        }
        fitted.push_str(end);
    }
    fitted
}

/// A line in several.
fn broken(line: &str, width: usize, program: &str) -> String {
    let body = line.trim_start_matches(' ');
    let indent = line.len() - body.len();
    let below = (indent + 2).min(width / 2);
    let after = body.strip_prefix(program);
    let ends = match after.is_some_and(|rest| rest.starts_with(' ')) && !program.is_empty() {
        true => GOES_ON,
        false => "",
    };
    let mut lines = vec![" ".repeat(indent.min(width / 2))];
    let mut has_words = false;
    let mut words = words(body);
    if !ends.is_empty() {
        words = with_values(body, &words);
    }
    for word in words {
        let gap = if has_words { " " } else { "" };
        let used = lines.last().map_or(0, |line| columns_of(line));
        let needed = gap.len() + columns_of(word) + ends.len();
        if has_words && used + needed > width {
            if let Some(line) = lines.last_mut() {
                line.push_str(ends);
            }
            lines.push(" ".repeat(below));
            has_words = false;
        }
        if let Some(line) = lines.last_mut() {
            let _ = write!(line, "{}{word}", if has_words { " " } else { "" });
        }
        has_words = true;
        // A name that is longer than a line; a command cannot be copied in such pieces.
        while ends.is_empty() && lines.last().is_some_and(|line| columns_of(line) > width) {
            let Some(whole) = lines.pop() else { break };
            let at = place_of_column(&whole, width);
            let (first, rest) = whole.split_at(at);
            lines.push(first.to_owned());
            lines.push(format!("{:below$}{rest}", ""));
        }
    }
    lines.join("\n")
}

/// The words of a line; several spaces within it stay.
fn words(line: &str) -> Vec<&str> {
    let (mut words, mut from, mut quoted) = (Vec::new(), 0, false);
    for (at, letter) in line.char_indices() {
        match letter {
            '\'' if quoted || line[..at].ends_with(' ') => {
                quoted = !quoted && line[at + 1..].contains('\'')
            }
            ' ' if !quoted => {
                words.push(&line[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    words.push(&line[from..]);
    words
}

/// The words of a command, an option with its value.
fn with_values<'t>(line: &'t str, words: &[&'t str]) -> Vec<&'t str> {
    let (mut joined, mut from, mut at) = (Vec::new(), 0, 0);
    for (index, word) in words.iter().enumerate() {
        at += word.len();
        let next = words.get(index + 1);
        let has_value = word.starts_with("--") && next.is_some_and(|value| !value.starts_with('-'));
        if !has_value {
            joined.push(&line[from..at]);
            from = at + 1;
        }
        at += 1;
    }
    joined
}

/// Where the text passes this column.
fn place_of_column(text: &str, column: usize) -> usize {
    let places = text.char_indices().map(|(at, _)| at).skip(1);
    let fits = places.take_while(|at| columns_of(&text[..*at]) <= column);
    fits.last().unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(width: usize, text: &str) -> String {
        fitted(text, Some(width), "picklock")
    }

    #[test]
    fn a_wide_line_goes_on_below_and_a_narrow_one_stays() {
        assert_eq!(
            at(12, "one\n  two three four\n"),
            "one\n  two three\n    four\n"
        );
        assert_eq!(fitted("one two three", None, "picklock"), "one two three");
        assert_eq!(at(9, "a  b\n"), "a  b\n");
    }

    #[test]
    fn a_command_goes_on_so_that_a_shell_joins_its_lines() {
        let told = at(30, "  picklock replay 'a b' --case zk-no-recheck");
        assert_eq!(told, "  picklock replay 'a b' \\\n    --case zk-no-recheck");
    }

    #[test]
    fn a_name_that_is_longer_than_a_line_is_cut() {
        assert_eq!(at(8, "/locks/a-long-one"), "/locks/a\n  -long-\n  one");
    }

    #[test]
    fn wide_letters_take_two_columns_and_colours_none() {
        assert_eq!(columns_of("鎖"), 2);
        assert_eq!(columns_of("\u{1b}[31mFAIL\u{1b}[0m"), 4);
        for width in 8..30 {
            let told = at(
                width,
                "the 鎖鎖鎖鎖 of \u{1b}[31mthe\u{1b}[0m other contender-1's",
            );
            assert!(told.lines().all(|line| columns_of(line) <= width), "{told}");
        }
    }
}
