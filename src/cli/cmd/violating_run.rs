//! One run that violates something: what `shrink` and `why` are about.

use std::path::PathBuf;
use std::sync::Arc;

use crate::checker::invariants::{self, INVARIANTS, Invariant};
use crate::checker::outcome::SeedOutcome;
use crate::checker::{Evidence, Verdict, Witness};
use crate::scenarios::replay_command::job;
use crate::scenarios::runner::{self, wanted};
use crate::scenarios::{Case, RecordedRun, Scenario, Want};
use crate::sim::Simulated;
use crate::sim::watchdog::Named;

use super::run_identity::{self, IdentityCheck};
use super::select;
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::seeds;
use crate::cli::threads;

/// Which run, and which of the promises that it breaks.
#[derive(Debug, clap::Args)]
pub struct OneRun {
    /// A scenario file, or the name of a scenario that comes with picklock.
    #[arg(value_name = "SCENARIO")]
    scenario: PathBuf,
    /// The case; may be left out if there is only one.
    #[arg(long, value_name = "CASE")]
    case: Option<String>,
    /// The seed; a file with a recorded run needs none.
    #[arg(long, value_name = "S", value_parser = seeds::one, allow_hyphen_values = true)]
    seed: Option<u64>,
    /// The promise that is broken; if not given, the first whose violation is not expected. One that no lock could have
    /// kept under the faults of the plan is left out unless it is named.
    #[arg(long, value_name = "INVARIANT")]
    invariant: Option<String>,
    /// The version and the hash of the run that this should be, as a report says them; nothing is done with another.
    #[arg(long, value_name = "VERSION:HASH", value_parser = run_identity::parse)]
    was: Option<RecordedRun>,
    /// How many threads to use; as many as the machine runs at once, if not given.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=threads::MOST))]
    pub jobs: Option<u64>,
}

/// A run.
pub struct ViolatingRun {
    pub scenario: Scenario,
    pub case: Case,
    pub seed: u64,
    pub simulated: Simulated,
    /// What it violates, if anything that was asked for.
    pub violated: Option<(&'static Invariant, Witness)>,
    /// If not, what it does instead, in a sentence.
    pub held: String,
    /// And the exit code then.
    pub exit: u8,
}

impl OneRun {
    /// Runs it.
    ///
    /// # Errors
    ///
    /// [`Failure`], if there is no such run, or it broke off.
    pub fn run(&self) -> Result<ViolatingRun, Failure> {
        let asked = self.invariant.as_deref().map(find).transpose()?;
        let (scenario, case, seed) = select::run(&self.scenario, self.case.as_deref(), self.seed)?;
        let _named = Named::new(&Arc::new(job(&scenario, &case)), seed);
        let simulated = runner::told(&case, seed);
        if self.was.is_some() {
            IdentityCheck::of(&case, seed, self.was.as_ref(), &simulated).or_refuse()?;
        }
        let judged = runner::judge(&case, seed, &simulated);
        if let Some(why) = &judged.broken {
            return Err(Failure::broken(&scenario, &case, seed, why));
        }
        let violations = violations(&scenario, &case, &simulated);
        let violated = match asked {
            Some(asked) => violation(&case, asked, &simulated).map(|witness| (asked, witness)),
            None => violations.iter().find_map(Violated::unexcused),
        };
        let name = match &case.recorded {
            Some(_) => "the recorded run".to_owned(),
            None => format!("seed {seed}"),
        };
        let others = violations.iter().map(|other| other.invariant.name);
        let others: Vec<&str> = others.collect();
        let doubt = doubt(judged, &simulated, asked);
        let held = match (asked, others.as_slice(), &doubt) {
            (None, _, Some(doubt)) => format!("{name} is undecided: {doubt}"),
            (None, [], None) => format!("{name} violates no promise"),
            (None, [excused, ..], None) => format!(
                "{name} violates only what no lock could keep ({}); \
                 `--invariant {excused}` takes it all the same",
                others.join(", ")
            ),
            (Some(asked), [], Some(doubt)) => {
                format!("{name} is undecided about {}: {doubt}", asked.name)
            }
            (Some(asked), [], None) => format!("{name} does not violate {}", asked.name),
            (Some(asked), others, _) => {
                let (asked, others) = (asked.name, others.join(", "));
                format!("{name} does not violate {asked}; it violates {others}")
            }
        };
        let exit = match doubt {
            Some(_) => exit::UNDECIDED,
            None => exit::AS_EXPECTED,
        };
        Ok(ViolatingRun {
            exit,
            scenario,
            case,
            seed,
            simulated,
            violated,
            held,
        })
    }
}

pub(super) fn find(name: &str) -> Result<&'static Invariant, Failure> {
    let names: Vec<&str> = INVARIANTS.iter().map(|row| row.name).collect();
    invariants::find(name).ok_or_else(|| Failure::unknown("invariant", name, &names))
}

