//! `picklock run`: many seeds of many cases, compared with what the scenarios expect.

use std::collections::VecDeque;
use std::path::PathBuf;

use crate::checker::outcome::{CaseOutcome, ScenarioOutcome, Standing};
use crate::reports::{json, summary};
use crate::scenarios::case_statistics::Tally;
use crate::scenarios::replay_command::quoted;
use crate::scenarios::runner::{RunOptions, Stopped, run_block};
use crate::scenarios::shard_file::ShardFile;
use crate::scenarios::shrink::{Unasked, conclude};
use crate::scenarios::{Case, Scenario, coverage, program};
use rayon::ThreadPool;

use super::charts;
use super::left_out::{describe_fewer_seeds, describe_left, describe_unshrunk};
use super::page;
use super::partial_results::PartialResults;
use super::report_args::ReportArgs;
use super::seed_args::{SeedArgs, Span, timed};
use super::select;
use super::verbosity::{Among, VerbosityArgs};
use crate::cli::console::{self, OutputArgs};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::progress::Work;
use crate::cli::threads;

const EXAMPLES: &str = "\
Examples:
  picklock run                                        every scenario that comes with picklock
  picklock run zookeeper/waiter-death --seeds 1000    one of them, with the seeds 0 to 999
  picklock run my-locks/ --json results.json          the files of a folder, and a report as JSON
  picklock run my-locks/ --html report.html           and a page to look at what failed
  picklock run --time 60s                             as many seeds as fit, each day others
  picklock run --seed-base 20778000000                the seeds of a day, again
  picklock run --seeds 10000 --shard 2/4 --json 2.json
  picklock run zookeeper --case zk-hardened --verify-determinism";

/// Run scenarios, and say whether everything comes as they expect it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Run {
    /// A scenario file, a folder of them, or a scenario or group that comes with picklock; all of
    /// those if nothing is named.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Run only the cases of this name; may be given several times.
    #[arg(long = "case", value_name = "CASE")]
    cases: Vec<String>,
    #[command(flatten)]
    part: SeedArgs,
    /// How many threads to use; as many as the machine runs at once, if not given.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=threads::MOST))]
    jobs: Option<u64>,
    /// Write the results to this file, as JSON; of a shard, what `picklock merge` needs.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a page to this file: all verdicts, and a diagram of each run that fails, or is to fail, for as long as
    /// there is room.
    #[arg(long, value_name = "FILE", conflicts_with = "shard")]
    html: Option<PathBuf>,
    /// Draw waiting times, fairness, and how near the runs came to an overlap into this folder, as SVG and as PNG.
    #[arg(long, value_name = "DIR", conflicts_with = "shard")]
    charts: Option<PathBuf>,
    /// Run every seed twice, and end with exit code 4 if two runs differ.
    #[arg(long)]
    verify_determinism: bool,
    /// Report a failure as it was found, without a search for a smaller run that fails alike.
    #[arg(long)]
    no_shrink: bool,
    /// End with the first case that fails; the others do not run.
    #[arg(long, conflicts_with = "time")]
    fail_fast: bool,
    #[command(flatten)]
    reports: ReportArgs,
    #[command(flatten)]
    amount: VerbosityArgs,
}

