//! What a scenario that ran looks like in a terminal: a line or a block.

use std::cmp::Reverse;

use picklock_checker::DISTANCES;
use picklock_checker::outcome::{CaseOutcome, Finding, ScenarioOutcome, Standing, Violation};

use crate::commands::command_after;
use crate::fit::columns_of;
use crate::story::story_with;
use crate::style::Style;
use crate::summary::{RIGHT, with_right};
use crate::timeline::Detail;
use crate::triage::Share;
pub use crate::words::verdict;
use crate::words::{count, duration, hanging, harmless, took};

/// The width of the column of verdicts.
const VERDICT: usize = 12;
/// The least width of the column of names.
const NAME: usize = 24;
/// What the result of a scenario in a line takes, with the time.
const RESULT: usize = 32;

/// The block of one scenario: its name, its claim, a line per case with its findings below it, and
/// the story of what failed. Where not every seed decides a promise, it says how many do.
pub fn scenario(outcome: &ScenarioOutcome, style: &Style) -> String {
    block(outcome, |case| decided_seeds(case, false, style), style)
}

/// The same, and below each case how many of its seeds decide each promise, and how near its runs came to an overlap.
pub fn scenario_in_detail(outcome: &ScenarioOutcome, style: &Style) -> String {
    let more = |case: &CaseOutcome| decided_seeds(case, true, style) + &nearest_misses(case);
    block(outcome, more, style)
}

/// A scenario in one line, its name in a column of this width: for one of many in which nothing is wrong.
pub fn scenario_in_a_line(outcome: &ScenarioOutcome, names: usize, style: &Style) -> String {
    let cases = &outcome.cases;
    let is_skipped = |case: &&CaseOutcome| case.standing == Standing::Skipped;
    let skipped = cases.iter().filter(is_skipped);
    let needs = skipped.clone().flat_map(|case| &case.findings);
    let needs = needs.filter(|finding| finding.standing == Standing::Skipped);
    let needs: Vec<_> = needs.map(|finding| harmless(&finding.line)).collect();
    let skipped = skipped.count();
    let expected = count((cases.len() - skipped) as u64, "case") + " as expected";
    // It stands at the head of the file.
    let expected = expected + &cases.first().map(at_most).unwrap_or_default();
    let said = match (skipped, needs.first()) {
        (0, _) => expected,
        (skipped, need) => {
            let need = need.map(|need| format!(": {need}")).unwrap_or_default();
            format!("{expected}, {skipped} skipped{need}")
        }
    };
    let name = harmless(&outcome.name);
    // One long name takes no room from all others.
    let names = names.min(style.columns().saturating_sub(RESULT));
    let spent = cases.iter().map(|case| case.took).sum();
    let name = format!("{name:<names$}  ");
    let first = hanging(&name, &said, style.columns());
    match first.split_once('\n') {
        None => with_right(&first, &took(spent), style) + "\n",
        Some((first, rest)) => format!("{first}\n{rest}\n"),
    }
}

/// The block of a scenario, with something more below each case.
fn block(
    outcome: &ScenarioOutcome,
    more: impl Fn(&CaseOutcome) -> String,
    style: &Style,
) -> String {
    let claim = hanging("  ", &harmless(&outcome.claim), style.columns());
    let mut text = format!("{}\n{claim}\n\n", harmless(&outcome.name));
    let widest = outcome.cases.iter().map(|case| label(case).chars().count());
    // A narrow terminal has no room for more than the names need.
    let least = if style.columns() < RIGHT { 0 } else { NAME };
    let width = widest.max().unwrap_or(0).max(least);
    for case in &outcome.cases {
        text.push_str(&verdict_line(case, width, style));
        text.push_str(&findings(case, style));
        text.push_str(&more(case));
    }
    let failed = || {
        outcome
            .cases
            .iter()
            .filter(|case| matches!(case.standing, Standing::Fail | Standing::Broken))
    };
    let several = failed().count() > 1;
    for case in failed() {
        text.push('\n');
        if several {
            text.push_str(&format!("  {}:\n", label(case)));
        }
        text.push_str(&failure(case, style));
    }
    text
}

/// The case by the name that commands take, and the algorithm if that does not tell it.
fn label(case: &CaseOutcome) -> String {
    if case.case.starts_with(&case.algorithm) {
        harmless(&case.case)
    } else {
        harmless(&format!("{} ({})", case.case, case.algorithm))
    }
}

