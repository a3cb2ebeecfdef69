//! `picklock hunt`: aims faults at a lock until it breaks.

mod head;
mod page;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::checker::outcome::Story;
use crate::reports::story::story;
use crate::reports::timeline::Detail;
use crate::reports::words::count;
use crate::scenarios::replay_command::{KEPT_IN, job, quoted};
use crate::scenarios::runner::{self, wanted};
use crate::scenarios::search::findings::{Finding, shrunk};
use crate::scenarios::search::hunt::{Bounds, BrokenRun, Hunted, hunt};
use crate::scenarios::search::portfolio::SearchStrategy;
use crate::scenarios::shrink::{self, Unasked, broken_off, found_by_hunt};
use crate::scenarios::{Case, Scenario, Want, program, units, write};
use crate::sim::plan::FaultKind;
use crate::sim::watchdog::{Job, Named, Replay};

use super::page::{EXAMPLE, of_runs};
use super::select;
use super::shrink::{Target, as_a_file, make_folder, recorded, save};
use crate::cli::console::{self, OutputArgs};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::progress::Work;
use crate::cli::seeds;
use crate::cli::threads;
use head::head;

/// No hunt has more runs.
const MOST_RUNS: u64 = 1_000_000_000;

const EXAMPLES: &str = "\
Examples:
  picklock hunt zookeeper/herd --case zk-same-name
  picklock hunt my-locks/mine.toml --kind pause --kind cut --runs 100000 --out found/
  picklock hunt my-locks/mine.toml --time 60s         as many runs as fit
  picklock hunt my-locks/mine.toml --html found.html  and a page with a diagram of each finding

Ways to search share the runs. `aimed`: a run without faults teaches which moments there are, and
faults are tried at them, the most promising first. `nearer`: plans like those that came nearest to
an overlap. `drawn`: faults drawn for each run, with each strategy of chance in turn. The
faults of the file are left out.

Runs that break a promise are told apart by their cause: which faults they need and what those
struck, how an owner lost the lock, and how large the overlap is. The first run of each cause is
shrunk, told, and, with --out, kept in a file of its own; the others are counted.

Ctrl-C ends the search, and what was found by then is told and kept as it was found.

Exit codes: 0 if nothing broke but what the scenario expects to, 1 if something else did, 5 if a run
broke off: it panicked, or would not end. It is kept, too.";

