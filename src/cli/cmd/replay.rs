//! `picklock replay`: one seed of one case, told to a person.

mod head;
mod pictures;
mod script_names;
mod trace;

use std::path::PathBuf;
use std::sync::Arc;

use crate::checker::outcome::{SeedOutcome, Standing, Story};
use crate::checker::{History, Invariant, Verdict, Witness};
use crate::reports::story::story;
use crate::reports::timeline::Detail;
use crate::reports::words::count;
use crate::scenarios::describe::one_line;
use crate::scenarios::replay_command::{ReplayCommand, job};
use crate::scenarios::runner::{self, wanted};
use crate::scenarios::{Case, RecordedRun, Scenario, Want};
use crate::sim::Simulated;
use crate::sim::watchdog::Named;
use schemars::JsonSchema;
use serde::Serialize;

use super::run_identity::{self, IdentityCheck};
use super::{select, violating_run};
use crate::cli::console::{self, OutputArgs};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::progress::Work;
use crate::cli::seeds;
use head::head;

const EXAMPLES: &str = "\
Examples:
  picklock replay zookeeper/waiter-death --case zk-no-recheck --seed 3
  picklock replay my-locks/outage.toml --seed 3 --full
  picklock replay redis/redlock-half --case redlock --seed 3 --trace --of contender-1 --between 0s..2s
  picklock replay zookeeper/gc-pause --case zk-hardened-unfenced --seed 3 --svg gc-pause.svg
  picklock replay regressions/waiter-death-zk-no-recheck-mutual-exclusion.toml

Exit codes: 0 if the scenario expects what is shown, 1 if not, 2 if it is another run than the one that was \
recorded or saved, or that --was names, 3 if the run cannot tell, 5 if it broke off.";

/// Run one seed again, and tell its story.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Replay {
    /// A scenario file, or the name of a scenario that comes with picklock.
    #[arg(value_name = "SCENARIO")]
    scenario: PathBuf,
    /// The case; may be left out if there is only one.
    #[arg(long, value_name = "CASE")]
    case: Option<String>,
    /// The seed; a file with a recorded run or a saved plan needs none.
    #[arg(long, value_name = "S", value_parser = seeds::one, allow_hyphen_values = true)]
    seed: Option<u64>,
    /// As other commands have it; one run takes one thread.
    #[arg(long, short, value_name = "N", hide = true)]
    jobs: Option<u64>,
    /// Tell how it violates this promise, whatever the scenario expects of that.
    #[arg(long, value_name = "INVARIANT")]
    invariant: Option<String>,
    /// The version and the hash of the run that this should be, as a report says them.
    #[arg(long, value_name = "VERSION:HASH", value_parser = run_identity::parse)]
    was: Option<RecordedRun>,
    /// Show all contenders and all events, and not only what the violation needs.
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    trace: trace::Trace,
    /// Write the run to this file, as JSON: its verdicts, its history, and its trace, if that is asked for.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    pictures: pictures::Pictures,
}

impl Replay {
    /// Runs the seed. The exit code says whether the scenario expects what it shows.
    ///
    /// # Errors
    ///
    /// [`Failure`], if it could not be run and reported.
    pub fn execute(self, look: &OutputArgs) -> Result<u8, Failure> {
        let (scenario, case, seed) = select::run(&self.scenario, self.case.as_deref(), self.seed)?;
        let asked = self
            .invariant
            .as_deref()
            .map(violating_run::find)
            .transpose()?;
        let work = Work::whole();
        if let Some(path) = &self.json {
            work.can_write_results(path)?;
        }
        self.pictures.can_write(&work)?;
        let _named = Named::new(&Arc::new(job(&scenario, &case)), seed);
        let (simulated, messages) = match self.trace.trace || self.pictures.are_wanted() {
            true => runner::traced(&case, seed),
            false => (runner::told(&case, seed), Vec::new()),
        };
        let rows = match self.trace.trace {
            true => {
                let plan = case.plan_for(seed);
                self.trace.check(&plan, &simulated.run.history)?;
                self.trace.rows(&plan, &messages)
            }
            false => Vec::new(),
        };
        let fits = IdentityCheck::of(&case, seed, self.was.as_ref(), &simulated);
        let outcome = runner::judge(&case, seed, &simulated);
        let mut judged = Judged::of(&scenario, &case, &outcome);
        judged.remarks.extend(fits.remarks);
        if let Some(asked) = asked {
            judged.ask_for(asked, &case, &outcome, &simulated);
        }
        let mut told = runner::story(
            &scenario,
            &case,
            simulated,
            &outcome,
            judged.violated.clone(),
        );
        if let Some(asked) = asked {
            told.replay = replay_of(asked, &scenario, &case, &told);
        }
        if let Some(path) = &self.json {
            work.write(
                path,
                as_json(&scenario, &case, &told, &outcome, (&judged, &rows))?.as_bytes(),
            )?;
        }
        let shown = (judged.standing, &judged.remarks[..]);
        self.pictures
            .write((&scenario, &case), shown, &told, &messages, &work)?;
        let detail = if self.full {
            Detail::Full
        } else {
            Detail::Essential
        };
        let style = look.stdout();
        let verdict = (fits.same, judged.standing, &judged.remarks[..]);
        let head = head((&scenario, &case), verdict, &told, &style);
        let mut text = format!("{head}\n{}", story(&told, detail, &style));
        if self.trace.trace {
            text.push('\n');
            text.push_str(&self.trace.text(&rows, &told.history));
        }
        console::shown(console::print(&look.fitted(&text)))?;
        if !fits.same {
            return Ok(exit::BAD_INPUT);
        }
        Ok(exit::of([judged.standing]))
    }
}

