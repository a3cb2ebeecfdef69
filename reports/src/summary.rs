//! The end of a run of scenarios: what was run, how it stands, and what failed alike.

use std::time::Duration;

use picklock_checker::outcome::{ScenarioOutcome, Standing};

use crate::columns::{Column, aligned};
use crate::fit::fitted;
use crate::problem::problems;
use crate::style::Style;
use crate::triage::triage;
use crate::words::{count, harmless, took, verdict};

/// Where times and the exit code end, if there are so many columns.
pub(crate) const RIGHT: usize = 87;
/// The least space between what stands to the left and to the right of a line.
const BETWEEN: usize = 2;

/// The scenarios of one folder.
struct Group {
    name: String,
    scenarios: usize,
    /// Its cases, by standing.
    standings: Vec<Standing>,
    took: Duration,
}

impl Group {
    fn of(&self, wanted: &[Standing]) -> String {
        let is_wanted = |standing: &&Standing| wanted.contains(standing);
        match self.standings.iter().filter(is_wanted).count() {
            0 => "-".to_owned(),
            some => some.to_string(),
        }
    }
}

/// What stands in the table of folders.
const COLUMNS: &[Column<Group>] = &[
    ("folder", |group| group.name.clone()),
    ("scenarios", |group| group.scenarios.to_string()),
    ("cases", |group| group.standings.len().to_string()),
    ("as expected", |group| {
        group.of(&[Standing::Holds, Standing::AsExpected])
    }),
    ("skipped", |group| group.of(&[Standing::Skipped])),
    ("undecided", |group| group.of(&[Standing::Undecided])),
    ("not", |group| group.of(&[Standing::Fail])),
    ("broken", |group| group.of(&[Standing::Broken])),
    ("time", |group| took(group.took)),
];

/// A table of the folders, if there are several. What none of them has is no column.
fn groups(outcomes: &[ScenarioOutcome], style: &Style) -> String {
    let mut groups: Vec<Group> = Vec::new();
    for outcome in outcomes {
        let name = outcome
            .name
            .split_once('/')
            .map_or("", |(folder, _)| folder);
        let name = match harmless(name) {
            nothing if nothing.is_empty() => ".".to_owned(),
            name => name,
        };
        let standings = outcome.cases.iter().map(|case| case.standing);
        let spent: Duration = outcome.cases.iter().map(|case| case.took).sum();
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => {
                group.scenarios += 1;
                group.standings.extend(standings);
                group.took += spent;
            }
            None => groups.push(Group {
                name,
                scenarios: 1,
                standings: standings.collect(),
                took: spent,
            }),
        }
    }
    if groups.len() < 2 {
        return String::new();
    }
    let is_there = |column: &&Column<Group>| groups.iter().any(|group| (column.1)(group) != "-");
    let columns: Vec<Column<Group>> = COLUMNS.iter().filter(is_there).copied().collect();
    aligned(&groups, &columns, style) + "\n"
}

/// The last lines of a run: a table of its folders if there are several, what failed alike, how much there was, how
/// much of it was as expected, and the exit code.
pub fn summary(outcomes: &[ScenarioOutcome], exit: u8, style: &Style) -> String {
    let left = format!("  {}.", counted(outcomes));
    let rule = style.glyphs().rule.repeat(8);
    let (groups, kinds) = (groups(outcomes, style), triage(outcomes, style));
    let unexpected = unexpected(outcomes, style);
    let last = with_right(&left, &format!("exit {exit}"), style);
    format!("{rule}\n{groups}{kinds}{unexpected}{last}\n")
}

/// Every case that is not as expected, and why, if it is one of several: it may stand far above.
fn unexpected(outcomes: &[ScenarioOutcome], style: &Style) -> String {
    let cases: usize = outcomes.iter().map(|outcome| outcome.cases.len()).sum();
    if cases < 2 {
        return String::new();
    }
    let mut text = String::new();
    for problem in problems(outcomes) {
        let case = problem.case;
        let word = verdict(problem.standing).to_lowercase();
        let (scenario, name) = (harmless(&case.scenario), harmless(&case.case));
        let first = format!(
            "    {} {scenario} {name}: ",
            style.standing(problem.standing, &word)
        );
        text.push_str(&format!("{first}{}\n", problem.line));
    }
    match text.is_empty() {
        true => text,
        false => format!(
            "  Not as expected:\n{}",
            fitted(&text, Some(style.columns()), "")
        ),
    }
}

/// How much there was, and how much of it was as expected.
pub(crate) fn counted(outcomes: &[ScenarioOutcome]) -> String {
    let cases = || outcomes.iter().flat_map(|outcome| &outcome.cases);
    let of = |wanted: &[Standing]| {
        let those = cases().filter(|case| wanted.contains(&case.standing));
        those.count() as u64
    };
    let total = cases().count() as u64;
    let expected = of(&[Standing::Holds, Standing::AsExpected]);
    let skipped = of(&[Standing::Skipped]);
    let undecided = of(&[Standing::Undecided]);
    let failed = of(&[Standing::Fail]);
    let broken = of(&[Standing::Broken]);
    let result = match (total, expected) {
        (0, _) => "nothing ran".to_owned(),
        (1, 1) => "as expected".to_owned(),
        (total, expected) if total == expected => "all as expected".to_owned(),
        _ => {
            let parts = [
                (expected, "as expected"),
                (skipped, "skipped"),
                (undecided, "undecided"),
                (failed, "not"),
                (broken, "broken"),
            ];
            let parts = parts
                .iter()
                .filter(|&&(number, word)| number > 0 || word == "as expected");
            let parts: Vec<_> = parts
                .map(|(number, word)| format!("{number} {word}"))
                .collect();
            parts.join(", ")
        }
    };
    let scenarios = count(outcomes.len() as u64, "scenario");
    format!("{scenarios}, {}: {result}", count(total, "case"))
}

/// A line with something at its right end, or after it if it is too long for that.
pub(crate) fn with_right(left: &str, right: &str, style: &Style) -> String {
    let used = left.chars().count() + right.chars().count();
    let space = RIGHT.min(style.columns()).saturating_sub(used).max(BETWEEN);
    format!("{left}{:space$}{right}", "")
}
