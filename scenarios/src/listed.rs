//! Several in a sentence.

/// `1, 3, or 5`.
pub(crate) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [one, other] => format!("{one} or {other}"),
        [all @ .., last] => format!("{}, or {last}", all.join(", ")),
    }
}
