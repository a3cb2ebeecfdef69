//! Which reports a run writes for other programs: `--junit`, `--sarif`, `--format`.

use std::path::{Path, PathBuf};

use crate::checker::outcome::ScenarioOutcome;
use crate::reports::files::{self, FileError};
use crate::reports::{Remark, github, junit, sarif};
use crate::scenarios::coverage::{self, Vacuous};
use crate::scenarios::program;
use clap::ValueEnum;

use crate::cli::console;
use crate::cli::failure::Failure;
use crate::cli::progress::Work;

/// The variable with which GitHub names the file of a step's summary.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Which reports to write, as a command line says it.
#[derive(Clone, Debug, clap::Args)]
pub struct ReportArgs {
    /// Write the results to this file, as JUnit XML: a test per case.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write what is not as expected to this file, as SARIF 2.1.0.
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// What the output is for: text for people, or github: the same with an annotation for each thing that is not as
    /// expected, and a summary in the file that GITHUB_STEP_SUMMARY names, if it is set.
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        hide_possible_values = true
    )]
    format: Format,
}

/// What reads the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Github,
}

impl ReportArgs {
    /// Whether a report is wanted even if the output has no reader.
    pub fn are_wanted(&self) -> bool {
        self.junit.is_some() || self.sarif.is_some() || self.format == Format::Github
    }

    /// Refuses reports of a shard: what it cannot tell, all shards together may.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`], if any is wanted.
    pub fn refuse_for_shard(&self) -> Result<(), Failure> {
        if !self.are_wanted() {
            return Ok(());
        }
        let problem = "--junit, --sarif, and --format github tell how cases stand, and a shard alone does not know";
        let hint = format!(
            "write --json of each shard, and join them: {} merge *.json --junit FILE",
            program::command()
        );
        Err(Failure::usage(problem, [hint]))
    }

    /// Checks that all can be written.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn can_write(&self, work: &Work) -> Result<(), Failure> {
        if let Some(path) = &self.junit {
            work.can_write_report(path, "--junit", "results.xml")?;
        }
        if let Some(path) = &self.sarif {
            work.can_write_report(path, "--sarif", "results.sarif")?;
        }
        Ok(())
    }

    /// The output for people. To GitHub, some lines are commands: ours alone may be.
    pub fn output(&self, text: String) -> String {
        match self.format {
            Format::Text => text,
            Format::Github => github::without_commands(&text),
        }
    }

    /// Writes all. `exit` is the exit code.
    ///
    /// # Errors
    ///
    /// Why one could not be written.
    pub fn write(
        &self,
        outcomes: &[ScenarioOutcome],
        vacuous: &[Vacuous],
        exit: u8,
        work: &Work,
    ) -> Result<(), Failure> {
        for (path, text) in self.files(outcomes, vacuous, exit) {
            work.write(path, text.as_bytes())?;
        }
        if self.format == Format::Github {
            let remarks = remarks(vacuous);
            console::shown(work.print(&github::annotations(outcomes, &remarks)))?;
            append_summary(&github::step_summary(outcomes, &remarks, exit))?;
        }
        Ok(())
    }

    /// Writes the files, when the program is about to end in the middle of a run.
    ///
    /// # Errors
    ///
    /// Why one could not be written.
    pub fn write_at_the_end(
        &self,
        outcomes: &[ScenarioOutcome],
        exit: u8,
    ) -> Result<(), FileError> {
        let mut files = self.files(outcomes, &[], exit).into_iter();
        files.try_for_each(|(path, text)| files::write_whole(path, text.as_bytes()))
    }

    /// The files that are wanted, and what is to be in them.
    fn files(
        &self,
        outcomes: &[ScenarioOutcome],
        vacuous: &[Vacuous],
        exit: u8,
    ) -> Vec<(&Path, String)> {
        let picklock = env!("CARGO_PKG_VERSION");
        let remarks = remarks(vacuous);
        let junit = self.junit.iter().map(|path| {
            let text = junit::junit(outcomes, &remarks, picklock);
            (path.as_path(), text)
        });
        let sarif = self.sarif.iter().map(|path| {
            let text = sarif::sarif(outcomes, &remarks, exit, picklock);
            (path.as_path(), text)
        });
        junit.chain(sarif).collect()
    }
}

/// What is not as expected of the library as a whole.
fn remarks(vacuous: &[Vacuous]) -> Vec<Remark> {
    let remarks = vacuous.iter().filter(|folder| !folder.needs_more_seeds());
    let remarks = remarks.map(|folder| Remark {
        about: format!("coverage-of-{}", folder.folder),
        text: coverage::describe(std::slice::from_ref(folder))
            .trim()
            .to_owned(),
    });
    remarks.collect()
}

/// Adds to the summary of a step. Other commands of the step may have written to it, so it is not replaced.
fn append_summary(text: &str) -> Result<(), Failure> {
    match std::env::var_os(STEP_SUMMARY) {
        Some(path) if !path.is_empty() => Ok(files::append(Path::new(&path), text.as_bytes())?),
        Some(_) | None => Ok(()),
    }
}
