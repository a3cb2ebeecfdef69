//! `picklock plan`: what a seed runs, as a scenario file.

use std::path::PathBuf;

use crate::scenarios::{Case, RecordedRun, SavedPlan, Scenario, runner, write};

use super::select;
use crate::cli::console;
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::seeds;

const EXAMPLES: &str = "\
Examples:
  picklock plan zookeeper/swarm --case zk-hardened --seed 7
  picklock plan zookeeper/swarm --case zk-unsorted --seed 13 > my-locks/found.toml

The seed draws the tape of a run, too: a saved plan shows the same run with the same seed. The file names \
that seed: `picklock replay` takes the file alone, and says if it is another run now.";

/// Print the plan that a seed runs, as a scenario file with nothing left open.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Plan {
    /// A scenario file, or the name of a scenario that comes with picklock.
    #[arg(value_name = "SCENARIO")]
    scenario: PathBuf,
    /// The case; may be left out if there is only one.
    #[arg(long, value_name = "CASE")]
    case: Option<String>,
    /// The seed.
    #[arg(long, value_name = "S", value_parser = seeds::one, allow_hyphen_values = true)]
    seed: u64,
}

impl Plan {
    /// Prints the plan.
    ///
    /// # Errors
    ///
    /// [`Failure`], if there is no such case, or standard output could not be written to.
    pub fn execute(self) -> Result<u8, Failure> {
        let (scenario, case) = select::case(&self.scenario, self.case.as_deref())?;
        let hash = |case: &Case| runner::simulated(case, self.seed).hash;
        console::shown(console::print(&text(&scenario, &case, self.seed, &hash)))?;
        Ok(exit::AS_EXPECTED)
    }
}

/// What a seed of a case runs, as a scenario file; `hash` says which run that is.
pub fn text(scenario: &Scenario, case: &Case, seed: u64, hash: &dyn Fn(&Case) -> u64) -> String {
    let mut settled = case.settled(seed).into_owned();
    // A file has no larger numbers.
    if case.recorded.is_none() && i64::try_from(seed).is_ok() {
        settled.saved = Some(SavedPlan {
            seed,
            drawn: settled.drawn,
            was: RecordedRun {
                hash: Some(hash(&settled)),
                picklock: Some(env!("CARGO_PKG_VERSION").to_owned()),
            },
        });
    }
    write(scenario, &settled)
}
