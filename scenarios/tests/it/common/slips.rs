//! Slips in a scenario that is right without them, and what is said of each.

use picklock_scenarios::{Catalogue, Diagnostic, parse};

/// What a slip is called, what is right, and what stands there instead.
pub type Slip = (&'static str, &'static str, &'static str);

/// What is said of a text: nothing, if it is right.
pub fn said(text: &str) -> String {
    let found = parse("test", text, &Catalogue::EVERYTHING)
        .err()
        .unwrap_or_default();
    let said: Vec<String> = found.iter().map(Diagnostic::to_string).collect();
    said.join("\n\n")
}

/// What is said of each slip: none goes without a word.
pub fn refused<'a>(
    good: &'a str,
    slips: &'a [Slip],
) -> impl Iterator<Item = (&'static str, String)> + 'a {
    slips.iter().map(|(name, right, wrong)| {
        assert!(good.contains(right), "{name}");
        let said = said(&good.replacen(right, wrong, 1));
        assert!(!said.is_empty(), "{name}");
        (*name, said)
    })
}
