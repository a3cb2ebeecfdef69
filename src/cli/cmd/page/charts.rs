//! The charts of a page: waiting times, fairness, nearness, and the herds of the algorithms that ran.

use rayon::prelude::*;

use crate::algorithms::Recipe;
use crate::checker::outcome::{CaseOutcome, ScenarioOutcome};
use crate::cli::cmd::case_of::case_of;
use crate::cli::cmd::charts;
use crate::cli::cmd::herd::measure::{is_measured, measure};
use crate::cli::failure::Failure;
use crate::reports::chart::Figure;
use crate::reports::herd::HerdRow;
use crate::reports::herd::chart::{Chart, parameters};
use crate::reports::run_charts::cut;
use crate::scenarios::Scenario;
use crate::scenarios::herd::Experiment;
use crate::sim::broken::caught;

/// As many lines as a chart can tell apart without panels.
const MOST: usize = 7;
/// With how many contenders a herd is measured.
const CONTENDERS: [u32; 3] = [11, 51, 101];
/// What any of them needs, many times over: a lock that never lets go must end, too.
const EVENTS: u64 = 1_000_000;

/// The charts of what ran, as SVG. Of more cases than fit, the first of these are shown.
///
/// # Errors
///
/// [`Failure`], if one cannot be drawn.
pub(super) fn of_outcomes(
    scenarios: &[Scenario],
    outcomes: &[ScenarioOutcome],
    cases: &[&CaseOutcome],
) -> Result<Vec<String>, Failure> {
    let mut figures = charts::of_cases(scenarios, outcomes, cases, MOST);
    figures.retain(|figure| !figure.series.is_empty());
    figures.extend(herds(&algorithms(scenarios, cases)));
    let drawn = figures
        .iter()
        .map(|figure| figure.inline().map_err(charts::drawing));
    drawn.collect()
}

/// The algorithms of these cases whose herds can be measured, each once.
fn algorithms(scenarios: &[Scenario], cases: &[&CaseOutcome]) -> Vec<Recipe> {
    let mut all: Vec<Recipe> = Vec::new();
    for case in cases {
        let recipe = case_of(scenarios, case).map(|(_, case)| case.algorithm);
        let is_new = |own: &Recipe| is_measured(own) && all.iter().all(|old| old.name != own.name);
        all.extend(recipe.filter(is_new));
    }
    all
}

/// The charts of their herds that say most: which contenders a release wakes, and how long it takes.
fn herds(algorithms: &[Recipe]) -> Vec<Figure> {
    let shown = &algorithms[..algorithms.len().min(MOST)];
    let experiments: Vec<Experiment> = shown
        .iter()
        .flat_map(|recipe| CONTENDERS.map(|contenders| Experiment::of(*recipe, contenders)))
        .collect();
    let measured = experiments.par_iter().filter_map(|experiment| {
        let experiment = Experiment {
            event_budget: EVENTS,
            ..*experiment
        };
        // What breaks off, or never drains, is reported with the cases.
        caught(|| measure(&experiment)).ok()?.ok()
    });
    let rows: Vec<HerdRow> = measured.collect();
    let version = format!("picklock {}", env!("CARGO_PKG_VERSION"));
    let mut said = parameters(&rows, &["seed 0".to_owned(), version]);
    if let Some(cut) = cut(shown.len(), algorithms.len(), "algorithm", "the first") {
        said.push_str(&format!(" {cut}"));
    }
    let figures = [Chart::Notifications, Chart::Handover].map(|chart| chart.figure(&rows, &said));
    figures
        .into_iter()
        .filter(|figure| !figure.series.is_empty())
        .collect()
}
