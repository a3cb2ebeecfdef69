//! What is reported of the cases that are done when the watchdog ends the program in the middle of another.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::checker::History;
use crate::checker::outcome::{
    Breakage, CaseLocation, CaseOutcome, Finding, ScenarioOutcome, Standing, Story,
};
use crate::reports::style::Style;
use crate::reports::words::count;
use crate::reports::{files, json, summary, terminal};
use crate::scenarios::Scenario;
use crate::sim::watchdog::{Job, Stuck};
use crate::watchdog;

use super::report_args::ReportArgs;
use crate::cli::console;

/// The cases that are done. The watchdog knows of them, too.
pub struct PartialResults(Arc<Mutex<Results>>);

struct Results {
    /// Of all scenarios that were begun.
    outcomes: Vec<ScenarioOutcome>,
    /// How many of these have been shown.
    shown: usize,
    /// How many cases there are.
    cases: usize,
    json: Option<PathBuf>,
    reports: ReportArgs,
    style: Style,
}

impl PartialResults {
    /// None yet. The results go to this file, too, if one is given, and into these reports.
    pub fn begin(
        scenarios: &[Scenario],
        json: Option<&Path>,
        reports: &ReportArgs,
        style: Style,
    ) -> Self {
        let told = Results {
            outcomes: Vec::new(),
            shown: 0,
            cases: scenarios.iter().map(|scenario| scenario.cases.len()).sum(),
            json: json.map(Path::to_owned),
            reports: reports.clone(),
            style,
        };
        let told = Arc::new(Mutex::new(told));
        let known = Arc::clone(&told);
        watchdog::before_the_end(move |stuck| lock(&known).report(stuck));
        Self(told)
    }

    /// The next scenario is begun.
    pub fn scenario(&self, scenario: &Scenario) {
        lock(&self.0).outcomes.push(ScenarioOutcome {
            name: scenario.name.clone(),
            claim: scenario.claim.clone(),
            cases: Vec::new(),
        });
    }

    /// A case of it is done.
    pub fn case(&self, outcome: &CaseOutcome) {
        if let Some(last) = lock(&self.0).outcomes.last_mut() {
            last.cases.push(outcome.clone());
        }
    }

    /// All scenarios so far have been shown, as far as the output is read.
    pub fn shown(&self) {
        let mut told = lock(&self.0);
        told.shown = told.outcomes.len();
    }
}

fn lock(told: &Mutex<Results>) -> MutexGuard<'_, Results> {
    told.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Results {
    fn report(&mut self, stuck: &Stuck) {
        if let Some((job, seed)) = &stuck.run {
            let case = broken(job, *seed, stuck);
            match self.outcomes.last_mut() {
                Some(last) if last.name == job.scenario => last.cases.push(case),
                // Where time is the limit, all cases run in turns, and none is done before all are.
                Some(_) | None => self.outcomes.push(ScenarioOutcome {
                    name: job.scenario.clone(),
                    claim: String::new(),
                    cases: vec![case],
                }),
            }
        }
        let done = self.outcomes.iter().map(|outcome| outcome.cases.len());
        let left = self.cases.saturating_sub(done.sum()) as u64;
        let unshown = self.outcomes.iter().skip(self.shown);
        let mut text: String = unshown
            .map(|outcome| terminal::scenario(outcome, &self.style) + "\n")
            .collect();
        text.push_str(&summary::summary(
            &self.outcomes,
            watchdog::EXIT,
            &self.style,
        ));
        if left > 0 {
            text.push_str(&format!("  {} did not run.\n", count(left, "other case")));
        }
        // A failure to write must not change the exit code of the watchdog.
        let _ = console::print(&text);
        if let Some(path) = &self.json {
            let text = json::results(&self.outcomes, env!("CARGO_PKG_VERSION"));
            if let Err(error) = files::write_whole(path, text.as_bytes()) {
                console::print_message(&format!("picklock: {error}\n"));
            }
        }
        if let Err(error) = self
            .reports
            .write_at_the_end(&self.outcomes, watchdog::EXIT)
        {
            console::print_message(&format!("picklock: {error}\n"));
        }
    }
}

/// The outcome of the case that is stuck with this seed. What its other seeds came to is not known.
fn broken(job: &Job, seed: u64, stuck: &Stuck) -> CaseOutcome {
    let why = watchdog::why(stuck);
    let history = History {
        broken: Some(why.clone()),
        ..History::default()
    };
    let story = Story {
        seed,
        hash: 0,
        violated: None,
        also: Vec::new(),
        history,
        replay: job.replay(seed),
        why: None,
        smaller: None,
        reproduction: None,
    };
    CaseOutcome {
        scenario: job.scenario.clone(),
        path: job.scenario.clone(),
        case: job.case.clone(),
        written: CaseLocation::default(),
        algorithm: job.case.clone(),
        standing: Standing::Broken,
        findings: vec![Finding {
            name: "broken".to_owned(),
            standing: Standing::Broken,
            line: format!("broken at seed {seed}: {why}"),
            can_tell: None,
        }],
        violations: Vec::new(),
        broken: Some(Breakage {
            seed,
            hash: 0,
            seeds: 1,
            why,
        }),
        seeds: 1,
        seeds_at_most: None,
        undecided: Default::default(),
        reached: Default::default(),
        nearest: Default::default(),
        ran: Vec::new(),
        hash: 0,
        metrics: Default::default(),
        took: stuck.length,
        story: Some(Box::new(story)),
    }
}
