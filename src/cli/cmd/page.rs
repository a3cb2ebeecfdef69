//! `--html` of `run`, `replay`, `why`, and `hunt`: what was found as one page, with a diagram of each run that is worth
//! looking at, and charts.

mod charts;

use crate::checker::outcome::{CaseOutcome, ScenarioOutcome, Standing, Story};
use crate::cli::cmd::case_of::case_of;
use crate::cli::cmd::plan;
use crate::cli::cmd::traffic::traffic;
use crate::cli::failure::Failure;
use crate::reports::diagram::{Diagram, Scope, Strip};
use crate::reports::html::{DIAGRAM, Head, Page, PlanFile, Reasons, RunSection, fitting};
use crate::reports::words::count;
use crate::scenarios::shrink::file_name;
use crate::scenarios::{Case, Scenario, parse, program, runner, why};
use crate::sim::trace::TracedMessage;

/// A name for a page.
pub const EXAMPLE: &str = "report.html";

/// A diagram has at least so many bytes, however many there are.
const LEAST: usize = 60_000;

/// A run to be drawn: its case as it ran, and what was said.
struct Ran {
    case: Case,
    messages: Vec<TracedMessage>,
    plan: PlanFile,
}

/// A run that a page shows.
pub struct Shown {
    /// The case that it is of.
    pub case: Case,
    /// How it stands.
    pub standing: Standing,
    /// What to say about that, one line each.
    pub remarks: Vec<String>,
    /// Its story.
    pub story: Story,
}

/// The page about one run, and why it violates a promise if that was asked.
pub fn of_run(
    (scenario, case): (&Scenario, &Case),
    (standing, remarks): (Standing, &[String]),
    story: &Story,
    messages: &[TracedMessage],
    reasons: Option<Reasons>,
) -> String {
    let title = format!("{}, {}", scenario.name, case.name);
    let head = Head {
        title: &title,
        picklock: env!("CARGO_PKG_VERSION"),
        lead: &[],
        outcomes: &[],
        charts: &[],
    };
    let ran = Ran {
        case: case.clone(),
        messages: messages.to_vec(),
        plan: plan_of(scenario, case, story),
    };
    let mut page = Page::new(head);
    let mut section = section(scenario, case, (standing, remarks), story, &ran, DIAGRAM);
    if let Some(reasons) = reasons {
        section.explain(reasons);
    }
    page.add(&section);
    page.html(head)
}

/// The page about some runs of a scenario, under these paragraphs.
pub fn of_runs(scenario: &Scenario, title: &str, lead: &[String], runs: &[Shown]) -> String {
    let picklock = env!("CARGO_PKG_VERSION");
    let head = Head {
        title,
        picklock,
        lead,
        outcomes: &[],
        charts: &[],
    };
    let bytes = (DIAGRAM / runs.len().max(1)).max(LEAST);
    let mut page = Page::new(head);
    let fits = |run: &&Shown| {
        let ran = run_again(scenario, &run.case, &run.story);
        let stands = (run.standing, &run.remarks[..]);
        page.add(&section(
            scenario, &run.case, stands, &run.story, &ran, bytes,
        ))
    };
    let shown = runs.iter().take_while(fits).count();
    let left = count((runs.len() - shown) as u64, "run");
    let left = format!("{left} found have no room on this page; the terminal tells all.");
    let left = (shown < runs.len()).then_some(left);
    let lead: Vec<String> = lead.iter().cloned().chain(left).collect();
    page.html(Head {
        lead: &lead,
        ..head
    })
}