/// The command that tells again how this run violates this promise.
fn replay_of(asked: &Invariant, scenario: &Scenario, case: &Case, told: &Story) -> String {
    let again = ReplayCommand {
        scenario,
        case,
        seed: told.seed,
        hash: Some(told.hash),
    };
    again.replay_of(asked.name)
}

/// What one run shows, held against what the scenario expects of many.
pub(super) struct Judged {
    pub(super) standing: Standing,
    /// The violation to report.
    violated: Option<(String, Witness)>,
    /// What to say about the standing, one line each.
    pub(super) remarks: Vec<String>,
}

impl Judged {
    /// Reports how the run violates this promise, or that it does not.
    pub(super) fn ask_for(
        &mut self,
        asked: &Invariant,
        case: &Case,
        outcome: &SeedOutcome,
        simulated: &Simulated,
    ) {
        if outcome.broken.is_some() {
            return;
        }
        self.violated = violating_run::violation(case, asked, simulated)
            .map(|witness| (asked.name.to_owned(), witness));
        let name = asked.name;
        match (&self.violated, wanted(case, name)) {
            (None, _) => self
                .remarks
                .push(format!("{name} is not violated by this run")),
            (Some(_), Some(Want::Excused { because })) if !looked_at(outcome, name) => {
                self.remarks.push(format!(
                    "{name} is violated, and no lock could keep it: {}",
                    one_line(because)
                ));
            }
            (Some(_), None) => {
                let mut expectations = case.expectations.iter();
                let found = expectations.find(|row| row.invariant == name);
                let because = match found.map(|row| &row.want) {
                    Some(Want::Unchecked {
                        because: Some(because),
                    }) => one_line(because),
                    _ => "the scenario says nothing of it".to_owned(),
                };
                self.remarks.push(format!(
                    "{name} is violated, and is not looked at: {because}"
                ));
            }
            (Some(_), Some(_)) => {}
        }
    }

    pub(super) fn of(scenario: &Scenario, case: &Case, outcome: &SeedOutcome) -> Self {
        let mut standing = Standing::Holds;
        let mut remarks: Vec<String> = outcome.vacuity().into_iter().collect();
        let mut violated = Vec::new();
        for (invariant, verdict) in &outcome.verdicts {
            match (verdict, wanted(case, invariant)) {
                (Verdict::Violated(witness), Some(Want::Violated { because, .. })) => {
                    standing = standing.max(Standing::AsExpected);
                    remarks.push(format!(
                        "{invariant} is to be violated: {}",
                        one_line(because)
                    ));
                    violated.push((Standing::AsExpected, *invariant, witness));
                }
                (Verdict::Violated(witness), Some(Want::Excused { .. })) => {
                    standing = Standing::Fail;
                    remarks.push(format!("{invariant} was to hold where nothing excuses it"));
                    violated.push((Standing::Fail, *invariant, witness));
                }
                (Verdict::Violated(witness), Some(Want::Undecided { .. })) => {
                    standing = Standing::Fail;
                    remarks.push(format!("{invariant} was to be undecided"));
                    violated.push((Standing::Fail, *invariant, witness));
                }
                (Verdict::Undecided(reason), Some(Want::Undecided { .. })) => {
                    standing = standing.max(Standing::AsExpected);
                    remarks.push(format!("{invariant} is to be undecided: {reason}"));
                }
                (Verdict::Violated(witness), Some(Want::Holds | Want::Unchecked { .. }) | None) => {
                    standing = Standing::Fail;
                    remarks.push(format!("{invariant} was to hold"));
                    violated.push((Standing::Fail, *invariant, witness));
                }
                (Verdict::Undecided(reason), _) => {
                    standing = standing.max(Standing::Undecided);
                    remarks.push(format!("{invariant}: {reason}"));
                }
                (Verdict::Holds, _) => {}
            }
        }
        match outcome.vacuous {
            Some(_) => standing = standing.max(Standing::Undecided),
            None if outcome.broken.is_some() => {}
            None => remarks.extend(kept_though(case, outcome)),
        }
        if let Some(why) = &outcome.broken {
            standing = Standing::Broken;
            remarks.push(format!("the run broke off: {why}"));
        }
        let recorded = runner::standing_of_recorded(scenario, case, outcome);
        standing = recorded.unwrap_or(standing);
        // What is not expected is told first, and of what is expected that for which the run was kept.
        let kept_for = scenario.kept_for(case).map(|invariant| invariant.name);
        let mut worst: Vec<_> = violated.iter().collect();
        worst.sort_by_key(|(standing, name, _)| {
            (*standing != Standing::Fail, Some(*name) != kept_for)
        });
        let violated = worst.first();
        Self {
            standing,
            violated: violated.map(|(_, name, witness)| ((*name).to_owned(), (***witness).clone())),
            remarks,
        }
    }
}

