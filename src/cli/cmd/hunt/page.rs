//! `picklock hunt --html`: a page with a section for each run that was found.

use crate::checker::outcome::{Standing, Story};
use crate::cli::cmd::page::Shown;
use crate::scenarios::runner::wanted;
use crate::scenarios::search::findings::Finding;
use crate::scenarios::search::hunt::BrokenRun;
use crate::scenarios::{Case, Want, program};

use super::head::describe_finding;

/// A finding, as the page shows it.
pub(super) fn of_finding(case: &Case, finding: &Finding<'_>, story: Story) -> Shown {
    let want = wanted(case, finding.shrunk.invariant);
    let standing = match matches!(want, Some(Want::Violated { .. })) {
        true => Standing::AsExpected,
        false => Standing::Fail,
    };
    let mut remarks = describe_finding(case, finding).to_vec();
    if story.why.is_none() {
        remarks.push(format!(
            "with the plan below as FILE, {} why FILE --html why.html says which faults it needs and when it became \
             inevitable",
            program::command()
        ));
    }
    Shown {
        case: finding.found.case.clone(),
        standing,
        remarks,
        story,
    }
}

/// A run that broke off, as the page shows it.
pub(super) fn of_broken(broken: &BrokenRun, story: Story) -> Shown {
    Shown {
        case: broken.case.clone(),
        standing: Standing::Broken,
        remarks: Vec::new(),
        story,
    }
}

/// What the hunt says above its stories, a paragraph for each line; what is indented goes on with the line before.
pub(super) fn lead(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let columns = line.split("  ").map(str::trim);
        let columns: Vec<&str> = columns.filter(|column| !column.is_empty()).collect();
        match lines.last_mut() {
            Some(last) if line.starts_with("    ") => {
                *last = format!("{last}, {}", columns.join(": "))
            }
            Some(_) | None => lines.push(columns.join(": ")),
        }
    }
    lines
}
