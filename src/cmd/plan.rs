//! `picklock plan`: what a seed runs, as a scenario file.

use std::path::PathBuf;

use picklock::scenarios::write;

use super::choose;
use crate::console;
use crate::exit;
use crate::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  picklock plan zookeeper/swarm --case zk-hardened --seed 7
  picklock plan zookeeper/swarm --case zk-no-guid --seed 13 > my-locks/found.toml

The tape of a run is drawn from the seed too: a saved plan shows the same run with the same seed.";

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
    #[arg(long, value_name = "S")]
    seed: u64,
}

impl Plan {
    /// Prints the plan.
    ///
    /// # Errors
    ///
    /// [`Failure`], if there is no such case, or nobody could see it.
    pub fn execute(self) -> Result<u8, Failure> {
        let (scenario, case) = choose::case(&self.scenario, self.case.as_deref())?;
        let settled = case.settled(self.seed);
        console::shown(console::print(&write(&scenario, &settled)))?;
        Ok(exit::AS_EXPECTED)
    }
}
