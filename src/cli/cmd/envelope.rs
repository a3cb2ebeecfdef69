//! `picklock envelope`: how often a pause lets a second holder in, over lease, pause, drift, and latency.

use std::path::PathBuf;
use std::time::Duration;

use crate::algorithms::{LockKind, Recipe};
use crate::reports::envelope::{Chart, EnvelopeRow, Probability, json, markdown, table};
use crate::scenarios::envelope::{Point, Proportion, StoppingRule, closed_form, estimate};
use crate::scenarios::program;
use crate::scenarios::units::{UnitMistake, parse_duration};
use rayon::prelude::*;

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
  picklock envelope
  picklock envelope --lease 10s,30s,60s --pause 2s --work 5s --latency 1ms,50ms
  picklock envelope --algorithm zk-predecessor-watch,redisson-lock --out charts
  picklock envelope --precision 0.001 --json envelope.json

Each point takes as many runs as its intervals need, with the seeds from --seed on, each with a pause of its \
own.";

/// The longest time of a point: microseconds of a run are counted in 64 bits, and several of these add up.
const LONGEST: Duration = Duration::from_secs(86_400);

/// Measure how often a pause of the holder lets a second contender in, by lease, pause, drift, and latency.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Envelope {
    /// The locks to measure.
    #[arg(
        long = "algorithm",
        value_name = "A,B",
        value_delimiter = ',',
        default_value = "redis-compare-and-delete"
    )]
    algorithms: Vec<String>,
    /// How long the lock stays with a holder that gives no sign of life: leases, or timeouts of sessions.
    #[arg(long, value_name = "TIME,…", value_delimiter = ',', default_value = "2s,5s,10s,20s,30s", value_parser = time)]
    lease: Vec<Duration>,
    /// How long the holder stands still, on average; exponentially distributed.
    #[arg(long, value_name = "TIME,…", value_delimiter = ',', default_value = "500ms,2s,10s", value_parser = time)]
    pause: Vec<Duration>,
    /// By how many parts per million the holder's clocks run fast or slow at most.
    #[arg(long, value_name = "PPM,…", value_delimiter = ',', default_value = "0",
        value_parser = clap::value_parser!(u32).range(0..=500_000))]
    drift: Vec<u32>,
    /// Round trips between a contender and a server.
    #[arg(long, value_name = "TIME,…", value_delimiter = ',', default_value = "1ms", value_parser = time)]
    latency: Vec<Duration>,
    /// How long the holder works, before it writes and leaves.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = time)]
    work: Duration,
    /// How far the intervals of 95 % confidence may reach to either side: 0.01 is one percent.
    #[arg(long, value_name = "SHARE", default_value = "0.01", value_parser = share)]
    precision: f64,
    /// How many runs a point has at most.
    #[arg(long, value_name = "N", default_value_t = 1_000_000,
        value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    at_most: u64,
    /// The first seed.
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = seeds::one, allow_hyphen_values = true)]
    seed: u64,
    /// How many threads to use; as many as the machine runs at once, if not given.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=threads::MOST))]
    jobs: Option<u64>,
    /// Print the table as Markdown.
    #[arg(long)]
    markdown: bool,
    /// Write the figures to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw charts into this folder, each as SVG and as PNG. It is made if it is not there.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Envelope {
    /// Measures, and shows the figures.
    ///
    /// # Errors
    ///
    /// [`Failure`], if an algorithm is not known or a file cannot be written.
    pub fn execute(self, look: &OutputArgs) -> Result<u8, Failure> {
        let points = self.points()?;
        let pool = threads::pool(self.jobs)?;
        let work = Work::measuring(points.len() as u64);
        if let Some(path) = &self.json {
            work.can_write_results(path)?;
        }
        if let Some(folder) = &self.out {
            make_folder(folder)?;
            for (_, path) in Chart::ALL
                .iter()
                .flat_map(|chart| charts::files(folder, chart.name()))
            {
                work.can_write(&path)?;
            }
        }
        let measured: Vec<Option<EnvelopeRow>> = pool.install(|| {
            let each = points.par_iter().map(|(recipe, point)| {
                work.at(recipe.name.to_owned());
                let row = self.row(recipe, point, &work);
                work.seed_done();
                row
            });
            each.collect()
        });
        work.end();
        let Some(rows) = measured.into_iter().collect::<Option<Vec<_>>>() else {
            return Err(Failure::Interrupted);
        };
        work.print(&match self.markdown {
            true => markdown(&rows),
            false => look.fitted(&table(&rows, &look.stdout())),
        })?;
        if let Some(path) = &self.json {
            work.write(path, json(&rows, env!("CARGO_PKG_VERSION")).as_bytes())?;
        }
        if let Some(folder) = &self.out {
            let figures = Chart::ALL.map(|chart| chart.figure(&rows));
            let said = charts::draw_all(&figures, folder, &work)?;
            work.print(&said)?;
        }
        Ok(exit::AS_EXPECTED)
    }

    /// Each lock at each point.
    fn points(&self) -> Result<Vec<(&'static Recipe, Point)>, Failure> {
        let mut points = Vec::new();
        for name in &self.algorithms {
            let recipe = mutex(name)?;
            for pause in &self.pause {
                for drift in &self.drift {
                    for latency in &self.latency {
                        points.extend(self.lease.iter().map(|lease| {
                            let point = Point {
                                lease: *lease,
                                work: self.work,
                                pause: *pause,
                                drift: *drift,
                                latency: *latency,
                            };
                            (recipe, point)
                        }));
                    }
                }
            }
        }
        Ok(points)
    }

    /// What the runs of a point have shown; `None`, if they were interrupted.
    fn row(&self, recipe: &Recipe, point: &Point, work: &Work) -> Option<EnvelopeRow> {
        let rule = StoppingRule {
            half_width: self.precision,
            runs: self.at_most,
        };
        let seen = estimate(recipe, point, self.seed, rule, work.stop())?;
        let known = closed_form(recipe, point);
        let probability = |share: Proportion, closed_form| {
            let (low, high) = share.interval();
            Probability {
                estimate: share.probability(),
                low,
                high,
                closed_form,
            }
        };
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        Some(EnvelopeRow {
            algorithm: recipe.name.to_owned(),
            lease: micros(point.lease),
            work: micros(point.work),
            pause: micros(point.pause),
            drift: point.drift,
            latency: micros(point.latency),
            runs: seen.overlap.runs,
            overlap: probability(seen.overlap, known.map(|(overlap, _)| overlap)),
            stale_write: probability(seen.stale, known.map(|(_, stale)| stale)),
        })
    }
}

