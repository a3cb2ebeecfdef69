//! `picklock validate`: what is wrong with scenario files, without running them.

use std::path::PathBuf;

use crate::reports::words::count;

use super::select;
use crate::cli::console::{self, OutputArgs};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::scenarios::warnings::warnings as warnings_of;

const EXAMPLES: &str = "\
Examples:
  picklock validate my-locks/               every file of a folder
  picklock validate a.toml b.toml

Exit codes: 0 if nothing is wrong, 2 if something is. A warning is no mistake: the lock does what the \
original does with such a setting, which is of little use. Mistakes are shown as by `picklock run`: each \
with its place, and those of all files at once. With `picklock schema scenario`, editors find most of them \
while you write.";

/// Read scenario files, and say what is wrong with them; nothing runs.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Validate {
    /// A scenario file, a folder of them, or a scenario or group that comes with picklock.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
}

impl Validate {
    /// Reads them.
    ///
    /// # Errors
    ///
    /// [`Failure::Invalid`], if anything is wrong.
    pub fn execute(self, look: &OutputArgs) -> Result<u8, Failure> {
        let scenarios = select::scenarios(&self.paths, &[]).map_err(|failure| match failure {
            Failure::Mistakes(mistakes) => Failure::Invalid(mistakes),
            other => other,
        })?;
        let mut warnings = String::new();
        let mut number = 0;
        for scenario in &scenarios {
            for warning in warnings_of(scenario) {
                number += 1;
                warnings += &format!("\nwarning: {}: {warning}\n", scenario.path);
            }
        }
        let and = match number {
            0 => String::new(),
            _ => format!(", {}", count(number, "warning")),
        };
        let cases = scenarios.iter().map(|own| own.cases.len()).sum::<usize>();
        let scenarios = count(scenarios.len() as u64, "scenario");
        let cases = count(cases as u64, "case");
        let told = format!("{scenarios}, {cases}: no mistakes{and}\n{warnings}");
        console::shown(console::print(&look.fitted(&told)))?;
        Ok(exit::AS_EXPECTED)
    }
}