fn verdict_line(case: &CaseOutcome, width: usize, style: &Style) -> String {
    let word = format!("{:>VERDICT$}", verdict(case.standing));
    let colored = style.standing(case.standing, &word);
    let unexpected = case.violations.iter().find(|violation| !violation.expected);
    let detail = match (unexpected, &case.broken) {
        (_, Some(broken)) => format!(
            "seed {}, {} of {} broken",
            broken.seed,
            broken.seeds,
            count(case.seeds, "seed")
        ),
        (Some(violation), None) if case.standing == Standing::Fail => format!(
            "seed {}, found after {}",
            violation.seed,
            count(violation.found_after, "seed")
        ),
        (Some(_) | None, None) => {
            let seeds = count(case.seeds, "seed");
            let most = at_most(case);
            format!("{seeds}{most}, {} undecided", undecided(case))
        }
    };
    let line = format!("{word}  {:<width$}  {detail}", label(case));
    let mut line = with_right(&line, &took(case.took), style);
    if columns_of(&line) > style.columns() {
        let below = format!("{:VERDICT$}    {detail}", "");
        let below = with_right(&below, &took(case.took), style);
        line = format!("{word}  {}\n{below}", label(case));
    }
    format!("{colored}{}\n", &line[word.len()..])
}

/// How many seeds the file takes at most, if more were asked for.
fn at_most(case: &CaseOutcome) -> String {
    let most = case.seeds_at_most;
    most.map(|most| format!(" (seeds-at-most {most})"))
        .unwrap_or_default()
}

/// How many seeds could not tell; a seed may have several reasons.
fn undecided(case: &CaseOutcome) -> u64 {
    let reasons: u64 = case.undecided.values().sum();
    reasons.min(case.seeds)
}

/// One line per finding that is more than "holds", and per reason why a case is undecided.
fn findings(case: &CaseOutcome, style: &Style) -> String {
    let told = |finding: &&Finding| {
        finding.standing != Standing::Holds || case.metrics.contains_key(&finding.name)
    };
    let shown: Vec<&Finding> = case.findings.iter().filter(told).collect();
    let mixed = case
        .findings
        .iter()
        .any(|finding| finding.standing != case.standing);
    let mut text = String::new();
    for finding in &shown {
        // What several promises need alike is said once, with all their names.
        let need = need(finding);
        let alike = shown.iter().filter(|other| self::need(other) == need);
        let names: Vec<&str> = alike.map(|other| &*other.name).collect();
        if need.is_some() && names[0] != finding.name {
            continue;
        }
        let all = need.map(|need| names.join(", ") + need);
        let said = all.unwrap_or_else(|| finding.line.clone());
        // Where all findings stand alike, the verdict has said how.
        let word = if mixed {
            verdict(finding.standing).to_lowercase()
        } else {
            String::new()
        };
        let first = format!("{word:>VERDICT$}    ");
        let line = hanging(&first, &harmless(&said), style.columns());
        let line = match line.split_at_checked(VERDICT) {
            Some((word, rest)) if mixed => {
                format!("{}{rest}", style.standing(finding.standing, word))
            }
            Some(_) | None => line,
        };
        text.push_str(&line);
        text.push('\n');
    }
    if case.standing == Standing::Undecided {
        for (reason, seeds) in &case.undecided {
            if shown
                .iter()
                .any(|finding| finding.line.contains(reason.as_str()))
            {
                continue;
            }
            let all = count(case.seeds, "seed");
            let reason = format!("{} ({seeds} of {all})", harmless(reason));
            let first = format!("{:VERDICT$}    ", "");
            text.push_str(&hanging(&first, &reason, style.columns()));
            text.push('\n');
        }
    }
    if let (Standing::AsExpected, Some(story)) = (case.standing, &case.story) {
        let first = format!("{:VERDICT$}    see it: ", "");
        text.push_str(&command_after(&first, &story.replay, style));
    }
    text
}

/// What a skipped promise or moment needs: the line without its name.
fn need(finding: &Finding) -> Option<&str> {
    let line = (finding.standing == Standing::Skipped).then_some(&finding.line)?;
    line.strip_prefix(&finding.name)
}

/// How many of the seeds decide each promise; or only each promise that some seeds leave undecided.
fn decided_seeds(case: &CaseOutcome, each: bool, style: &Style) -> String {
    let promises = case.findings.iter().filter_map(|finding| {
        // The line of a finding that is skipped or undecided has said why.
        let is_said = matches!(finding.standing, Standing::Skipped | Standing::Undecided);
        let seeds = finding.can_tell?;
        (each || (seeds < case.seeds && !is_said)).then_some((seeds, &*finding.name))
    });
    let mut promises: Vec<(u64, &str)> = promises.collect();
    promises.sort_by_key(|(seeds, _)| Reverse(*seeds));
    let mut all = format!(" of {}", count(case.seeds, "seed"));
    let groups = promises.chunk_by(|one, next| one.0 == next.0).map(|group| {
        let names: Vec<&str> = group.iter().map(|(_, name)| *name).collect();
        let (seeds, all) = (group[0].0, std::mem::take(&mut all));
        format!("in {seeds}{all}: {}", names.join(", "))
    });
    let groups = groups.collect::<Vec<_>>().join("; ");
    let first = format!("{:VERDICT$}    decided ", "");
    match groups.is_empty() {
        true => groups,
        false => hanging(&first, &groups, style.columns()) + "\n",
    }
}

