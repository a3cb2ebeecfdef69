//! Algorithms by classes of faults: a table, if scenarios of the matrix are among what ran.

use picklock_checker::outcome::{CaseOutcome, ScenarioOutcome};

use super::section::class;
use super::summary::Link;
use crate::escape::escaped;
use crate::terminal::verdict;

/// How the names of these scenarios begin.
const FOLDER: &str = "matrix/";

/// The table; nothing, if there are no such scenarios.
pub(super) fn matrix(outcomes: &[ScenarioOutcome], link: &Link<'_>) -> String {
    let columns = outcomes.iter().filter_map(|outcome| {
        let class = outcome.name.strip_prefix(FOLDER)?;
        Some((class, outcome))
    });
    let columns: Vec<(&str, &ScenarioOutcome)> = columns.collect();
    if columns.is_empty() {
        return String::new();
    }
    let mut algorithms: Vec<&str> = Vec::new();
    for case in columns.iter().flat_map(|(_, outcome)| &outcome.cases) {
        if !algorithms.contains(&case.case.as_str()) {
            algorithms.push(&case.case);
        }
    }
    let heads = columns
        .iter()
        .map(|(class, _)| format!("<th scope=\"col\">{}</th>", escaped(class)));
    let heads: String = heads.collect();
    let row = |algorithm: &&str| {
        let cells = columns.iter().map(|(_, outcome)| {
            let case = outcome.cases.iter().find(|case| case.case == *algorithm);
            case.map_or_else(|| "<td>-</td>".to_owned(), |case| cell(case, link))
        });
        let cells: String = cells.collect();
        format!(
            "<tr><th scope=\"row\">{}</th>{cells}</tr>\n",
            escaped(algorithm)
        )
    };
    let rows: String = algorithms.iter().map(row).collect();
    format!(
        "<section id=\"matrix\">\n<h2>Algorithms by classes of faults</h2>\n<p class=\"count\">A promise that was \
         broken stands with the number of seeds that break it.</p>\n<div class=\"wide\">\
         <table class=\"figures matrix\">\n\
         <thead><tr><th></th>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n</section>\n"
    )
}

/// What was broken, and else how the case stands.
fn cell(case: &CaseOutcome, link: &Link<'_>) -> String {
    let broken = case.violations.iter().map(|violation| {
        let (invariant, seeds) = (escaped(&violation.invariant), violation.seeds);
        format!("{invariant} {seeds}/{}", case.seeds)
    });
    let broken: Vec<String> = broken.collect();
    let (word, class) = (verdict(case.standing), class(case.standing));
    let mut text = match broken.is_empty() {
        true => format!("<span class=\"verdict {class}\">{word}</span>"),
        false => broken.join("<br>"),
    };
    if let Some(number) = link(&case.scenario, &case.case) {
        text = format!("<a href=\"#run-{number}\">{text}</a>");
    }
    format!("<td>{text}</td>")
}
