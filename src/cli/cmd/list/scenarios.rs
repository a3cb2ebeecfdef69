//! The scenarios that come with picklock.

use serde_json::json;

use super::as_json::ScenarioRow;
use super::filter::ListFilter;
use super::{Row, Table};
use crate::cli::failure::Failure;
use crate::scenarios::{Scenario, program};
use crate::sources;

/// The scenarios that the filter takes.
///
/// # Errors
///
/// [`Failure`], if the library has mistakes.
pub(super) fn scenarios(filter: &ListFilter) -> Result<Table, Failure> {
    filter.of.recipes()?;
    let mut scenarios = sources::library(&program::catalogue())?;
    scenarios.retain(|scenario| filter.takes_scenario(scenario));
    let rows = scenarios.into_iter().map(|scenario| {
        let cases = scenario.cases.iter().map(|case| case.name.clone());
        Row {
            all: json!(ScenarioRow {
                name: scenario.name.clone(),
                claim: scenario.claim.clone(),
                because: scenario.because.clone(),
                source: scenario.source.clone(),
                cases: cases.collect(),
            }),
            example: None,
            more: match filter.is_of_what_is_known() {
                true => known_of(&scenario),
                false => Vec::new(),
            },
            name: scenario.name,
            meaning: scenario.claim,
        }
    });
    Ok(Table {
        name: "scenarios",
        rows: rows.collect(),
    })
}

/// Cases and source, each on a line of its own.
fn known_of(scenario: &Scenario) -> Vec<String> {
    let cases = scenario.cases.iter().map(|case| case.name.as_str());
    let cases: Vec<&str> = cases.collect();
    let source = scenario.source.trim();
    let source = (!source.is_empty()).then(|| format!("source: {source}"));
    let cases = format!("cases: {}", cases.join(", "));
    [cases].into_iter().chain(source).collect()
}
