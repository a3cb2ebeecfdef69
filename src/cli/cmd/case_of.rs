//! Which case an outcome is of.

use crate::checker::outcome::CaseOutcome;
use crate::scenarios::{Case, Scenario};

/// The case of an outcome, and its scenario. What is merged from shards has a scenario for each case.
pub(super) fn case_of<'s>(
    scenarios: &'s [Scenario],
    outcome: &CaseOutcome,
) -> Option<(&'s Scenario, &'s Case)> {
    let mut all = scenarios.iter().filter(|own| own.name == outcome.scenario);
    all.find_map(|scenario| {
        let case = scenario.cases.iter().find(|own| own.name == outcome.case)?;
        Some((scenario, case))
    })
}