/// Aim faults at a lock until it breaks, and keep what breaks it as scenario files.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Hunt {
    /// A scenario file, or the name of a scenario that comes with picklock.
    #[arg(value_name = "SCENARIO")]
    scenario: PathBuf,
    /// The case; may be left out if there is only one.
    #[arg(long, value_name = "CASE")]
    case: Option<String>,
    /// Only faults of this kind; may be given several times. Two or three are also tried together.
    #[arg(long = "kind", value_name = "FAULT")]
    kinds: Vec<String>,
    /// Only this way to search: `aimed`, `nearer`, or `drawn`; may be given several times.
    #[arg(long = "way", value_name = "WAY")]
    ways: Vec<String>,
    /// The first seed.
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = seeds::one, allow_hyphen_values = true)]
    seed: u64,
    /// After how many runs to give up [default: 10000, or as many as fit with --time].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_RUNS))]
    runs: Option<u64>,
    /// Search for so long, such as 60s or 5m.
    #[arg(long, value_name = "TIME", value_parser = super::seed_args::time)]
    time: Option<Duration>,
    /// How many findings of each promise to keep at most.
    #[arg(long, value_name = "N", default_value_t = Bounds::FINDINGS as u64,
        value_parser = clap::value_parser!(u64).range(1..=1_000))]
    findings: u64,
    /// How many threads to use; as many as the machine runs at once, if not given. What is found does not depend on it.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=threads::MOST))]
    jobs: Option<u64>,
    /// The folder to write to: one file for each finding. It is made if it is not there. Without it, nothing is
    /// written, and each finding is shown as a scenario file below its story.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write a page to this file: the sentence, the diagram, and the plan of each run that was found.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Hunt {
    /// Hunts, and reports what was found.
    ///
    /// # Errors
    ///
    /// [`Failure`], if there is no such case or fault, or a file could not be written.
    pub fn execute(self, look: &OutputArgs) -> Result<u8, Failure> {
        let (scenario, case) = select::case(&self.scenario, self.case.as_deref())?;
        let (kinds, ways) = (self.kinds(&case)?, self.ways()?);
        let pool = threads::pool(self.jobs)?;
        let work = Work::hunting(self.limit(), self.time);
        let folder_is_new = self.prepare(&work)?;
        work.at(format!("{} {}", scenario.name, case.name));
        let job = Arc::new(self.job(&scenario, &case));
        let hunted = pool.install(|| {
            let _named = Named::new(&job, self.seed);
            let with = (&kinds[..], &ways[..]);
            let progress = || work.run_done();
            hunt(
                &case,
                with,
                self.seed,
                self.bounds(),
                work.stop(),
                &progress,
            )
        });
        let told = |case: &str, seed, runs| work.shrinks(case, seed, runs);
        let mut unasked = Unasked::of_found(hunted.found.len(), work.stop(), &told);
        let findings = pool.install(|| shrunk(&hunted.found, self.seed, &mut unasked));
        let said = self.describe(&case, &hunted, &findings, &work);
        let mut text = look.fitted(&(console::heading(&scenario) + &said));
        let mut shown = Vec::new();
        let mut code = exit::AS_EXPECTED;
        for finding in &findings {
            let invariant = finding.shrunk.invariant;
            if !matches!(wanted(&case, invariant), Some(Want::Violated { .. })) {
                code = exit::NOT_AS_EXPECTED;
            }
            let (said, told) = self.keep(&scenario, finding, &hunted, &work, look)?;
            text.push_str(&said);
            shown.push(page::of_finding(&case, finding, told));
        }
        if let Some(broken) = &hunted.broken {
            code = exit::BROKEN;
            let (said, told) = self.keep_broken(&scenario, broken, &work, look)?;
            text.push_str(&said);
            shown.push(page::of_broken(broken, told));
        }
        if let Some(path) = &self.html {
            let title = format!("hunt: {}, {}", scenario.name, case.name);
            work.write(
                path,
                of_runs(&scenario, &title, &page::lead(&said), &shown).as_bytes(),
            )?;
        }
        work.end();
        if let (Some(out), true) = (&self.out, folder_is_new) {
            // Only if nothing was found: a folder with something in it stays.
            let _ = std::fs::remove_dir(out);
        }
        console::shown(console::print(&text))?;
        match work.stop().load(Ordering::Relaxed) {
            true => Ok(exit::INTERRUPTED),
            false => Ok(code),
        }
    }

    /// What there is to say above the stories.
    fn describe(&self, case: &Case, hunted: &Hunted, found: &[Finding<'_>], work: &Work) -> String {
        let stopped = work.stop().load(Ordering::Relaxed).then(|| {
            let (runs, program) = (count(hunted.runs, "run"), program::command());
            format!("  stopped after {runs}; `{program} shrink` makes smaller what was found\n")
        });
        let stopped = stopped.unwrap_or_default();
        stopped + &self.same_again(hunted) + &head(case, hunted, found)
    }

    /// What the runs are called while they run. Which plan comes when depends on what came before: all of it comes
    /// again.
    fn job(&self, scenario: &Scenario, case: &Case) -> Job {
        let runs = match self.time {
            None => self.bounds().runs,
            // However long it takes, this run comes again.
            Some(_) => MOST_RUNS,
        };
        Job {
            replay: Replay::Command(self.command(scenario, case, runs)),
            ..job(scenario, case)
        }
    }

    /// The command that has the same runs, so many of them.
    fn command(&self, scenario: &Scenario, case: &Case, runs: u64) -> String {
        let (path, name) = (quoted(&scenario.path), quoted(&case.name));
        let (program, first) = (program::command(), self.seed);
        let mut command =
            format!("{program} hunt {path} --case {name} --seed {first} --runs {runs}");
        for (option, names) in [("--kind", &self.kinds), ("--way", &self.ways)] {
            for name in names {
                command.push_str(&format!(" {option} {}", quoted(name)));
            }
        }
        if self.findings != Bounds::FINDINGS as u64 {
            command.push_str(&format!(" --findings {}", self.findings));
        }
        command
    }

    /// After how many runs it ends, if not when the time is over.
    fn limit(&self) -> Option<u64> {
        match self.time {
            Some(_) => self.runs,
            None => Some(self.runs.unwrap_or(10_000)),
        }
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            runs: self.limit().unwrap_or(MOST_RUNS),
            time: self.time,
            findings: usize::try_from(self.findings).unwrap_or(usize::MAX),
        }
    }

    /// How many runs fitted into the time, and what does the same on any machine.
    fn same_again(&self, hunted: &Hunted) -> String {
        let Some(time) = self.time else {
            return String::new();
        };
        let (runs, time) = (count(hunted.runs, "run"), units::write_duration(time));
        let mut options = format!("--runs {} --seed {}", hunted.runs, self.seed);
        if self.findings != Bounds::FINDINGS as u64 {
            options.push_str(&format!(" --findings {}", self.findings));
        }
        format!("  {runs}; the time was {time}. The same again on any machine: {options}\n")
    }

    /// Sees to it that what is found can be written down, before the search and not after hours of it. Answers
    /// whether the folder had to be made.
    fn prepare(&self, work: &Work) -> Result<bool, Failure> {
        if let Some(path) = &self.html {
            work.can_write_report(path, "--html", EXAMPLE)?;
        }
        let Some(out) = &self.out else {
            return Ok(false);
        };
        let is_new = !out.exists();
        make_folder(out)?;
        work.can_write(&out.join("found.toml"))?;
        Ok(is_new)
    }

    fn kinds(&self, case: &Case) -> Result<Vec<FaultKind>, Failure> {
        if self.kinds.is_empty() {
            let mut kinds = FaultKind::unasked();
            kinds.retain(|kind| kind.is_outlived(&case.plan.service));
            return Ok(kinds);
        }
        let names: Vec<&str> = FaultKind::ALL.iter().map(|kind| kind.name()).collect();
        let service = &case.plan.service;
        let service = match &case.open {
            Some(open) => open.widest(service),
            None => service.clone(),
        };
        let kinds = self.kinds.iter().map(|name| {
            let mut all = FaultKind::ALL.iter().copied();
            let Some(kind) = all.find(|kind| kind.name() == name) else {
                return Err(Failure::unknown("fault", name, &names));
            };
            if !kind.can_be_tried(&service) {
                let problem = format!("there is nothing that `{name}` could strike in this case");
                let program = program::command();
                let hint = format!("`{program} list faults` says what each strikes");
                return Err(Failure::usage(problem, [hint]));
            }
            Ok(kind)
        });
        kinds.collect()
    }

    fn ways(&self) -> Result<Vec<SearchStrategy>, Failure> {
        if self.ways.is_empty() {
            return Ok(SearchStrategy::ALL.to_vec());
        }
        let mut ways = Vec::new();
        for name in &self.ways {
            let named = SearchStrategy::named(name);
            if named.is_empty() {
                let mut names = SearchStrategy::ALL.map(SearchStrategy::name).to_vec();
                names.dedup();
                return Err(Failure::unknown("way", name, &names));
            }
            ways.extend(
                named
                    .into_iter()
                    .filter(|way| !ways.contains(way))
                    .collect::<Vec<_>>(),
            );
        }
        Ok(ways)
    }

    /// Writes down a run that broke off, and tells its story.
    fn keep_broken(
        &self,
        scenario: &Scenario,
        broken: &BrokenRun,
        work: &Work,
        look: &OutputArgs,
    ) -> Result<(String, Story), Failure> {
        let case = &broken.case;
        let outcome = runner::judge(case, broken.seed, &broken.simulated);
        let simulated = broken.simulated.clone();
        let mut told = runner::story(scenario, case, simulated, &outcome, None);
        let small = broken_off(scenario, self.seed, broken);
        told.reproduction = Some(write(&small, &small.cases[0]));
        let name = shrink::file_name(scenario, case, "broken");
        let shown = match &self.out {
            None => as_a_file(&small),
            Some(out) => {
                let target = Target::Folder(out.join(format!("{name}.toml")));
                save(small, target, work, &mut told)?;
                String::new()
            }
        };
        let story = look.fitted(&story(&told, Detail::Essential, &look.stdout()));
        Ok((format!("{story}{shown}\n"), told))
    }

    /// Writes a finding down, and tells its story.
    fn keep(
        &self,
        scenario: &Scenario,
        finding: &Finding<'_>,
        hunted: &Hunted,
        work: &Work,
        look: &OutputArgs,
    ) -> Result<(String, Story), Failure> {
        let (case, shrunk) = (&finding.found.case, &finding.shrunk);
        let small = found_by_hunt(scenario, case, self.seed, shrunk);
        let mut told = shrink::story(scenario, case, self.seed, shrunk);
        if let Some(smaller) = &mut told.smaller {
            smaller.sizes = shrink::sizes_unasked(shrunk);
        }
        let file = write(&small, &small.cases[0]);
        told.reproduction = told.reproduction.map(|_| file);
        told.why = None;
        let mut why = None;
        let shown = match &self.out {
            None => {
                // Chance has found it: the same hunt finds it again.
                told.replay = self.command(scenario, case, hunted.runs);
                if let Some(smaller) = &mut told.smaller {
                    smaller.keep = Some(format!("{} --out {KEPT_IN}", told.replay));
                }
                as_a_file(&small)
            }
            Some(out) => {
                let file = out.join(format!("{}.toml", small.name));
                let saved = save(small, Target::Folder(file), work, &mut told)?;
                why = Some(recorded(&saved).why(shrunk.invariant));
                String::new()
            }
        };
        let story = look.fitted(&story(&told, Detail::Essential, &look.stdout()));
        told.why = why;
        Ok((format!("{story}{shown}\n"), told))
    }
}
