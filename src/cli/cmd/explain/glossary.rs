//! The words of the reports, as docs/glossary.md has them.

const GLOSSARY: &str = include_str!("../../../../docs/glossary.md");

/// A row of the glossary.
pub(super) struct GlossaryRow {
    /// The word, and others for the same.
    pub(super) words: Vec<&'static str>,
    /// What it means.
    pub(super) meaning: &'static str,
    /// The scenario that shows it, if there is one.
    pub(super) seen_in: Option<&'static str>,
}

/// Every row, in the order of the page.
pub(super) fn rows() -> impl Iterator<Item = GlossaryRow> {
    let lines = GLOSSARY.lines();
    let table = lines.filter_map(|line| line.strip_prefix("| ")?.strip_suffix('|'));
    table.skip(2).map(|line| {
        let mut cells = line.split(" | ").map(str::trim);
        let mut cell = || cells.next().unwrap_or_default();
        GlossaryRow {
            words: cell().split(", ").collect(),
            meaning: cell(),
            seen_in: Some(cell().trim_matches('`')).filter(|name| !name.is_empty()),
        }
    })
}
