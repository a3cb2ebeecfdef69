//! What the guide says of each invariant.

use crate::cli::markdown;

macro_rules! pages {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../../docs/guide/invariants/", $name, ".md")))),*]
    };
}

const PAGES: &[(&str, &str)] = pages! {
    "mutual-exclusion"
    "exclusive-ownership"
    "no-stale-effect"
    "no-lost-update"
    "fencing-monotonic"
    "progress"
    "no-orphan"
    "own-release-only"
    "reentrancy"
    "fifo"
    "bounded-bypass"
    "no-starvation"
    "honest-answer"
    "timely-loss"
    "barrier"
    "all-or-none"
    "permits-conserved"
};

/// The parts of a page that are no picture.
const SECTIONS: [&str; 6] = [
    "## What it asks",
    "## When it is looked at",
    "## What breaks it",
    "## When it is excused",
    "## When it is undecided",
    "## What helps",
];

/// What the guide says of an invariant, but for the picture: a page of Markdown.
pub(super) fn page(name: &str) -> Option<String> {
    let (_, page) = PAGES.iter().find(|(known, _)| *known == name)?;
    let headings = SECTIONS.iter();
    let sections = headings.filter_map(|heading| markdown::section(page, heading));
    Some(sections.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::INVARIANTS;

    #[test]
    fn the_page_of_every_invariant_says_what_it_asks_and_what_breaks_it() {
        for invariant in INVARIANTS {
            let page = page(invariant.name).unwrap_or_default();
            for section in ["## What it asks", "## What breaks it", "## What helps"] {
                assert!(page.contains(section), "{}: {section}", invariant.name);
            }
        }
    }
}