/// Why the run is undecided about the wanted promise, or about all promises of the case, if it is.
fn doubt(outcome: SeedOutcome, simulated: &Simulated, asked: Option<&Invariant>) -> Option<String> {
    let unknown = |(name, verdict): (&str, Verdict)| match verdict {
        Verdict::Undecided(reason) => Some(format!("{name}: {reason}")),
        Verdict::Holds | Verdict::Violated(_) => None,
    };
    let vacuous = outcome.vacuity();
    let of_asked = |asked: &Invariant| (asked.name, (asked.check)(&Evidence::of(&simulated.run)));
    let doubt = match asked {
        Some(asked) => unknown(of_asked(asked)),
        None => outcome.verdicts.into_iter().find_map(unknown),
    };
    vacuous.or(doubt)
}

/// How the run violates the promise, if it does: where faults excuse it, first what they do not excuse.
pub(super) fn violation(
    case: &Case,
    invariant: &Invariant,
    simulated: &Simulated,
) -> Option<Witness> {
    let evidence = Evidence::of(&simulated.run);
    beyond_excuse(case, invariant, &evidence).or_else(|| invariant.violation(&evidence))
}

/// How the run violates what of the promise no fault excuses, if some of it is excused.
fn beyond_excuse(case: &Case, invariant: &Invariant, evidence: &Evidence<'_>) -> Option<Witness> {
    match wanted(case, invariant.name) {
        Some(Want::Excused { .. }) => invariant.violation_beyond_excuse(evidence),
        _ => None,
    }
}

/// A promise of the case that the run violates.
struct Violated {
    invariant: &'static Invariant,
    witness: Witness,
    /// No lock could keep it under the faults of the plan.
    is_excused: bool,
}

impl Violated {
    fn unexcused(&self) -> Option<(&'static Invariant, Witness)> {
        (!self.is_excused).then(|| (self.invariant, self.witness.clone()))
    }
}

/// The promises of the case that the run violates: first those whose violation is not expected, and of the others first
/// that for which the run was kept.
fn violations(scenario: &Scenario, case: &Case, simulated: &Simulated) -> Vec<Violated> {
    let evidence = Evidence::of(&simulated.run);
    let found = INVARIANTS.iter().filter_map(|invariant| {
        let want = wanted(case, invariant.name)?;
        let beyond_excuse = beyond_excuse(case, invariant, &evidence);
        let is_excused = matches!(want, Want::Excused { .. }) && beyond_excuse.is_none();
        let witness = beyond_excuse.or_else(|| invariant.violation(&evidence))?;
        Some(Violated {
            invariant,
            witness,
            is_excused,
        })
    });
    let mut found: Vec<Violated> = found.collect();
    let kept_for = scenario.kept_for(case).map(|invariant| invariant.name);
    found.sort_by_key(|violated| {
        let name = violated.invariant.name;
        let is_expected = matches!(wanted(case, name), Some(Want::Violated { .. }));
        (is_expected, Some(name) != kept_for)
    });
    found
}
