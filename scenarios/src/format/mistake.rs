//! Mistakes, collected on the way and handed over in the order of the file.

use std::ops::Range;

use crate::diagnostic::{Diagnostic, Place, printable};
use crate::nearest::nearest;

/// The mistakes found so far in a file.
pub(super) struct Mistakes<'t> {
    path: &'t str,
    text: &'t str,
    found: Vec<(usize, Diagnostic)>,
}

/// What is wrong at a place that the caller knows.
pub(super) struct Mistake {
    message: String,
    label: String,
    help: Vec<String>,
}

impl Mistake {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            label: String::new(),
            help: Vec::new(),
        }
    }

    /// `unknown fault `pauze``, with the nearest name and all that there are.
    pub(super) fn unknown(what: &str, name: &str, known: &[&str]) -> Self {
        let mistake = Self::new(format!("unknown {what} `{}`", printable(name)));
        let mistake = match nearest(name, known.iter().copied()) {
            Some(near) => mistake.label(format!("did you mean `{near}`?")),
            None => mistake,
        };
        mistake.help(expected(known))
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
    match quoted.as_slice() {
        [] => "nothing is expected here".to_owned(),
        [one] => format!("expected {one}"),
        [one, other] => format!("expected {one} or {other}"),
        [all @ .., last] => format!("expected one of {}, or {last}", all.join(", ")),
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
        let diagnostic = Diagnostic {
            message: mistake.message,
            path: self.path.to_owned(),
            place: Some(Place::in_text(self.text, span.clone())),
            label: mistake.label,
            help: mistake.help,
        };
        self.found.push((span.start, diagnostic));
    }

    /// Whether nothing is wrong so far.
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All mistakes in the order of the file.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|(at, _)| *at);
        let mut all: Vec<Diagnostic> = self.found.into_iter().map(|(_, found)| found).collect();
        all.dedup();
        all
    }
}