impl Run {
    /// Runs the scenarios. The exit code says how they stand.
    ///
    /// # Errors
    ///
    /// [`Failure`], if not all of them could be run and reported.
    pub fn execute(self, look: &OutputArgs) -> Result<u8, Failure> {
        let mut scenarios = select::scenarios(&self.paths, &self.cases)?;
        self.part.lift_limits(&mut scenarios);
        let span = self.part.span()?;
        let pool = threads::pool(self.jobs)?;
        let work = self.work(&scenarios, &span);
        self.can_write(&span, &work)?;
        let picklock = env!("CARGO_PKG_VERSION");
        let timed = span.time.is_some();
        let mut file = ShardFile::new(picklock, &span.seeds, timed);
        let done = self.run(&scenarios, &span, &mut file, &pool, &work, look);
        work.end();
        let Done {
            outcomes,
            read,
            untouched,
            failed_fast,
        } = done?;
        if work.is_stopped() {
            if read {
                let mut summary = summary::summary(&outcomes, exit::INTERRUPTED, &look.stdout());
                summary.push_str("  Stopped: this is what was found by then.\n");
                console::shown(work.print(&look.fitted(&summary)))?;
            }
            return Ok(exit::INTERRUPTED);
        }
        let cases = outcomes.iter().flat_map(|outcome| &outcome.cases);
        let standings = cases.map(|case| case.standing);
        // Of a folder of which not every case was to run, nothing is owed.
        let vacuous = match (span.is_shard, &self.cases[..]) {
            (false, []) => coverage::vacuous(&scenarios, &outcomes),
            _ => Vec::new(),
        };
        let unsaturated = vacuous.iter().any(|folder| !folder.needs_more_seeds());
        let unsaturated = unsaturated.then_some(Standing::Fail);
        let code = match span.is_shard {
            false => exit::of(standings.chain(unsaturated)),
            true => exit::of_shard(standings),
        };
        if read {
            let mut summary = summary::summary(&outcomes, code, &look.stdout());
            summary.push_str(&coverage::describe(&vacuous));
            summary.push_str(&describe_unshrunk(untouched));
            summary.push_str(&describe_fewer_seeds(&outcomes));
            if failed_fast {
                summary.push_str(&describe_left(&scenarios, &outcomes));
            }
            summary.push_str(&self.describe_seeds(&scenarios, &span, &file));
            console::shown(work.print(&self.reports.output(look.fitted(&summary))))?;
        }
        if let Some(path) = &self.json {
            let text = match span.is_shard {
                false => json::results(&outcomes, picklock),
                true => console::json(&file)?,
            };
            work.write(path, text.as_bytes())?;
        }
        if let Some(path) = &self.html {
            let page = pool.install(|| page::of_outcomes(&scenarios, &outcomes))?;
            work.write(path, page.as_bytes())?;
        }
        if let Some(folder) = &self.charts {
            let figures = pool.install(|| charts::of_outcomes(&scenarios, &outcomes));
            console::shown(work.print(&charts::draw_all(&figures, folder, &work)?))?;
        }
        self.reports.write(&outcomes, &vacuous, code, &work)?;
        Ok(code)
    }

    /// Which seeds it ran. A run that was recorded has none.
    fn describe_seeds(&self, scenarios: &[Scenario], span: &Span, file: &ShardFile) -> String {
        let mut cases = scenarios.iter().flat_map(|scenario| &scenario.cases);
        if cases.all(|case| case.recorded.is_some()) {
            return String::new();
        }
        let ran = file.cases.iter().map(|ran| ran.tally.seeds()).max();
        self.part
            .describe(span, ran.unwrap_or_default(), &self.command())
    }

    /// Begins to run the seeds of all cases, and shows how far that is.
    fn work(&self, scenarios: &[Scenario], span: &Span) -> Work {
        let cases = scenarios.iter().flat_map(|scenario| &scenario.cases);
        let seeds = cases.clone().fold(0_u64, |seeds, case| {
            seeds.saturating_add(case.seeds(&span.seeds).len())
        });
        let (cases, show) = (cases.count() as u64, !self.amount.quiet);
        match span.time {
            None => Work::begin(cases, seeds, show),
            Some(time) => Work::timed(cases, time, show),
        }
    }

    /// Checks that everything can be written that was asked for.
    fn can_write(&self, span: &Span, work: &Work) -> Result<(), Failure> {
        if span.is_shard {
            self.reports.refuse_for_shard()?;
        }
        if let Some(path) = &self.json {
            work.can_write_results(path)?;
        }
        if let Some(path) = &self.html {
            work.can_write_report(path, "--html", page::EXAMPLE)?;
        }
        if let Some(folder) = &self.charts {
            charts::can_write(folder, work)?;
        }
        self.reports.can_write(work)
    }

    /// The command that runs the same cases, ready for a shell, without what says which seeds.
    fn command(&self) -> String {
        let paths = self.paths.iter().map(|path| path.display().to_string());
        let cases = self
            .cases
            .iter()
            .flat_map(|case| ["--case".to_owned(), case.clone()]);
        let words = paths.chain(cases).map(|word| format!(" {}", quoted(&word)));
        format!("{} run{}", program::command(), words.collect::<String>())
    }

