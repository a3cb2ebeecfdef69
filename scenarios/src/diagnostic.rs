//! Mistakes in scenario files, each with the place where it was made.

use std::error::Error;
use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// A mistake: what is wrong, where, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, in one line.
    pub message: String,
    /// The file or folder, as it was given.
    pub path: String,
    /// Where in the file; `None` if the file could not be read at all.
    pub place: Option<SourceLocation>,
    /// A few words that stand beside the caret; may be empty.
    pub label: String,
    /// What would be right, one line each.
    pub help: Vec<String>,
    /// It stands for so many mistakes of the file that are not shown; zero if it is one itself.
    pub others: usize,
}

/// A stretch of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The line's number, from one.
    pub line: usize,
    /// The first character of the stretch, from one.
    pub column: usize,
    /// The whole line.
    pub text: String,
    /// The stretch, in bytes of the line.
    pub stretch: Range<usize>,
}

impl SourceLocation {
    /// Finds the line of a stretch of a text. What reaches beyond the first line is cut off; what
    /// reaches beyond the text is moved into it.
    pub fn in_text(text: &str, stretch: Range<usize>) -> Self {
        let start = on_boundary(text, stretch.start);
        let end = on_boundary(text, stretch.end.max(start));
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let line = text[line_start..line_end].trim_end_matches('\r');
        let from = (start - line_start).min(line.len());
        let to = (end.min(line_end) - line_start).clamp(from, line.len());
        Self {
            line: text[..line_start].matches('\n').count() + 1,
            column: line[..from].chars().count() + 1,
            text: line.to_owned(),
            stretch: from..to,
        }
    }
}

/// The last character boundary that is not after `at`.
fn on_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl Diagnostic {
    /// A mistake that concerns a file or folder as a whole.
    pub fn of_file(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            path: path.into(),
            place: None,
            label: String::new(),
            help: Vec::new(),
            others: 0,
        }
    }

    /// So many mistakes of a file that are not shown.
    pub fn others(path: impl Into<String>, others: usize) -> Self {
        let message = match others {
            1 => "another mistake is not shown".to_owned(),
            _ => format!("{others} other mistakes are not shown"),
        };
        Self {
            others,
            ..Self::of_file(path, message)
        }
    }

    /// How many mistakes it stands for.
    pub fn number(&self) -> usize {
        self.others.max(1)
    }

    /// The same with one more line of help.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Several lines for a terminal, without a line break at the end; in colours if `color`.
    pub fn render(&self, color: bool) -> String {
        let renderer = if color {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let path = printable(&self.path);
        let title = Level::ERROR.primary_title(self.message.as_str());
        let mut group = match &self.place {
            Some(place) => {
                let mark = AnnotationKind::Primary.span(place.stretch.clone());
                let label = (!self.label.is_empty()).then_some(self.label.as_str());
                title.element(
                    Snippet::source(place.text.as_str())
                        .line_start(place.line)
                        .path(path.as_str())
                        .annotation(mark.label(label)),
                )
            }
            None => title.element(annotate_snippets::Origin::path(path.as_str())),
        };
        for help in &self.help {
            group = group.element(Level::HELP.message(wrapped(help)));
        }
        renderer.render(&[group])
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl Error for Diagnostic {}

/// The same in lines of bearable length; only white space is broken at.
fn wrapped(text: &str) -> String {
    const LONGEST: usize = 84;
    let mut lines = String::new();
    let mut length = 0;
    for word in text.split(' ') {
        let word_length = word.chars().count();
        if length > 0 && length + 1 + word_length > LONGEST {
            lines.push('\n');
            length = 0;
        } else if length > 0 {
            lines.push(' ');
            length += 1;
        }
        lines.push_str(word);
        length += word_length;
    }
    lines
}

/// A name as it may be shown: no control characters, and not too long.
pub(crate) fn printable(name: &str) -> String {
    const LONGEST: usize = 200;
    let mut shown: String = name
        .chars()
        .take(LONGEST)
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    if name.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_line_and_a_column_from_one() {
        let place = SourceLocation::in_text("a = 1\nb = ä2\r\nc", 11..15);
        assert_eq!((place.line, place.column), (2, 5));
        assert_eq!(place.text, "b = ä2");
        assert_eq!(place.stretch, 4..7);
    }

    #[test]
    fn a_place_beyond_the_text_is_moved_into_it() {
        for text in ["", "\n", "a\n\nb", "ä"] {
            for start in 0..6 {
                for end in 0..9 {
                    let place = SourceLocation::in_text(text, start..end);
                    assert!(place.stretch.end <= place.text.len());
                }
            }
        }
    }
}