/// The mutex of this name.
fn mutex(name: &str) -> Result<&'static Recipe, Failure> {
    let known = program::algorithms();
    let is_mutex = |recipe: &&Recipe| recipe.ownership.kind == LockKind::Mutex;
    match known.iter().find(|recipe| recipe.name == name) {
        Some(recipe) if is_mutex(&recipe) => Ok(recipe),
        Some(recipe) => {
            let kind = recipe.ownership.kind.name();
            let problem = format!("{name} is of the kind {kind}, and not mutex");
            let command = program::command();
            let hint = format!("`{command} list algorithms --kind mutex` shows which are");
            Err(Failure::usage(problem, [hint]))
        }
        None => {
            let names = known.iter().filter(is_mutex).map(|recipe| recipe.name);
            Err(Failure::unknown(
                "algorithm",
                name,
                &names.collect::<Vec<_>>(),
            ))
        }
    }
}

fn time(text: &str) -> Result<Duration, String> {
    let wrong = |mistake: UnitMistake| format!("{}; {}", mistake.message, mistake.help);
    match parse_duration(text).map_err(wrong)? {
        time if time < Duration::from_millis(1) || time > LONGEST => {
            Err("expected a time from 1ms to 24h".to_owned())
        }
        time => Ok(time),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "expected a number".to_owned())?;
    match (1e-6..=0.5).contains(&share) {
        true => Ok(share),
        false => Err("expected a share from 0.000001 to 0.5".to_owned()),
    }
}
