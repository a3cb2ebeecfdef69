//! What a hunt says above its stories: what broke, and which way of searching found it.

use std::fmt::Write as _;

use crate::reports::words::count;
use crate::scenarios::runner::wanted;
use crate::scenarios::search::findings::Finding;
use crate::scenarios::search::hunt::Hunted;
use crate::scenarios::{Case, Want};

/// What broke, by what, and how often.
pub(super) fn head(case: &Case, hunted: &Hunted, findings: &[Finding<'_>]) -> String {
    let mut text = String::new();
    let runs = count(hunted.runs, "run");
    if hunted.found.is_empty() && hunted.broken.is_none() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}: {runs}, and every promise was kept.", case.name);
    }
    let promises = case.expectations.iter().map(|row| row.invariant);
    let promises = promises.filter(|name| wanted(case, name).is_some());
    let never = promises.filter(|name| !hunted.looked_at.contains(name));
    for invariant in never {
        let _ = writeln!(
            text,
            "  {}: {invariant} was not looked at: no lock keeps it under faults like those",
            case.name
        );
    }
    if let Some(broken) = &hunted.broken {
        let (after, runs) = (count(broken.after, "run"), count(broken.runs, "run"));
        let _ = writeln!(
            text,
            "  {}: a run broke off after {after}, and {runs} of all ({})",
            case.name, broken.way
        );
    }
    for finding in findings {
        let [broken, cause] = describe_finding(case, finding);
        let _ = writeln!(text, "  {}: {broken}\n    {cause}", case.name);
    }
    for (invariant, runs) in &hunted.others {
        let runs = count(*runs, "more run");
        let _ = writeln!(
            text,
            "  {}: {runs} broke {invariant} in other ways; --findings keeps more of them",
            case.name
        );
    }
    text.push('\n');
    for share in &hunted.shares {
        let (way, runs) = (share.way.to_string(), count(share.runs, "run"));
        let found = share_found(&share.found);
        let _ = writeln!(text, "  {way:<20}{runs:>12}, found {found}");
    }
    text.push('\n');
    text
}

/// What broke and after how many runs, and by what.
pub(super) fn describe_finding(case: &Case, finding: &Finding<'_>) -> [String; 2] {
    let found = finding.found;
    let (invariant, after) = (found.invariant, count(found.after, "run"));
    let expected = match wanted(case, invariant) {
        Some(Want::Violated { .. }) => ", as expected",
        Some(
            Want::Holds | Want::Excused { .. } | Want::Undecided { .. } | Want::Unchecked { .. },
        )
        | None => "",
    };
    let more = match finding.more {
        0 => "no other run broke it alike".to_owned(),
        more => format!("{} broke it alike", count(more, "more run")),
    };
    [
        format!("{invariant} broken after {after}{expected} ({})", found.way),
        format!("by {}; {more}", finding.cause),
    ]
}

/// What a way has found: `progress, mutual-exclusion (2 findings)`.
fn share_found(found: &[&'static str]) -> String {
    let mut promises: Vec<(&str, u64)> = Vec::new();
    for name in found {
        match promises.iter_mut().find(|(known, _)| known == name) {
            Some((_, findings)) => *findings += 1,
            None => promises.push((name, 1)),
        }
    }
    let told = promises.iter().map(|(name, findings)| match findings {
        1 => (*name).to_owned(),
        more => format!("{name} ({more} findings)"),
    });
    match told.collect::<Vec<_>>().join(", ") {
        nothing if nothing.is_empty() => "nothing".to_owned(),
        told => told,
    }
}