/// How near a case came to an overlap: a line for each distance that there is, and the run that came so near.
fn nearest_misses(case: &CaseOutcome) -> String {
    let there = DISTANCES
        .iter()
        .filter_map(|distance| Some((distance.name, case.nearest.get(distance.name)?)));
    let lines = there.map(|(name, nearest)| {
        let (away, seed) = (duration(nearest.micros), nearest.seed);
        format!("{:VERDICT$}    nearest {name}: {away}, seed {seed}\n", "")
    });
    lines.collect()
}

/// Why a case failed, with a command at the end.
pub(crate) fn failure(case: &CaseOutcome, style: &Style) -> String {
    let unexpected: Vec<_> = case
        .violations
        .iter()
        .filter(|violation| !violation.expected)
        .collect();
    if let (Some(_), Some(story)) = (&case.broken, &case.story) {
        let remarks: Vec<_> = unexpected
            .iter()
            .map(|violation| other_violation(case, violation))
            .collect();
        return story_with(story, &remarks, Detail::Essential, style);
    }
    let told = case.story.as_deref().filter(|story| {
        let about = story.violated.as_ref().map(|(invariant, _)| invariant);
        unexpected.is_empty()
            || unexpected
                .iter()
                .any(|violation| Some(&violation.invariant) == about)
    });
    match told {
        Some(story) if !unexpected.is_empty() => {
            let about = story.violated.as_ref().map(|(invariant, _)| invariant);
            let elsewhere = unexpected.iter().filter(|violation| {
                Some(&violation.invariant) != about && !(story.also.contains(&violation.invariant))
            });
            let mut remarks: Vec<_> = elsewhere
                .map(|violation| self::other_violation(case, violation))
                .collect();
            let about = unexpected
                .iter()
                .find(|violation| Some(&violation.invariant) == about);
            if let Some(violation) = about {
                remarks.extend(describe_mechanisms(violation));
            }
            story_with(story, &remarks, Detail::Essential, style)
        }
        Some(_) | None => {
            let seeds = match case.ran[..] {
                [ran] if ran.from > 0 => format!("{}..{}", ran.from, ran.to),
                [] | [..] => case.seeds.to_string(),
            };
            let path = harmless(&case.path);
            // Nothing was found that has a story; what one of the runs came to may say why.
            let first = case.ran.first().map(|ran| {
                let broken = case.broken.as_ref().map(|broken| broken.seed);
                let seed = broken.or(case.violations.first().map(|violation| violation.seed));
                let seed = seed.unwrap_or(ran.from);
                let name = harmless(&case.case);
                let replay = format!("picklock replay {path} --case {name} --seed {seed}");
                command_after("  Replay   ", &replay, style)
            });
            let run = format!("picklock run {path} --seeds {seeds}");
            first.unwrap_or_default() + &command_after("  Again    ", &run, style)
        }
    }
}

/// What another seed violates than the one whose story is told.
fn other_violation(case: &CaseOutcome, violation: &Violation) -> String {
    let all = count(case.seeds, "seed");
    let found = format!("at seed {} ({} of {all})", violation.seed, violation.seeds);
    let shrunk = violation.ways.first();
    let shrunk = shrunk.map(|way| format!("; shrunk: {}", way.smaller.sizes));
    format!(
        "also violated: {} {found}: {}{}",
        violation.invariant,
        violation.witness.summary,
        shrunk.unwrap_or_default()
    )
}

/// Whether the seeds that violate a promise all do it alike, as far as that was looked into, and how else they do.
fn describe_mechanisms(violation: &Violation) -> Vec<String> {
    let (ways, all) = (&violation.ways, violation.seeds);
    if violation.looked_into < 2 {
        return Vec::new();
    }
    let shrunk = match violation.looked_into {
        looked_into if looked_into == all => "all".to_owned(),
        looked_into => looked_into.to_string(),
    };
    let how = match ways.len() {
        1 => "fail alike".to_owned(),
        some => format!("fail in {some} ways"),
    };
    let mut lines = vec![format!(
        "{all} seeds violate it: {shrunk} were shrunk, and {how}"
    )];
    let others = ways.iter().skip(1).map(|way| {
        let (seed, share) = (way.seed, Share::of(way).describe());
        let (summary, sizes) = (&way.summary, &way.smaller.sizes);
        format!("another way: at seed {seed} ({share}): {summary}; shrunk: {sizes}")
    });
    lines.extend(others);
    lines
}
