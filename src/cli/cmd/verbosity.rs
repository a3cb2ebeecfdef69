//! How much is said of each scenario: `--quiet`, `--verbose`, `--detail`.

use crate::checker::outcome::{ScenarioOutcome, Standing};
use crate::reports::terminal;

use crate::cli::console::OutputArgs;

/// How much is said of each scenario, as a command line says it.
#[derive(Debug, clap::Args)]
pub struct VerbosityArgs {
    /// Say below each case how near its runs came to an overlap, and with which seed.
    #[arg(long)]
    detail: bool,
    /// Show every case with its findings, also of several scenarios. Without it, each of several has
    /// a line, and more only if something is not as expected.
    #[arg(long, short, conflicts_with = "quiet")]
    verbose: bool,
    /// Show only what is not as expected, and no progress.
    #[arg(long, short)]
    pub quiet: bool,
}

/// In what a scenario is told: among how many others, and how wide their names are.
#[derive(Clone, Copy, Debug)]
pub struct Among {
    several: bool,
    names: usize,
}

impl Among {
    /// Among scenarios of these names.
    pub fn names<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Self {
        let widest = names.clone().map(|name| name.chars().count()).max();
        Self {
            several: names.count() > 1,
            names: widest.unwrap_or(0),
        }
    }
}

impl VerbosityArgs {
    /// The report of a scenario, unless it is to be left out.
    pub fn describe(
        &self,
        outcome: &ScenarioOutcome,
        among: Among,
        look: &OutputArgs,
    ) -> Option<String> {
        let is_fine = |standing: Standing| match standing {
            Standing::Holds | Standing::AsExpected | Standing::Skipped => true,
            Standing::Undecided | Standing::Fail | Standing::Broken => false,
        };
        let is_fine = outcome.cases.iter().all(|case| is_fine(case.standing));
        if self.quiet && is_fine {
            return None;
        }
        let style = look.stdout();
        if self.detail {
            return Some(terminal::scenario_in_detail(outcome, &style) + "\n");
        }
        let in_lines = among.several && !self.verbose && !self.quiet;
        Some(match (in_lines, is_fine) {
            (true, true) => terminal::scenario_in_a_line(outcome, among.names, &style),
            // Among lines, a block is set apart.
            (true, false) => format!("\n{}\n", terminal::scenario(outcome, &style)),
            (false, _) => terminal::scenario(outcome, &style) + "\n",
        })
    }
}
