//! `run --charts`, `yield --svg` and `--png`: charts of what was run.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::checker::outcome::{CaseOutcome, ScenarioOutcome};
use crate::checker::{Belief, Evidence};
use crate::cli::cmd::case_of::case_of;
use crate::cli::failure::Failure;
use crate::cli::progress::Work;
use crate::reports::chart::{ChartError, Figure};
use crate::reports::run_charts::{MOST_PANELS, Waits, cut, fairness, nearness, waiting};
use crate::scenarios::{Case, Scenario, runner};

/// Waiting times are of so many seeds of each case at most: these run once more.
const SEEDS: u64 = 100;

/// The names of the charts of `run`.
const NAMES: [&str; 3] = ["waiting-times", "fairness", "nearness"];

/// A kind of picture.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Svg,
    Png,
}

impl Kind {
    /// Both, each with how the names of its files end.
    pub(super) const ALL: [(Self, &'static str); 2] = [(Self::Svg, "svg"), (Self::Png, "png")];
}

/// Draws a chart into a file.
///
/// # Errors
///
/// [`Failure`], if it cannot be drawn or written.
pub(super) fn draw(figure: &Figure, kind: Kind, path: &Path, work: &Work) -> Result<(), Failure> {
    let bytes = match kind {
        Kind::Svg => figure.svg().map(String::into_bytes),
        Kind::Png => figure.png(),
    };
    work.write(path, &bytes.map_err(drawing)?)
}

/// Draws charts into a folder, each as SVG and as PNG. What names the files.
///
/// # Errors
///
/// [`Failure`], if one cannot be drawn or written.
pub(super) fn draw_all(figures: &[Figure], folder: &Path, work: &Work) -> Result<String, Failure> {
    let mut said = String::from("\nCharts\n");
    for figure in figures {
        for (kind, path) in files(folder, &figure.name) {
            draw(figure, kind, &path, work)?;
            said.push_str(&format!("  {}\n", path.display()));
        }
    }
    Ok(said)
}

/// The files of a chart in a folder.
pub(super) fn files(folder: &Path, chart: &str) -> [(Kind, PathBuf); 2] {
    Kind::ALL.map(|(kind, end)| (kind, folder.join(format!("{chart}.{end}"))))
}

/// Why a chart is not there.
pub(super) fn drawing(error: ChartError) -> Failure {
    Failure::Chart(error.to_string())
}

/// Makes the folder of `run --charts`, and checks that the charts can be written.
///
/// # Errors
///
/// [`Failure`], if not.
pub(super) fn can_write(folder: &Path, work: &Work) -> Result<(), Failure> {
    super::shrink::make_folder_of("--charts", folder)?;
    for (_, path) in NAMES.iter().flat_map(|name| files(folder, name)) {
        work.can_write(&path)?;
    }
    Ok(())
}

/// The charts of what ran.
pub(super) fn of_outcomes(scenarios: &[Scenario], outcomes: &[ScenarioOutcome]) -> Vec<Figure> {
    let cases = outcomes.iter().flat_map(|outcome| &outcome.cases);
    let cases: Vec<&CaseOutcome> = cases.collect();
    of_cases(scenarios, outcomes, &cases, MOST_PANELS)
}

/// The charts of what ran. Those of waiting show so many of these cases at most.
pub(super) fn of_cases(
    scenarios: &[Scenario],
    outcomes: &[ScenarioOutcome],
    cases: &[&CaseOutcome],
    most: usize,
) -> Vec<Figure> {
    let all = cases.len();
    let version = format!("picklock {}", env!("CARGO_PKG_VERSION"));
    let shown = cases.iter().take(most);
    let several = outcomes.len() > 1;
    let waits: Vec<Waits> = shown
        .filter_map(|outcome| Some(waits(case_of(scenarios, outcome)?.1, outcome, several)))
        .collect();
    let seeds = waits.iter().map(|wait| wait.seeds).max().unwrap_or(0);
    let mut caption = vec![format!(
        "{}, the first {seeds} seeds of each case, {version}.",
        of_what(outcomes)
    )];
    caption.extend(cut(waits.len(), all, "case", "the first"));
    let most = cases.iter().map(|case| case.seeds).max().unwrap_or(0);
    let nearest = [format!(
        "{}, {most} seeds of each case, {version}.",
        of_what(outcomes)
    )];
    vec![
        waiting(&waits, &caption),
        fairness(&waits, &caption),
        nearness(outcomes, &nearest),
    ]
}

fn of_what(outcomes: &[ScenarioOutcome]) -> String {
    match outcomes {
        [only] => only.name.clone(),
        several => format!("{} scenarios", several.len()),
    }
}

/// What the acquisitions of some seeds of a case have waited.
fn waits(case: &Case, outcome: &CaseOutcome, several: bool) -> Waits {
    let ran = outcome.ran.iter();
    let seeds = ran.flat_map(|range| (range.from..range.to).step_by(range.step.max(1) as usize));
    let seeds: Vec<u64> = seeds.take(SEEDS as usize).collect();
    let each: Vec<Vec<(u64, u64)>> = seeds
        .par_iter()
        .map(|seed| {
            let simulated = runner::simulated(case, *seed);
            of_run(&Evidence::of(&simulated.run))
        })
        .collect();
    let (micros, overtaken) = each.into_iter().flatten().unzip();
    Waits {
        name: match several {
            true => format!("{}\n{}", outcome.scenario, outcome.case),
            false => outcome.case.clone(),
        },
        seeds: seeds.len() as u64,
        micros,
        overtaken,
    }
}

/// Of each acquisition of a run how long it waited, and how many others called later and had the lock sooner.
fn of_run(evidence: &Evidence<'_>) -> Vec<(u64, u64)> {
    let mut all: Vec<(usize, &Belief)> = evidence
        .beliefs
        .iter()
        .filter_map(|belief| Some((belief.asked?, belief)))
        .collect();
    all.sort_by_key(|(_, belief)| belief.acquired);
    let waited = all.iter().enumerate().map(|(place, (asked, belief))| {
        let before = all[..place].iter().rev();
        let meanwhile = before.take_while(|(_, other)| other.acquired > *asked);
        let overtaking = meanwhile.filter(|(later, other)| {
            later > asked
                && other.lock == belief.lock
                && other.by != belief.by
                && other.mode.excludes(belief.mode)
        });
        let micros = evidence.at(belief.acquired).micros() - evidence.at(*asked).micros();
        (micros, overtaking.count() as u64)
    });
    waited.collect()
}