/// The page about all that ran: failures first, then what was to be violated, for as long as there is room.
///
/// # Errors
///
/// [`Failure`], if a chart cannot be drawn.
pub fn of_outcomes(
    scenarios: &[Scenario],
    outcomes: &[ScenarioOutcome],
) -> Result<String, Failure> {
    let cases = outcomes.iter().flat_map(|outcome| &outcome.cases);
    let mut cases: Vec<&CaseOutcome> = cases.collect();
    cases.sort_by_key(|case| std::cmp::Reverse(case.standing));
    let head = Head {
        title: "picklock report",
        picklock: env!("CARGO_PKG_VERSION"),
        lead: &[],
        outcomes,
        charts: &charts::of_outcomes(scenarios, outcomes, &charted(&cases))?,
    };
    let told = cases.iter();
    let told = told.filter_map(|case| Some((*case, case.story.as_deref()?)));
    let told: Vec<(&CaseOutcome, &Story)> = told.collect();
    let failed = told.iter().filter(|(case, _)| is_failure(case)).count();
    let bytes = (DIAGRAM / failed.max(1)).max(LEAST);
    let mut page = Page::new(head);
    for (outcome, story) in told {
        let Some((scenario, case)) = case_of(scenarios, outcome) else {
            continue;
        };
        let ran = run_again(scenario, case, story);
        let bytes = if is_failure(outcome) { bytes } else { LEAST };
        let shown = (outcome.standing, &[][..]);
        let section = RunSection {
            folded: !is_failure(outcome),
            ..section(scenario, case, shown, story, &ran, bytes)
        };
        if !page.add(&section) {
            break;
        }
    }
    Ok(page.html(head))
}

/// The cases that charts are about: those that failed, and all if none did.
fn charted<'c>(cases: &[&'c CaseOutcome]) -> Vec<&'c CaseOutcome> {
    let failed = cases.iter().filter(|case| is_failure(case)).copied();
    let failed: Vec<&CaseOutcome> = failed.collect();
    match failed.is_empty() {
        true => cases.to_vec(),
        false => failed,
    }
}

fn is_failure(outcome: &CaseOutcome) -> bool {
    matches!(outcome.standing, Standing::Fail | Standing::Broken)
}

fn section<'s>(
    scenario: &'s Scenario,
    case: &'s Case,
    (standing, remarks): (Standing, &[String]),
    story: &'s Story,
    ran: &Ran,
    bytes: usize,
) -> RunSection<'s> {
    let run_plan = ran.case.plan_for(story.seed);
    let traffic = traffic(&run_plan, &ran.messages);
    let causes = |event| why::causes(&run_plan, &story.history, event);
    let mut diagram = fitting(story, &traffic, bytes, &causes);
    let mut still = Diagram::of(story, &traffic, Scope::Essential, &|_| Vec::new());
    let strips = Strip::of_contenders(&story.history);
    still.add_strips(strips.clone());
    diagram.add_strips(strips);
    RunSection {
        scenario: &scenario.name,
        claim: &scenario.claim,
        case: &case.name,
        standing,
        remarks: remarks.to_vec(),
        story,
        diagram,
        still,
        reasons: None,
        plan: Some(ran.plan.clone()),
        folded: false,
    }
}

/// The run of a story once more, with its messages. If it is not the same run, there are none.
fn run_again(scenario: &Scenario, case: &Case, story: &Story) -> Ran {
    let small = story.reproduction.as_deref().and_then(|text| {
        let read = parse("reproduction", text, &program::catalogue());
        read.ok()?.cases.into_iter().next()
    });
    let (case, seed) = match small {
        Some(small) => (small, 0),
        None => (case.settled(story.seed).into_owned(), story.seed),
    };
    // A run that nothing could end has no hash: it is not run again.
    let messages = match story.hash {
        0 => Vec::new(),
        hash => {
            let (simulated, messages) = runner::traced(&case, seed);
            if simulated.hash == hash {
                messages
            } else {
                Vec::new()
            }
        }
    };
    Ran {
        plan: plan_of(scenario, &case, story),
        case,
        messages,
    }
}

/// The scenario file that shows the run of a story again.
fn plan_of(scenario: &Scenario, case: &Case, story: &Story) -> PlanFile {
    let about = story
        .violated
        .as_ref()
        .map_or("run", |(invariant, _)| invariant);
    let text = match &story.reproduction {
        Some(text) => text.clone(),
        None => plan::text(scenario, case, story.seed, &|_| story.hash),
    };
    PlanFile {
        name: format!("{}.toml", file_name(scenario, case, about)),
        text,
    }
}
