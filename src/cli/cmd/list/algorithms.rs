//! The algorithms, and those of a family or a kind with all that is known of each.

use serde_json::{Value, json};

use super::{Row, Table};
use crate::algorithms::clients::ServiceKind;
use crate::algorithms::hazards::{self, Hazard};
use crate::algorithms::{Claim, FaultClass, Recipe};
use crate::cli::failure::Failure;
use crate::scenarios::program;

/// Which algorithms to show.
#[derive(Debug, clap::Args)]
pub(in crate::cli::cmd) struct Filter {
    /// Only the algorithms of this service: `zookeeper`, `redis`, or `lease-server`; with kind, order, claims, and
    /// source.
    #[arg(long, value_name = "SERVICE", value_parser = family)]
    family: Option<ServiceKind>,
    /// Only the algorithms of this kind, such as `mutex` or `read-write`; with kind, order, claims, and source.
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
}

impl Filter {
    /// Whether it leaves anything out.
    pub(super) fn is_given(&self) -> bool {
        self.family.is_some() || self.kind.is_some()
    }

    /// Those that it takes of all that the program knows.
    ///
    /// # Errors
    ///
    /// [`Failure`], if there is no such kind, or none of it in the family.
    pub(in crate::cli::cmd) fn recipes(&self) -> Result<Vec<&'static Recipe>, Failure> {
        let known = program::algorithms();
        if let Some(kind) = &self.kind {
            let mut kinds: Vec<&str> = known.iter().map(|it| it.ownership.kind().name()).collect();
            kinds.sort_unstable();
            kinds.dedup();
            if !kinds.contains(&kind.as_str()) {
                return Err(Failure::unknown("kind", kind, &kinds));
            }
        }
        let taken: Vec<_> = known.iter().filter(|recipe| self.takes(recipe)).collect();
        if taken.is_empty() {
            let of_kind = known.iter().filter(|it| self.is_of_kind(it));
            let mut families: Vec<&str> = of_kind.map(|it| it.build.service().name()).collect();
            families.sort_unstable();
            families.dedup();
            let problem = "no algorithm of this family is of this kind".to_owned();
            let hint = format!("there are some over {}", families.join(", "));
            return Err(Failure::usage(problem, [hint]));
        }
        Ok(taken)
    }

    fn takes(&self, recipe: &Recipe) -> bool {
        self.family
            .is_none_or(|family| recipe.build.service() == family)
            && self.is_of_kind(recipe)
    }

    fn is_of_kind(&self, recipe: &Recipe) -> bool {
        let of_kind = |kind: &String| recipe.ownership.kind().name() == kind;
        self.kind.as_ref().is_none_or(of_kind)
    }
}

/// The algorithms that the filter takes.
///
/// # Errors
///
/// [`Failure`], if there is no such kind.
pub(super) fn algorithms(filter: &Filter) -> Result<Table, Failure> {
    let taken = filter.recipes()?.into_iter();
    let rows = taken.map(|recipe| {
        let claims: Vec<_> = recipe.claims.iter().map(|it| it.invariant()).collect();
        let flaw = recipe
            .flaw
            .map(|flaw| format!(" Flaw: {}.", flaw.trim_end_matches('.')));
        Row {
            name: recipe.name.to_owned(),
            meaning: recipe.summary.to_owned() + &flaw.unwrap_or_default(),
            example: None,
            more: match filter.is_given() {
                true => known_of(recipe),
                false => Vec::new(),
            },
            all: json!({
                "name": recipe.name,
                "summary": recipe.summary,
                "flaw": recipe.flaw,
                "source": recipe.source,
                "claims": claims,
                "hazards": hazards::of(recipe).map(hazard_as_json).collect::<Vec<_>>(),
                "kind": recipe.ownership.kind().name(),
                "cancellable": recipe.cancellable,
                "shareable": recipe.shareable,
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
    let claims: Vec<_> = recipe.claims.iter().map(|it| it.invariant()).collect();
    let order = match recipe.claims.contains(&Claim::Fifo) {
        true => "first come, first served",
        false => "none",
    };
    let mut known = vec![
        format!("kind: {}; order: {order}", recipe.ownership.kind().name()),
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
            let classes: Vec<_> = hazard.under.iter().map(|it| it.name()).collect();
            format!("under {}", classes.join(", "))
        }
    };
    let broken: Vec<_> = hazard.breaks.iter().map(|it| it.invariant()).collect();
    let (broken, scenario) = (broken.join(", "), hazard.scenario);
    format!("does not keep {broken} {under} ({scenario})")
}

fn hazard_as_json(hazard: &Hazard) -> Value {
    json!({
        "breaks": hazard.breaks.iter().map(|it| it.invariant()).collect::<Vec<_>>(),
        "under": hazard.under.iter().map(|it| it.name()).collect::<Vec<_>>(),
        "scenario": hazard.scenario,
    })
}

fn family(name: &str) -> Result<ServiceKind, String> {
    let all = [
        ServiceKind::ZooKeeper,
        ServiceKind::Redis,
        ServiceKind::LeaseServer,
    ];
    let names = all.map(ServiceKind::name).join(", ");
    let found = all.into_iter().find(|it| it.name() == name);
    found.ok_or_else(|| format!("expected one of {names}"))
}
