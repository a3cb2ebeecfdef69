//! What came of running scenarios: all that a report may see.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Broken, Counts, History, Nearness, Reached, Verdict, Witness};

/// The outcome of one run of one case with one seed.
#[derive(Clone, Debug, PartialEq)]
pub struct SeedOutcome {
    /// The seed.
    pub seed: u64,
    /// The rolling hash of everything that could be observed in the run.
    pub hash: u64,
    /// The verdicts that are not `Holds`, by invariant.
    pub verdicts: Vec<(&'static str, Verdict)>,
    /// Why the run as a whole says nothing (a fault that never fired, a lock for which no contender waited), if so.
    pub vacuous: Option<String>,
    /// The times and numbers of this run that belong to that, which other runs do not share.
    pub vacuous_detail: Option<String>,
    /// The invariants that were not looked at because no lock could keep them under the faults that the seed drew.
    pub excused: Vec<&'static str>,
    /// The invariants that cannot be judged because the run breaks `progress`, as the scenario expects it to.
    pub moot: Vec<&'static str>,
    /// The moments that it came through.
    pub reached: Reached,
    /// How near it came to an overlap.
    pub nearness: Nearness,
    /// What was counted.
    pub counts: Counts,
    /// Why it broke off, if it did. Then nothing else is said of it.
    pub broken: Option<Broken>,
}

impl SeedOutcome {
    /// Why the run as a whole says nothing, if so, with the times and numbers of this run.
    pub fn vacuity(&self) -> Option<String> {
        let reason = self.vacuous.as_ref()?;
        Some(match &self.vacuous_detail {
            Some(here) => format!("{reason}; {here}"),
            None => reason.clone(),
        })
    }
}

/// How what was found compares with what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// All promises were to hold, and did.
    Holds,
    /// What was to be violated was, by name, within the seeds it had.
    AsExpected,
    /// It needs more seeds than it was given, and nothing else is wrong.
    Skipped,
    /// The run cannot tell.
    Undecided,
    /// Not what was expected.
    Fail,
    /// A run broke off: code of the recipe, or of picklock itself, panicked or would not come to an end.
    Broken,
}

/// One thing that the scenario expects of a case, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The invariant or metric.
    pub name: String,
    /// How it stands.
    pub standing: Standing,
    /// One line: `mutual-exclusion violated at seed 1 (41 of 100 seeds, 41 %): the replica never had the key`.
    pub line: String,
    /// If it is a promise: how many seeds could tell whether it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub can_tell: Option<u64>,
}

/// The first violation of an invariant in a case, and how often it was seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Violation {
    /// The invariant.
    pub invariant: String,
    /// The lowest seed that violates it.
    pub seed: u64,
    /// How many seeds were tried until then, that one included.
    pub found_after: u64,
    /// How many of all seeds violate it.
    pub seeds: u64,
    /// The scenario expected it.
    pub expected: bool,
    /// The evidence.
    pub witness: Witness,
    /// The seeds that violate it, by the digest of their argument without names and numbers.
    pub alike: BTreeMap<String, SimilarSeeds>,
    /// By the same digests: the command that shows the lowest of these seeds again.
    pub replays: BTreeMap<String, String>,
    /// The ways in which they do, that of the first seed first, if these were looked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<DistinctFailure>,
    /// How many seeds were looked into to tell the ways apart.
    #[serde(default)]
    pub looked_into: u64,
}

/// A way to violate an invariant: an argument without names and numbers, and the kinds of faults that are left of a
/// plan that is as small as it can be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DistinctFailure {
    /// The digest of the argument.
    pub argument: String,
    /// The seed whose run is the smallest of those that were looked into.
    pub seed: u64,
    /// How many seeds have this argument.
    pub seeds: u64,
    /// How many of them were looked into.
    pub looked_into: u64,
    /// How many of those need just these kinds of faults; the others need other ones.
    pub need_these: u64,
    /// What happens in the smallest run, in a sentence.
    pub summary: String,
    /// The command that shows the seed again.
    pub replay: String,
    /// The smallest run.
    pub smaller: ShrunkRun,
}

/// Seeds that violate an invariant with the same argument, but for names and numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SimilarSeeds {
    /// How many there are.
    pub seeds: u64,
    /// The lowest of them, ascending: [`SimilarSeeds::KEPT`] at most.
    pub first: Vec<Sample>,
}

/// A seed, and what run it gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// The seed.
    pub seed: u64,
    /// The hash of its run.
    pub hash: u64,
}

impl SimilarSeeds {
    /// So many seeds are kept.
    pub const KEPT: usize = 4;

    /// Adds others, whichever come first: what is kept is the same in whatever order they come.
    pub fn join(&mut self, others: Self) {
        self.seeds += others.seeds;
        self.first.extend(others.first);
        self.first.sort_unstable();
        self.first.truncate(Self::KEPT);
    }
}