/// Whether the verdict on this promise was asked for: of what is excused, it is there if nothing excuses it.
fn looked_at(outcome: &SeedOutcome, name: &str) -> bool {
    outcome.verdicts.iter().any(|(known, _)| *known == name)
}

/// What the scenario expects some of its seeds to violate, and this one keeps.
fn kept_though(case: &Case, outcome: &SeedOutcome) -> impl Iterator<Item = String> {
    let told = |name| {
        outcome.verdicts.iter().any(|(known, _)| *known == name) || outcome.excused.contains(&name)
    };
    let kept = case
        .expectations
        .iter()
        .filter(move |row| !told(row.invariant));
    kept.filter_map(|row| match row.want {
        Want::Violated { within_seeds, .. } => {
            let (name, within) = (row.invariant, count(within_seeds, "seed"));
            Some(format!(
                "{name} is to be violated within {within}, and this one keeps it"
            ))
        }
        Want::Holds | Want::Excused { .. } | Want::Undecided { .. } | Want::Unchecked { .. } => {
            None
        }
    })
}

/// A run for machines; the schema only ever gains keys within a version.
#[derive(Serialize, JsonSchema)]
pub struct Replayed<'a> {
    /// The version of this schema.
    version: u32,
    /// The version of the program.
    picklock: &'a str,
    /// The scenario.
    scenario: &'a str,
    /// The case.
    case: &'a str,
    /// The algorithm.
    algorithm: &'a str,
    /// The seed.
    seed: u64,
    /// The hash of the history, 16 hexadecimal digits.
    hash: String,
    /// How the run stands.
    standing: Standing,
    /// Why the run was vacuous; null if it was not.
    undecided: Option<String>,
    /// Why the run broke off, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    broken: Option<String>,
    /// The promises that do not hold.
    verdicts: Vec<Judgement<'a>>,
    /// The whole history; events are named by their place in it, from zero.
    history: &'a History,
    /// All messages, with `--trace`.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schemars(with = "Vec<trace::RowAsJson<'static>>")]
    trace: &'a [trace::Row<'a>],
}

/// A verdict that is not "holds".
#[derive(Serialize, JsonSchema)]
struct Judgement<'a> {
    /// The promise.
    invariant: &'a str,
    /// What became of it.
    verdict: &'a Verdict,
}

fn as_json(
    scenario: &Scenario,
    case: &Case,
    told: &Story,
    outcome: &SeedOutcome,
    (judged, trace): (&Judged, &[trace::Row<'_>]),
) -> Result<String, Failure> {
    let replayed = Replayed {
        version: 1,
        picklock: env!("CARGO_PKG_VERSION"),
        scenario: &scenario.name,
        case: &case.name,
        algorithm: case.algorithm.name,
        seed: told.seed,
        hash: format!("{:016x}", told.hash),
        standing: judged.standing,
        undecided: outcome.vacuity(),
        broken: outcome.broken.as_ref().map(ToString::to_string),
        verdicts: outcome
            .verdicts
            .iter()
            .map(|(invariant, verdict)| Judgement { invariant, verdict })
            .collect(),
        history: &told.history,
        trace,
    };
    console::json(&replayed)
}
