//! How much is said of each scenario: `--quiet`, `--detail`.

use crate::checker::outcome::ScenarioOutcome;
use crate::reports::terminal;

use crate::cli::console::OutputArgs;
use crate::cli::exit;

/// How much is said of each scenario, as a command line says it.
#[derive(Debug, clap::Args)]
pub struct VerbosityArgs {
    /// Say below each case how near its runs came to an overlap, and with which seed.
    #[arg(long)]
    detail: bool,
    /// Show only what is not as expected, and no progress.
    #[arg(long, short)]
    pub quiet: bool,
}

impl VerbosityArgs {
    /// The report of a scenario, unless it is to be left out.
    pub fn describe(&self, outcome: &ScenarioOutcome, look: &OutputArgs) -> Option<String> {
        let standing = exit::of(outcome.cases.iter().map(|case| case.standing));
        if self.quiet && standing == exit::AS_EXPECTED {
            return None;
        }
        let style = look.stdout();
        let block = match self.detail {
            true => terminal::scenario_in_detail(outcome, &style),
            false => terminal::scenario(outcome, &style),
        };
        Some(block + "\n")
    }
}
