//! `picklock compare`: locks beside each other, and what documents claim of them.

use std::path::PathBuf;

use crate::algorithms::Recipe;
use crate::reports::compare::{
    BrokenPromise, CHART, ComparedClaim, ComparedCrowd, ComparedLock, Comparison, VERSION, figure,
    html, json, markdown, text,
};
use crate::scenarios::compare::claims::judge;
use crate::scenarios::compare::{Crowd, Entry, best_of_each_family, is_compared};
use crate::scenarios::{Scenario, matrix, program};
use rayon::prelude::*;

use super::charts;
use super::shrink::make_folder;
use crate::cli::console::OutputArgs;
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::progress::Work;
use crate::cli::threads;

const EXAMPLES: &str = "\
Examples:
  picklock compare                                     the best mutex of each service
  picklock compare --all
  picklock compare --algorithm zk-hardened,redlock,pg-advisory-lock --html locks.html

The best of a service breaks the fewest promises, and of those it is the cheapest.";

/// Compare locks: their code, what they cost alone and in a crowd, what breaks them, and what documents claim.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Compare {
    /// The locks to compare; the best mutex of each service, if none is named.
    #[arg(long = "algorithm", value_name = "A,B", value_delimiter = ',')]
    algorithms: Vec<String>,
    /// Show every mutex without a known flaw, and not only the best of each service.
    #[arg(long, conflicts_with = "algorithms")]
    all: bool,
    /// How many seeds each lock runs under each class of faults.
    #[arg(long, value_name = "N", default_value_t = 40,
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    seeds: u64,
    /// How many threads to use; as many as the machine runs at once, if not given.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=threads::MOST))]
    jobs: Option<u64>,
    /// Print the tables as Markdown.
    #[arg(long)]
    markdown: bool,
    /// Write the figures to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the tables to this file, as a page of HTML.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Draw what servers handle for each hand-over into this folder, as SVG and as PNG. It is made if it is not there.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Compare {
    /// Measures, and shows the figures.
    ///
    /// # Errors
    ///
    /// [`Failure`], if an algorithm is not known or a file cannot be written.
    pub fn execute(self, look: &OutputArgs) -> Result<u8, Failure> {
        let swarms = matrix::swarms(&program::catalogue())?;
        let recipes = self.recipes(&swarms)?;
        let pool = threads::pool(self.jobs)?;
        let work = Work::measuring(recipes.len() as u64);
        for path in self.json.iter().chain(&self.html) {
            work.can_write_results(path)?;
        }
        if let Some(folder) = &self.out {
            make_folder(folder)?;
            for (_, path) in charts::files(folder, CHART) {
                work.can_write(&path)?;
            }
        }
        let measured: Option<Vec<Entry>> = pool.install(|| {
            let each = recipes.par_iter().map(|recipe| {
                work.at(recipe.name.to_owned());
                let entry = Entry::measure(recipe, &swarms, self.seeds, work.stop());
                work.seed_done();
                entry
            });
            each.collect()
        });
        let entries = measured.ok_or(Failure::Interrupted)?;
        let best = best_of_each_family(&entries);
        // Claims are of families: of all their locks.
        let claims = match self.algorithms.is_empty() {
            true => judge(&entries, &swarms, self.seeds, work.stop()),
            false => Some(Vec::new()),
        };
        let claims = claims.ok_or(Failure::Interrupted)?;
        work.end();
        let shown: Vec<&Entry> = match self.all || !self.algorithms.is_empty() {
            true => entries.iter().collect(),
            false => best,
        };
        let claims = claims.into_iter().map(|claim| ComparedClaim {
            claim: claim.claim.to_owned(),
            source: claim.source.to_owned(),
            verdict: claim.verdict.name().to_owned(),
            because: claim.because,
        });
        let comparison = Comparison {
            version: VERSION,
            picklock: env!("CARGO_PKG_VERSION").to_owned(),
            unit_of_time: "us".to_owned(),
            seeds: self.seeds,
            locks: shown.into_iter().map(compared).collect(),
            claims: claims.collect(),
        };
        work.print(&match self.markdown {
            true => markdown(&comparison),
            false => {
                let width = look.width().unwrap_or(100);
                look.fitted(&text(&comparison, width, &look.stdout()))
            }
        })?;
        if let Some(path) = &self.json {
            work.write(path, json(&comparison).as_bytes())?;
        }
        if let Some(path) = &self.html {
            work.write(path, html(&comparison).as_bytes())?;
        }
        if let Some(folder) = &self.out {
            let said = charts::draw_all(&[figure(&comparison)], folder, &work)?;
            work.print(&said)?;
        }
        Ok(exit::AS_EXPECTED)
    }

    fn recipes(&self, swarms: &[Scenario]) -> Result<Vec<Recipe>, Failure> {
        let known = program::algorithms();
        if self.algorithms.is_empty() {
            let compared = known.iter().filter(|recipe| is_compared(recipe, swarms));
            return Ok(compared.copied().collect());
        }
        let find = |name: &String| {
            let found = known.iter().find(|recipe| recipe.name == name);
            found.copied().ok_or_else(|| {
                let names: Vec<&str> = known.iter().map(|recipe| recipe.name).collect();
                Failure::unknown("algorithm", name, &names)
            })
        };
        self.algorithms.iter().map(find).collect()
    }
}

/// The figures of a lock in the form of the report.
fn compared(entry: &Entry) -> ComparedLock {
    let broken = entry.broken.iter().map(|broken| BrokenPromise {
        class: broken.class.name().to_owned(),
        invariant: broken.invariant.to_owned(),
        word: broken.word.name().to_owned(),
        excused: broken.is_excused,
        runs: broken.runs,
    });
    let crowd = |crowd: &Crowd| ComparedCrowd {
        contenders: crowd.contenders,
        served: crowd.served,
        requests_per_handover: crowd.requests,
        notifications_per_release: crowd.notifications,
        handover_p50: crowd.handover.p50,
        waiting_p50: crowd.waiting.p50,
        waiting_max: crowd.waiting.max,
    };
    ComparedLock {
        family: entry.recipe.build.service().name().to_owned(),
        algorithm: entry.recipe.name.to_owned(),
        lines: entry.lines,
        kinds_of_requests: entry.recipe.requests.len() as u64,
        alone: entry
            .cost
            .as_ref()
            .map(|cost| super::cost::row_of(&entry.recipe, cost)),
        crowds: entry.crowds.iter().map(crowd).collect(),
        broken: broken.collect(),
    }
}