/// The first run of a case that broke off, and how many did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Breakage {
    /// The lowest seed whose run broke off.
    pub seed: u64,
    /// The hash of that run.
    pub hash: u64,
    /// How many seeds broke off.
    pub seeds: u64,
    /// Why the first did.
    pub why: Broken,
}

impl Breakage {
    /// Adds others: what is kept is of the lowest seed.
    pub fn join(&mut self, others: Self) {
        let seeds = self.seeds + others.seeds;
        if others.seed < self.seed {
            *self = others;
        }
        self.seeds = seeds;
    }
}

/// The least of a distance to an overlap, over many seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Nearest {
    /// The distance, in microseconds of virtual time; zero if there was an overlap.
    pub micros: u64,
    /// The lowest seed that came so near.
    pub seed: u64,
}

/// Where a case is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseLocation {
    /// The file, as it was given; the scenario's name, if it comes with picklock.
    pub file: String,
    /// The scenario comes with picklock: there is no such file.
    pub built_in: bool,
    /// The line, from one, if it is known.
    pub line: Option<usize>,
}

/// The outcome of all seeds of one case of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseOutcome {
    /// The scenario's name, as in `zookeeper/waiter-death`.
    pub scenario: String,
    /// What commands call the scenario, ready for a shell: its file, or its name if it comes with picklock.
    pub path: String,
    /// The case's name; unique within its scenario.
    pub case: String,
    /// Where it is written.
    pub written: CaseLocation,
    /// The algorithm's name.
    pub algorithm: String,
    /// The overall standing: the worst of the findings.
    pub standing: Standing,
    /// What was expected, and what came of it.
    pub findings: Vec<Finding>,
    /// First violations, expected or not, in the order of the registry of invariants.
    pub violations: Vec<Violation>,
    /// The first run that broke off, if any did.
    pub broken: Option<Breakage>,
    /// Seeds that were run.
    pub seeds: u64,
    /// How many its file takes at most, if more were asked for.
    pub seeds_at_most: Option<u64>,
    /// The reasons for undecided runs, each with how many seeds gave it.
    pub undecided: BTreeMap<String, u64>,
    /// The moments that seeds came through, each with how many did.
    pub reached: BTreeMap<String, u64>,
    /// How near the seeds came to an overlap: the least of each distance.
    pub nearest: BTreeMap<String, Nearest>,
    /// Which these were.
    pub ran: Vec<SeedRange>,
    /// The hash over the histories of all seeds; it is the same in whatever parts and order they were run.
    pub hash: u64,
    /// Metrics over all seeds, by name.
    pub metrics: BTreeMap<String, f64>,
    /// Real time that the case took, all threads together.
    pub took: Duration,
    /// The run behind the first unexpected violation, or behind the first expected one if there is none, with
    /// everything that a report needs to tell its story.
    pub story: Option<Box<Story>>,
}

/// Seeds at equal distances: `from`, and every `step`-th after it that is less than `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeedRange {
    /// The first.
    pub from: u64,
    /// More than the last.
    pub to: u64,
    /// The distance.
    pub step: u64,
}

/// One run to be told to a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Story {
    /// The seed.
    pub seed: u64,
    /// The hash of the run.
    pub hash: u64,
    /// The invariant that it violates, and the evidence; None for a run that was replayed to be looked at.
    pub violated: Option<(String, Witness)>,
    /// Every other invariant that it violates too.
    pub also: Vec<String>,
    /// The history.
    pub history: History,
    /// The command that shows it again.
    pub replay: String,
    /// The command that says why the promise is broken, if one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// If this is not the run of the seed but a smaller one that violates the same: how much smaller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smaller: Option<ShrunkRun>,
    /// If it is a smaller run: the scenario file that is that run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduction: Option<String>,
}

/// A run that was made smaller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShrunkRun {
    /// What became of it: `5 contenders to 3, 4 faults to 1, 118 events to 8`.
    pub sizes: String,
    /// Whether it is another run than the one that was found.
    pub is_other: bool,
    /// The command that writes it down as a scenario file, if there is one.
    pub keep: Option<String>,
    /// How many events it has up to the violation.
    pub events: u32,
    /// The kinds of faults that are left of the plan, sorted, one for each fault: what plans that are alike have in
    /// common. By which of several moments a fault strikes at the same place is no bug of its own.
    pub shape: Vec<String>,
    /// What becomes of the promise with other choices, and without each fault: `violated in 200 of 200 runs`.
    pub needs: Vec<String>,
}

/// The outcome of one scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioOutcome {
    /// The scenario's name, as in `zookeeper/waiter-death`.
    pub name: String,
    /// The claim, one sentence.
    pub claim: String,
    /// Its cases.
    pub cases: Vec<CaseOutcome>,
}
