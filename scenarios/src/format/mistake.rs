//! Mistakes, collected on the way and handed over in the order of the file: the first of them, and how many more there
//! are. What only a reader needs (the line, the nearest name) is worked out for those that are shown.

use std::ops::Range;

use crate::diagnostic::{Diagnostic, SourceLocation, printable};
use crate::listed::listed;
use crate::nearest::{nearest, what_there_is};

/// The mistakes found so far in a file.
pub(crate) struct Mistakes<'t> {
    path: &'t str,
    text: &'t str,
    found: Vec<(Range<usize>, Mistake)>,
}

/// How many mistakes of a file are shown.
pub(super) const SHOWN: usize = 20;

/// What is wrong at a place that the caller knows.
#[derive(PartialEq)]
pub(super) struct Mistake {
    message: String,
    label: String,
    help: Vec<String>,
    /// A name that is not known, and those that are: the nearest of them is sought if the mistake is shown.
    unknown: Option<Unknown>,
}

/// A name that is not known.
#[derive(PartialEq)]
struct Unknown {
    /// What it was to be the name of.
    what: String,
    name: String,
    known: Vec<String>,
}

/// Fewer names than these are shown whole.
const SHOWN_WHOLE: usize = 9;

impl Mistake {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            label: String::new(),
            help: Vec::new(),
            unknown: None,
        }
    }

    /// `unknown fault `pauze``, with the nearest name and all that there are.
    pub(super) fn unknown(what: &str, name: &str, known: &[&str]) -> Self {
        let known = known.iter().map(|&name| name.to_owned()).collect();
        Self {
            unknown: Some(Unknown {
                what: what.to_owned(),
                name: name.to_owned(),
                known,
            }),
            ..Self::new(format!("unknown {what} `{}`", printable(name)))
        }
    }

    /// What is shown of it.
    fn shown(self, path: &str, place: SourceLocation) -> Diagnostic {
        let Self {
            message,
            mut label,
            mut help,
            unknown,
        } = self;
        if let Some(Unknown { what, name, known }) = unknown {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            if let Some(near) = nearest(&name, known.iter().copied()) {
                label = format!("did you mean `{near}`?");
            }
            let there = match known.len() {
                0..SHOWN_WHOLE => vec![expected(&known)],
                _ => what_there_is(&what, &name, &known, "picklock"),
            };
            help.splice(0..0, there);
        }
        Diagnostic {
            message,
            path: path.to_owned(),
            place: Some(place),
            label,
            help,
            others: 0,
        }
    }

    pub(super) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// `expected `a`, `b`, or `c``.
pub(super) fn expected(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.len() {
        0 => "nothing is expected here".to_owned(),
        1 | 2 => format!("expected {}", listed(&quoted)),
        _ => format!("expected one of {}", listed(&quoted)),
    }
}

impl<'t> Mistakes<'t> {
    pub(super) fn new(path: &'t str, text: &'t str) -> Self {
        Self {
            path,
            text,
            found: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, span: Range<usize>, mistake: Mistake) {
        self.found.push((span, mistake));
    }

    /// No mistakes in the same file.
    pub(super) fn none(&self) -> Self {
        Self::new(self.path, self.text)
    }

    /// Takes over others. Those that stand at none of `places`, and are not known, are told at `place`.
    pub(super) fn take_over(
        &mut self,
        others: Self,
        places: &[Range<usize>],
        place: &Range<usize>,
    ) {
        for (span, mistake) in others.found {
            let holds = |outer: &Range<usize>| outer.start <= span.start && span.end <= outer.end;
            let mut known = self.found.iter();
            let is_known = known.any(|known| known.0 == span && known.1 == mistake);
            match is_known || places.iter().any(holds) {
                true => self.add(span, mistake),
                false => self.add(place.clone(), mistake),
            }
        }
    }

    /// The lines of places in the text, from one. It is read once for all of them.
    pub(super) fn lines(&self, places: impl Iterator<Item = usize>) -> Vec<usize> {
        let ends: Vec<usize> = self.text.match_indices('\n').map(|(at, _)| at).collect();
        let line = |at| ends.partition_point(|end| *end < at) + 1;
        places.map(line).collect()
    }

    /// Whether nothing is wrong so far.
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The first mistakes in the order of the file, and behind them how many others there are.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|(at, _)| at.start);
        self.found.dedup();
        let others = self.found.len().saturating_sub(SHOWN);
        self.found.truncate(SHOWN);
        let mut shown: Vec<Diagnostic> = Vec::with_capacity(self.found.len() + 1);
        for (span, mistake) in self.found {
            let place = SourceLocation::in_text(self.text, span);
            shown.push(mistake.shown(self.path, place));
        }
        if others > 0 {
            shown.push(Diagnostic::others(self.path, others));
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_mistakes_the_first_of_the_file_are_shown_and_the_others_counted() {
        let text = "a = 1\n".repeat(1_000);
        let mut mistakes = Mistakes::new("a.toml", &text);
        for line in (0..1_000_usize).rev() {
            let at = line * 6;
            mistakes.add(at..at + 1, Mistake::unknown("key", "a", &["b"]));
        }
        let found = mistakes.finish();
        let lines: Vec<usize> = found
            .iter()
            .flat_map(|shown| &shown.place)
            .map(|place| place.line)
            .collect();
        assert_eq!(lines, (1..=SHOWN).collect::<Vec<usize>>());
        assert_eq!(found.iter().map(Diagnostic::number).sum::<usize>(), 1_000);
        assert_eq!(found.last().map(|last| last.others), Some(1_000 - SHOWN));
    }

    #[test]
    fn the_lines_of_many_places_are_those_of_each() {
        let text = "a = 1\r\n\nä = 2\n";
        let lines = Mistakes::new("a.toml", text).lines(0..=text.len());
        let each = (0..=text.len()).map(|at| SourceLocation::in_text(text, at..at).line);
        assert_eq!(lines, each.collect::<Vec<usize>>());
    }

    #[test]
    fn a_mistake_is_told_once() {
        let mut mistakes = Mistakes::new("a.toml", "a = 1");
        mistakes.add(0..1, Mistake::new("no"));
        mistakes.add(0..1, Mistake::new("no"));
        assert_eq!(mistakes.finish().len(), 1);
    }
}
