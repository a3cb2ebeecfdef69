//! The algorithms, and those of a family or a kind with all that is known of each.

use serde_json::json;

use super::as_json::{AlgorithmRow, HazardRow};
use super::filter::ListFilter;
use super::{Row, Table};
use crate::algorithms::hazards::{self, Hazard};
use crate::algorithms::{Claim, FaultClass, Recipe};
use crate::cli::failure::Failure;

/// The algorithms that the filter takes.
///
/// # Errors
///
/// [`Failure`], if there is no such kind.
pub(super) fn algorithms(filter: &ListFilter) -> Result<Table, Failure> {
    let mut taken = filter.of.recipes()?;
    taken.retain(|recipe| filter.takes_algorithm(recipe));
    let rows = taken.into_iter().map(|recipe| {
        let claims = recipe.claims.iter().map(|claim| claim.invariant());
        let claims: Vec<_> = claims.collect();
        let flaw = recipe
            .flaw
            .map(|flaw| format!(" Flaw: {}.", flaw.trim_end_matches('.')));
        Row {
            name: recipe.name.to_owned(),
            meaning: recipe.summary.to_owned() + &flaw.unwrap_or_default(),
            example: None,
            more: match filter.is_of_what_is_known() {
                true => known_of(recipe),
                false => Vec::new(),
            },
            all: json!(AlgorithmRow {
                name: recipe.name,
                summary: recipe.summary,
                flaw: recipe.flaw,
                source: recipe.source,
                claims,
                hazards: hazards::of(recipe).map(hazard_row).collect(),
                kind: recipe.ownership.kind.name(),
                cancellable: recipe.cancellable,
                revocable: recipe.revoke_message().is_some(),
                shareable: recipe.shareable,
            }),
        }
    });
    Ok(Table {
        name: "algorithms",
        rows: rows.collect(),
    })
}

/// Kind, order, claims, and source, each on a line of its own.
pub(in crate::cli::cmd) fn known_of(recipe: &Recipe) -> Vec<String> {
    let claims = recipe.claims.iter().map(|claim| claim.invariant());
    let claims: Vec<_> = claims.collect();
    let order = match recipe.claims.contains(&Claim::Fifo) {
        true => "first come, first served",
        false => "none",
    };
    let mut known = vec![
        format!("kind: {}; order: {order}", recipe.ownership.kind.name()),
        format!("claims: {}", claims.join(", ")),
    ];
    known.extend(hazards::of(recipe).map(hazard));
    known.push(format!("source: {}", recipe.source));
    known
}

/// `not under crash, pause: mutual-exclusion (zookeeper/waiter-death)`
fn hazard(hazard: &Hazard) -> String {
    let under = match hazard.under.contains(&FaultClass::None) {
        true => "even if nothing breaks".to_owned(),
        false => {
            let classes: Vec<_> = hazard.under.iter().map(|class| class.name()).collect();
            format!("under {}", classes.join(", "))
        }
    };
    let broken = hazard.breaks.iter().map(|claim| claim.invariant());
    let broken: Vec<_> = broken.collect();
    let (broken, scenario) = (broken.join(", "), hazard.scenario);
    format!("does not keep {broken} {under} ({scenario})")
}

fn hazard_row(hazard: &Hazard) -> HazardRow {
    let breaks = hazard.breaks.iter().map(|claim| claim.invariant());
    HazardRow {
        breaks: breaks.collect(),
        under: hazard.under.iter().map(|class| class.name()).collect(),
        scenario: hazard.scenario,
    }
}
