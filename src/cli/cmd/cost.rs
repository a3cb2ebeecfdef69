//! `picklock cost`: what a lock costs while nothing breaks.

use std::path::PathBuf;

use crate::algorithms::Recipe;
use crate::reports::cost::{CostRow, json, markdown, table};
use crate::scenarios::cost::{self as measured, measure};
use crate::scenarios::program;
use rayon::prelude::*;

use crate::cli::console::OutputArgs;
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::progress::Work;
use crate::cli::threads;

const EXAMPLES: &str = "\
Examples:
  picklock cost
  picklock cost --algorithm zk-predecessor-watch,redlock
  picklock cost --markdown > costs.md

Each lock stands on the smallest service that it is made for: one server, five for Redlock, a replica for \
locks that wait for one. Times are virtual.";

/// What to do about a lock of which nothing is measured.
const NAME_ANOTHER: &str = "name a lock that is handed over, or leave `--algorithm` out";

/// Hand-overs that are measured of each.
const SEEDS: u64 = 20;

/// Measure what a lock costs while nothing breaks: requests, round trips, a hand-over, waiting.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Cost {
    /// The algorithms to measure; all without a known flaw, if none is named.
    #[arg(long = "algorithm", value_name = "A,B", value_delimiter = ',')]
    algorithms: Vec<String>,
    /// Print the table as Markdown.
    #[arg(long)]
    markdown: bool,
    /// How many threads to use; as many as the machine runs at once, if not given.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=threads::MOST))]
    jobs: Option<u64>,
    /// Write the figures to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Cost {
    /// Measures, and shows the figures.
    ///
    /// # Errors
    ///
    /// [`Failure`], if an algorithm is not known or a file cannot be written.
    pub fn execute(self, look: &OutputArgs) -> Result<u8, Failure> {
        let recipes = self.recipes()?;
        let pool = threads::pool(self.jobs)?;
        let work = Work::measuring(recipes.len() as u64);
        if let Some(path) = &self.json {
            work.can_write_results(path)?;
        }
        let measured: Vec<Option<CostRow>> = pool.install(|| {
            let each = recipes.par_iter().map(|recipe| {
                work.at(recipe.name.to_owned());
                let row = row(recipe);
                work.seed_done();
                row
            });
            each.collect()
        });
        work.end();
        let (mut rows, mut unmeasured) = (Vec::new(), Vec::new());
        for (recipe, row) in recipes.iter().zip(measured) {
            match row {
                Some(row) => rows.push(row),
                None => unmeasured.push(recipe.name),
            }
        }
        work.print(&match self.markdown {
            true => markdown(&rows),
            false => look.fitted(&table(&rows, &look.stdout())),
        })?;
        if let Some(path) = &self.json {
            work.write(path, json(&rows, env!("CARGO_PKG_VERSION")).as_bytes())?;
        }
        for name in &unmeasured {
            let why = "its contenders did not come to their end, or held it at once";
            work.print(&look.fitted(&format!("\n{name} is not in the table: {why}.\n")))?;
        }
        Ok(match unmeasured.is_empty() {
            true => exit::AS_EXPECTED,
            false => exit::NOT_AS_EXPECTED,
        })
    }

    fn recipes(&self) -> Result<Vec<Recipe>, Failure> {
        let known = program::algorithms();
        if self.algorithms.is_empty() {
            let sound = known.iter().filter(|recipe| recipe.flaw.is_none());
            let handed_over =
                |recipe: &&Recipe| recipe.ownership.kind.never_handed_over().is_none();
            let measured = sound.filter(handed_over);
            return Ok(measured.copied().collect());
        }
        let find = |name: &String| {
            let found = known.iter().find(|recipe| recipe.name == name).copied();
            if let Some(what) = found.and_then(|recipe| recipe.ownership.kind.never_handed_over()) {
                let problem = format!("{name} is {what}");
                return Err(Failure::usage(problem, [NAME_ANOTHER.to_owned()]));
            }
            found.ok_or_else(|| {
                let names: Vec<&str> = known.iter().map(|recipe| recipe.name).collect();
                Failure::unknown("algorithm", name, &names)
            })
        };
        self.algorithms.iter().map(find).collect()
    }
}

/// The figures of a recipe, if its contenders come to their end.
fn row(recipe: &Recipe) -> Option<CostRow> {
    measure(recipe, SEEDS).map(|cost| row_of(recipe, &cost))
}

/// The figures in the form of the report.
pub(super) fn row_of(recipe: &Recipe, cost: &measured::Cost) -> CostRow {
    CostRow {
        algorithm: recipe.name.to_owned(),
        acquire_requests: cost.acquire.requests,
        acquire_round_trips: cost.acquire.round_trips,
        release_requests: cost.release.requests,
        release_round_trips: cost.release.round_trips,
        handover_p50: cost.handover.p50,
        handover_max: cost.handover.max,
        waiting_requests_per_second: cost.waiting,
    }
}
