//! `picklock bench`: what the simulator costs on this machine.

use std::time::Duration;

use crate::reports::words::{count, decimal, thousands};
use crate::scenarios::bench::{Figure, Goal, JOBS, Job, figures, herds, searches};

use crate::cli::console::{self, OutputArgs};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::progress::Work;
use crate::cli::threads;

const EXAMPLES: &str = "\
Examples:
  picklock bench
  picklock bench --herd 10000     also the herds of ten thousand, which take a while
  valgrind --tool=cachegrind --cache-sim=no picklock bench --job shrink

All figures are of one core; a machine that does other things meanwhile gives lower ones. The instructions \
of a job are nearly the same every time, whatever else the machine does.";

/// Measure what the simulator costs on this machine, and compare it with its targets.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Bench {
    /// How long to measure each figure, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 1_000,
        value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    millis: u64,
    /// Measure herds of so many contenders too.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    herd: Option<u32>,
    /// Do this job and nothing else, a fixed number of times and without a clock, for a tool that counts its work.
    #[arg(long, value_name = "JOB", value_parser = job, conflicts_with_all = ["millis", "herd"])]
    job: Option<&'static Job>,
    /// Do the job so often instead; 0 shows what the program costs without it.
    #[arg(long, value_name = "N", requires = "job")]
    times: Option<u64>,
}

/// Finds a job by its name.
fn job(name: &str) -> Result<&'static Job, String> {
    let names: Vec<&str> = JOBS.iter().map(|job| job.name).collect();
    let found = JOBS.iter().find(|job| job.name == name);
    found.ok_or_else(|| format!("expected one of {}", names.join(", ")))
}

impl Bench {
    /// Measures, and shows the figures. The exit code does not depend on them: machines differ.
    ///
    /// # Errors
    ///
    /// [`Failure`], if standard output could not be written to.
    pub fn execute(self, look: &OutputArgs) -> Result<u8, Failure> {
        // One core, whatever the machine has.
        let pool = threads::pool(Some(1))?;
        if let Some(job) = self.job {
            let times = self.times.unwrap_or(job.times);
            let done = pool.install(|| (job.run)(times));
            let (times, what) = (count(times, "time"), job.what);
            console::print(&format!("{times} {what}: {done:016x}\n"))?;
            return Ok(exit::AS_EXPECTED);
        }
        let each = Duration::from_millis(self.millis);
        let work = Work::measuring(3);
        work.at("the engine, and short runs".to_owned());
        let mut measured = pool.install(|| figures(each));
        work.seed_done();
        work.at("searches".to_owned());
        measured.extend(pool.install(|| searches(each)));
        work.seed_done();
        work.at("herds".to_owned());
        measured.extend(self.herd.into_iter().flat_map(herds));
        work.end();
        let mut text = String::new();
        for figure in &measured {
            text.push_str(&line(figure));
        }
        console::print(&look.fitted(&text))?;
        Ok(exit::AS_EXPECTED)
    }
}

fn line(figure: &Figure) -> String {
    let goal = match figure.goal {
        Goal::AtLeast(least) => format!("goal: at least {}", number(least)),
        Goal::AtMost(most) => format!("goal: at most {}", number(most)),
    };
    let mark = if figure.reached() {
        "reached"
    } else {
        "not reached"
    };
    let (what, value, unit) = (&figure.what, number(figure.value), figure.unit);
    format!("{what:<68} {value:>10} {unit:<15}  {goal}, {mark}\n")
}

/// Whole numbers where the digits behind the point say nothing.
fn number(value: f64) -> String {
    if value >= 100.0 {
        thousands(value.round() as u64)
    } else {
        decimal(value, 2)
    }
}
