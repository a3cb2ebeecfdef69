//! Settings that are no mistake, and with which a lock is of little use.

use crate::services::supported;
use crate::{Case, Scenario};

/// Why the locks of a scenario are of little use, as sentences, each once: recipes do with such settings what the
/// original does.
pub fn warnings(scenario: &Scenario) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for warning in scenario.cases.iter().flat_map(of_case) {
        if !all.contains(&warning) {
            all.push(warning);
        }
    }
    all
}

fn of_case(case: &Case) -> Vec<String> {
    let service = &case.plan.service;
    (supported(service.kind()).warnings)(service)
}
