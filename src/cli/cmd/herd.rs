//! `picklock herd`: what a release costs, and who gets hurt.

pub(super) mod measure;

use std::path::PathBuf;

use crate::algorithms::{LockKind, Recipe};
use crate::reports::chart::Figure;
use crate::reports::herd::chart::{Chart, parameters};
use crate::reports::herd::{HerdRow, Undrained, json, page, table};
use crate::scenarios::herd::{Experiment, Mode, is_counted};
use crate::scenarios::program;
use crate::scenarios::units::{UnitMistake, parse_bytes, parse_duration};
use crate::sim::plan::Hold;
use rayon::prelude::*;

use self::measure::{is_measured, measure};
use super::charts;
use super::shrink::make_folder;
use crate::cli::console::OutputArgs;
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::progress::Work;
use crate::cli::seeds;
use crate::cli::threads;

const EXAMPLES: &str = "\
Examples:
  picklock herd
  picklock herd --algorithm zk-children-watch,zk-predecessor-watch --contenders 10,100,1000
  picklock herd --hold 0s                   releases that come faster than waiters can look
  picklock herd --algorithm zk-shared-locks --readers
  picklock herd --out charts --json herd.json
  picklock herd --html herd.html            charts and figures as a page

The first contender takes the lock, the others queue up behind it, and then the queue drains. Figures are \
counted at the servers, from the first release on. Times are virtual.";

/// Measure what a release costs: notifications, requests, bytes, and how long others have to wait.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Herd {
    /// The algorithms to compare.
    #[arg(
        long = "algorithm",
        value_name = "A,B",
        value_delimiter = ',',
        default_value = "zk-same-name,zk-children-watch,zk-predecessor-watch"
    )]
    algorithms: Vec<String>,
    /// How many contenders, the first holder included.
    #[arg(
        long,
        value_name = "N,M",
        value_delimiter = ',',
        default_value = "11,51,101,201",
        value_parser = clap::value_parser!(u32).range(2..=100_000)
    )]
    contenders: Vec<u32>,
    /// How long each holds the lock: a duration, or `settled` for until all others wait again, so that one release
    /// comes at a time.
    #[arg(long, value_name = "HOLD", default_value = "settled", value_parser = parse_hold)]
    hold: Hold,
    /// All contenders but the first take a read-write lock to read.
    #[arg(long)]
    readers: bool,
    /// How many permits a semaphore has; one, if not given.
    #[arg(long, value_name = "N", conflicts_with = "readers", value_parser = clap::value_parser!(u32).range(1..))]
    permits: Option<u32>,
    /// How many servers: 1, 3, or 5.
    #[arg(long, value_name = "N", default_value = "1", value_parser = ["1", "3", "5"])]
    servers: String,
    /// The longest message that servers and clients read (`jute.maxbuffer`): bytes, or such as 4MiB.
    #[arg(long, value_name = "BYTES", default_value = "1048575", value_parser = parse_buffer)]
    jute_max_buffer: u32,
    /// The seed that latencies are drawn from.
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = seeds::one, allow_hyphen_values = true)]
    seed: u64,
    /// How many threads to use; as many as the machine runs at once, if not given.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=threads::MOST))]
    jobs: Option<u64>,
    /// Write the figures to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write charts and figures to this file, as a page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Draw charts into this folder, each as SVG and as PNG. It is made if it is not there.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Herd {
    /// Measures, and shows the figures.
    ///
    /// # Errors
    ///
    /// [`Failure`], if an algorithm is not known or a file cannot be written.
    pub fn execute(self, look: &OutputArgs) -> Result<u8, Failure> {
        let experiments = self.experiments()?;
        let pool = threads::pool(self.jobs)?;
        let work = Work::measuring(experiments.len() as u64);
        if let Some(folder) = &self.out {
            make_folder(folder)?;
        }
        if let Some(path) = &self.json {
            work.can_write_results(path)?;
        }
        if let Some(path) = &self.html {
            work.can_write_report(path, "--html", "herd.html")?;
        }
        if let Some(folder) = &self.out {
            let all = Chart::ALL.iter();
            for (_, path) in all.flat_map(|chart| charts::files(folder, chart.name())) {
                work.can_write(&path)?;
            }
        }
        let measured: Vec<Result<HerdRow, Undrained>> = pool.install(|| {
            experiments
                .par_iter()
                .map(|experiment| {
                    work.at(format!(
                        "{} {}",
                        experiment.recipe.name, experiment.contenders
                    ));
                    let row = measure(experiment);
                    work.seed_done();
                    row
                })
                .collect()
        });
        work.end();
        let (mut rows, mut undrained) = (Vec::new(), Vec::new());
        for result in measured {
            match result {
                Ok(row) => rows.push(row),
                Err(queue) => undrained.push(queue),
            }
        }
        if !rows.is_empty() {
            work.print(&look.fitted(&table(&rows, &look.stdout())))?;
            if let Some(folder) = &self.out {
                work.print(&charts::draw_all(&self.figures(&rows), folder, &work)?)?;
            }
        }
        if let Some(path) = &self.html {
            let figures = self.figures(&rows);
            let page = page(&rows, &undrained, &figures, env!("CARGO_PKG_VERSION"));
            work.write(path, page.map_err(charts::drawing)?.as_bytes())?;
        }
        if let Some(path) = &self.json {
            let text = json(&rows, &undrained, env!("CARGO_PKG_VERSION"));
            work.write(path, text.as_bytes())?;
        }
        for queue in &undrained {
            work.print(&look.fitted(&format!("\n{}\n", queue.because)))?;
        }
        Ok(match undrained.is_empty() {
            true => exit::AS_EXPECTED,
            false => exit::NOT_AS_EXPECTED,
        })
    }

    fn experiments(&self) -> Result<Vec<Experiment>, Failure> {
        let mut experiments = Vec::new();
        for name in &self.algorithms {
            let recipe = of_zookeeper(name)?;
            let mode = self.mode_of(&recipe)?;
            for contenders in &self.contenders {
                experiments.push(Experiment {
                    hold: self.hold,
                    // One of the three that are accepted.
                    servers: self.servers.parse().unwrap_or(1),
                    jute_max_buffer: self.jute_max_buffer,
                    seed: self.seed,
                    mode,
                    ..Experiment::of(recipe, *contenders)
                });
            }
        }
        Ok(experiments)
    }

    /// How an algorithm is taken, if it can be taken so.
    fn mode_of(&self, recipe: &Recipe) -> Result<Mode, Failure> {
        let (mode, wanted) = match (self.readers, self.permits) {
            (true, _) => (Mode::Readers, LockKind::ReadWrite),
            (false, Some(permits)) => (Mode::Permits(permits), LockKind::Semaphore),
            (false, None) => return Ok(Mode::Exclusive),
        };
        let kind = recipe.ownership.kind;
        if kind == wanted {
            return Ok(mode);
        }
        let (kind, wanted) = (kind.name(), wanted.name());
        let problem = format!("{} is of the kind {kind}, and not {wanted}", recipe.name);
        let command = program::command();
        let hint = format!("`{command} list algorithms --kind {wanted}` shows which are");
        Err(Failure::usage(problem, [hint]))
    }

    /// The charts.
    fn figures(&self, rows: &[HerdRow]) -> Vec<Figure> {
        let seed = format!("seed {}", self.seed);
        let version = format!("picklock {}", env!("CARGO_PKG_VERSION"));
        let parameters = parameters(rows, &[seed, version]);
        let figures = Chart::ALL.iter();
        figures
            .map(|chart| chart.figure(rows, &parameters))
            .collect()
    }
}

