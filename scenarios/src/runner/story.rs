//! The story of a run that has been judged.

use std::sync::Arc;

use picklock_checker::Witness;
use picklock_checker::outcome::{SeedOutcome, Story};
use picklock_sim::Simulated;
use picklock_sim::broken::caught;
use picklock_sim::watchdog::Named;

use super::{judge, told};
use crate::replay_command::{self, ReplayCommand};
use crate::scenario::{Case, Scenario};

/// Runs a seed again to tell its story: that of the violation, if there is one to tell. `None`, if nothing can be told
/// without a panic.
pub(crate) fn replay_story(
    scenario: &Scenario,
    case: &Case,
    seed: u64,
    violated: Option<(String, Witness)>,
) -> Option<Story> {
    let job = Arc::new(replay_command::job(scenario, case));
    let _named = Named::new(&job, seed);
    let done = caught(|| {
        let case = &*case.settled(seed);
        let simulated = told(case, seed);
        let outcome = judge(case, seed, &simulated);
        story(scenario, case, simulated, &outcome, violated)
    });
    done.ok()
}

/// The story of a run that has been judged.
pub fn story(
    scenario: &Scenario,
    case: &Case,
    mut simulated: Simulated,
    outcome: &SeedOutcome,
    violated: Option<(String, Witness)>,
) -> Story {
    let about = violated.as_ref().map(|(invariant, _)| invariant.as_str());
    let also = outcome
        .verdicts
        .iter()
        .filter(|(name, verdict)| Some(*name) != about && verdict.witness().is_some())
        .map(|(name, _)| (*name).to_owned())
        .collect();
    let again = ReplayCommand {
        scenario,
        case,
        seed: outcome.seed,
        hash: Some(simulated.hash),
    };
    // A check may have panicked where the run had not.
    simulated.run.history.broken.clone_from(&outcome.broken);
    Story {
        seed: outcome.seed,
        hash: simulated.hash,
        why: about.map(|invariant| again.why(invariant)),
        replay: again.replay(),
        violated,
        also,
        history: simulated.run.history,
        smaller: None,
        reproduction: None,
    }
}
