//! `picklock merge`: the shards of a run joined into the results of the whole.

use std::path::{Path, PathBuf};

use crate::checker::outcome::{ScenarioOutcome, Standing};
use crate::reports::{json, summary};
use crate::scenarios::shard_file::{self, ShardFile};
use crate::scenarios::shrink::{Unasked, conclude};
use crate::scenarios::{Scenario, coverage, program};

use rayon::ThreadPool;

use super::left_out::describe_fewer_seeds;
use super::page;
use super::report_args::ReportArgs;
use super::verbosity::{Among, VerbosityArgs};
use crate::cli::console::{self, OutputArgs};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::progress::Work;
use crate::cli::threads;

const EXAMPLES: &str = "\
Examples:
  picklock run --seeds 10000 --shard 1/2 --json 1.json    on one machine
  picklock run --seeds 10000 --shard 2/2 --json 2.json    on another
  picklock merge 1.json 2.json --json results.json        as if it had been one
  picklock merge 1.json 2.json --html report.html         and a page to look at what failed

The files hold the scenarios: nothing else is needed. Runs that are reported run again here, with their \
seeds, because the file of a shard does not say what happened in them.";

/// Join what all shards of a run wrote, and say whether everything comes as the scenarios expect it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Merge {
    /// What `picklock run --shard I/N --json FILE` wrote, of every shard once.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Write the results to this file, as JSON: those of a run that was not split.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a page to this file: all verdicts, and a diagram of each run that fails, or is to fail, for as long as
    /// there is room. These runs run again, with their seeds.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Report a failure as it was found, without a search for a smaller run that fails alike.
    #[arg(long)]
    no_shrink: bool,
    /// How many threads to use; as many as the machine runs at once, if not given.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=threads::MOST))]
    jobs: Option<u64>,
    #[command(flatten)]
    reports: ReportArgs,
    #[command(flatten)]
    amount: VerbosityArgs,
}

impl Merge {
    /// Joins them. The exit code says how the whole run stands.
    ///
    /// # Errors
    ///
    /// [`Failure`], if they are not all shards of one run, each once, or the results could not be reported.
    pub fn execute(self, look: &OutputArgs) -> Result<u8, Failure> {
        let mut files = Vec::new();
        for path in &self.files {
            files.push((path.display().to_string(), read(path)?));
        }
        let name = files
            .first()
            .map(|(name, _)| name.clone())
            .unwrap_or_default();
        let joined = shard_file::join(files)
            .map_err(|misfit| Failure::usage(misfit.problem, [misfit.hint]))?;
        let work = Work::in_parts();
        if let Some(path) = &self.json {
            work.can_write_results(path)?;
        }
        if let Some(path) = &self.html {
            work.can_write_report(path, "--html", page::EXAMPLE)?;
        }
        self.reports.can_write(&work)?;
        let scenarios = scenarios(&joined, &name)?;
        // A simulation runs on threads that do nothing else.
        let pool = threads::pool(self.jobs)?;
        let outcomes = self.outcomes(&joined, &scenarios, (&pool, &work));
        work.end();
        let vacuous = coverage::vacuous(&scenarios, &outcomes);
        let cases = outcomes.iter().flat_map(|outcome| &outcome.cases);
        let unsaturated = vacuous.iter().any(|folder| !folder.needs_more_seeds());
        let unsaturated = unsaturated.then_some(Standing::Fail);
        let code = exit::of(cases.map(|case| case.standing).chain(unsaturated));
        let mut text = String::new();
        let among = Among::names(outcomes.iter().map(|outcome| outcome.name.as_str()));
        for outcome in &outcomes {
            text.extend(self.amount.describe(outcome, among, look));
        }
        text.push_str(&summary::summary(&outcomes, code, &look.stdout()));
        text.push_str(&coverage::describe(&vacuous));
        text.push_str(&describe_fewer_seeds(&outcomes));
        console::shown(work.print(&self.reports.output(look.fitted(&text))))?;
        if let Some(path) = &self.json {
            work.write(path, json::results(&outcomes, &joined.picklock).as_bytes())?;
        }
        if let Some(path) = &self.html {
            let page = pool.install(|| page::of_outcomes(&scenarios, &outcomes))?;
            work.write(path, page.as_bytes())?;
        }
        self.reports.write(&outcomes, &vacuous, code, &work)?;
        Ok(code)
    }

    /// The outcomes of the whole, of scenarios with one case each. Cases that follow each other in one scenario belong
    /// together.
    fn outcomes(
        &self,
        joined: &ShardFile,
        scenarios: &[Scenario],
        (pool, work): (&ThreadPool, &Work),
    ) -> Vec<ScenarioOutcome> {
        let told = |case: &str, seed, runs| work.shrinks(case, seed, runs);
        let mut unasked = Unasked::new(work.stop(), &told);
        let mut outcomes: Vec<(&str, ScenarioOutcome)> = Vec::new();
        for (ran, scenario) in joined.cases.iter().zip(scenarios) {
            for case in &scenario.cases {
                let unasked = (!self.no_shrink).then_some(&mut unasked);
                let outcome = pool.install(|| conclude(scenario, case, &ran.tally, unasked));
                match outcomes.last_mut() {
                    Some((path, last)) if *path == ran.path => last.cases.push(outcome),
                    Some(_) | None => outcomes.push((
                        &ran.path,
                        ScenarioOutcome {
                            name: scenario.name.clone(),
                            claim: scenario.claim.clone(),
                            cases: vec![outcome],
                        },
                    )),
                }
            }
        }
        outcomes.into_iter().map(|(_, outcome)| outcome).collect()
    }
}

/// The scenarios of all cases, as their texts in the file have them.
fn scenarios(joined: &ShardFile, name: &str) -> Result<Vec<Scenario>, Failure> {
    let read = joined.cases.iter().map(|ran| {
        ran.scenario().map_err(|why| {
            let hint = "run the shards again with this picklock".to_owned();
            Failure::usage(format!("{name}: {}", why.0), [hint])
        })
    });
    read.collect()
}

fn read(path: &Path) -> Result<ShardFile, Failure> {
    let (shown, program) = (path.display(), program::command());
    let bytes = std::fs::read(path).map_err(|error| {
        let hint = format!("name what `{program} run --shard I/N --json FILE` wrote");
        Failure::usage(format!("{shown}: this cannot be read: {error}"), [hint])
    })?;
    ShardFile::read(&bytes, env!("CARGO_PKG_VERSION")).map_err(|why| {
        let hint =
            format!("name what `{program} run --shard I/N --json FILE` of this picklock wrote");
        Failure::usage(format!("{shown}: {}", why.0), [hint])
    })
}