/// The recipe of this name, if it can be measured: what is counted are ZooKeeper's notifications and requests.
fn of_zookeeper(name: &str) -> Result<Recipe, Failure> {
    let measured = |recipe: &&Recipe| is_measured(recipe);
    let known = program::algorithms();
    match known.iter().find(|recipe| recipe.name == name) {
        Some(recipe) if measured(&recipe) => Ok(*recipe),
        Some(recipe) => {
            let problem = match is_counted(recipe) {
                true => {
                    let what = recipe.ownership.kind.never_handed_over();
                    format!("{name} is {}", what.unwrap_or("no lock that is measured"))
                }
                false => format!("{name} does not stand on ZooKeeper, where herds are measured"),
            };
            let hint = format!(
                "`{} list algorithms` shows all there are",
                program::command()
            );
            Err(Failure::usage(problem, [hint]))
        }
        None => {
            let names = known.iter().filter(measured).map(|recipe| recipe.name);
            Err(Failure::unknown(
                "algorithm",
                name,
                &names.collect::<Vec<_>>(),
            ))
        }
    }
}

fn parse_hold(text: &str) -> Result<Hold, String> {
    if text == "settled" {
        return Ok(Hold::Settled);
    }
    parse_duration(text).map(Hold::For).map_err(|mistake| {
        format!(
            "{}; expected a duration such as 30ms, or `settled`",
            mistake.message
        )
    })
}

fn parse_buffer(text: &str) -> Result<u32, String> {
    let wrong = |mistake: UnitMistake| format!("{}; {}", mistake.message, mistake.help);
    parse_bytes(text).map_err(wrong)
}