    /// Runs the scenarios one after the other and shows each as soon as it is done. Also answers
    /// whether the output is still read: if not, and no report was asked for either, what is left
    /// is not run. What was seen goes into the file of the shard.
    fn run(
        &self,
        scenarios: &[Scenario],
        span: &Span,
        file: &mut ShardFile,
        pool: &ThreadPool,
        work: &Work,
        look: &OutputArgs,
    ) -> Result<Done, Failure> {
        let settings = RunOptions {
            seeds: span.seeds.clone(),
            verify_determinism: self.verify_determinism,
        };
        // A shard that is not whole is none.
        let json = self.json.as_deref().filter(|_| !span.is_shard);
        let last_words = PartialResults::begin(scenarios, json, &self.reports, look.stdout());
        let told = |case: &str, seed, runs| work.shrinks(case, seed, runs);
        let mut running = Running {
            pool,
            work,
            // What ran in turns has run already: of each case there is something to tell.
            ran: timed(scenarios, &settings, span, pool, work)?,
            settings,
            unasked: Unasked::new(work.stop(), &told),
            last_words,
            failed: false,
        };
        let among = Among::names(scenarios.iter().map(|scenario| scenario.name.as_str()));
        let mut outcomes = Vec::new();
        let mut read = true;
        for scenario in scenarios {
            if !running.goes_on() {
                break;
            }
            let cases = self.cases(scenario, file, &mut running)?;
            if cases.is_empty() {
                break;
            }
            let outcome = ScenarioOutcome {
                name: scenario.name.clone(),
                claim: scenario.claim.clone(),
                cases,
            };
            if let Some(said) = self.amount.describe(&outcome, among, look)
                && read
            {
                read = console::shown(work.print(&self.reports.output(look.fitted(&said))))?;
            }
            running.last_words.shown();
            outcomes.push(outcome);
            let is_written = self.json.is_some() || self.html.is_some() || self.charts.is_some();
            if !read && !is_written && !self.reports.are_wanted() {
                break;
            }
        }
        Ok(Done {
            outcomes,
            read,
            untouched: running.unasked.untouched(),
            failed_fast: running.failed,
        })
    }

    /// Runs the cases of a scenario one after the other, for as long as the run goes on.
    fn cases(
        &self,
        scenario: &Scenario,
        file: &mut ShardFile,
        running: &mut Running<'_>,
    ) -> Result<Vec<CaseOutcome>, Failure> {
        let (pool, work) = (running.pool, running.work);
        running.last_words.scenario(scenario);
        let mut cases = Vec::new();
        for case in &scenario.cases {
            if !running.goes_on() {
                break;
            }
            work.at(format!("{} {}", scenario.name, case.name));
            let tally = match running.ran.as_mut().and_then(VecDeque::pop_front) {
                Some(ran) => ran,
                None => {
                    let settings = &running.settings;
                    pool.install(|| all_seeds(scenario, case, settings, work))?
                }
            };
            let is_whole = !work.is_stopped();
            let unasked = (!self.no_shrink).then_some(&mut running.unasked);
            let outcome = pool.install(|| conclude(scenario, case, &tally, unasked));
            let standing = outcome.standing;
            running.failed =
                self.fail_fast && matches!(standing, Standing::Fail | Standing::Broken);
            // Of seeds that did not all run, only what they broke says something.
            let broke = outcome.violations.iter().any(|broken| !broken.expected);
            if is_whole || broke || standing == Standing::Broken {
                running.last_words.case(&outcome);
                cases.push(outcome);
            }
            file.push(scenario, case, tally);
            work.advance(is_whole);
        }
        Ok(cases)
    }
}

/// A run of scenarios that goes on.
struct Running<'r> {
    settings: RunOptions,
    pool: &'r ThreadPool,
    work: &'r Work,
    /// Of each case what ran in turns, if time is the limit.
    ran: Option<VecDeque<Tally>>,
    unasked: Unasked<'r>,
    last_words: PartialResults,
    /// A case failed, and the others are not to run.
    failed: bool,
}

impl Running<'_> {
    fn goes_on(&self) -> bool {
        !self.failed && (self.ran.is_some() || !self.work.is_stopped())
    }
}

/// What came of all scenarios.
struct Done {
    outcomes: Vec<ScenarioOutcome>,
    /// Whether the output is still read.
    read: bool,
    /// How many broken promises were told as they were found.
    untouched: u32,
    /// Whether a failure ended it.
    failed_fast: bool,
}

/// Runs the seeds of a case: all of them, or as many as ran before the interrupt.
fn all_seeds(
    scenario: &Scenario,
    case: &Case,
    settings: &RunOptions,
    work: &Work,
) -> Result<Tally, Failure> {
    let mut tally = Tally::of(case, &settings.seeds);
    let progress = || work.seed_done();
    loop {
        match run_block(scenario, case, settings, &mut tally, work.stop(), &progress) {
            Ok(0) | Err(Stopped::Interrupted) => return Ok(tally),
            Ok(_) => {}
            Err(why @ Stopped::NotDeterministic { .. }) => {
                return Err(Failure::stopped(scenario, case, why));
            }
        }
    }
}
