//! What a list leaves out.

use serde_json::Value;

use super::lock_filter::Filter;
use super::{Listing, Table};
use crate::algorithms::{FaultClass, Recipe, hazards};
use crate::checker::INVARIANTS;
use crate::cli::failure::Failure;
use crate::scenarios::{Case, Scenario, Want, nearest, nearest_few, program};
use crate::sim::plan::FaultKind;

/// Which things to show.
#[derive(Debug, Default, clap::Args)]
pub(super) struct ListFilter {
    #[command(flatten)]
    pub(super) of: Filter,
    /// Only scenarios with a fault of this name or class, or algorithms that do not keep a promise under such faults.
    #[arg(long, value_name = "FAULT", value_parser = fault)]
    fault: Option<FaultName>,
    /// Only scenarios in which this is to be violated, or algorithms that claim it.
    #[arg(long, value_name = "NAME", value_parser = invariant)]
    invariant: Option<String>,
    /// Only scenarios and algorithms whose source has this text in it, in capitals or not.
    #[arg(long, value_name = "TEXT")]
    source: Option<String>,
    /// Only what has this text in its name or description, in capitals or not.
    #[arg(long = "match", value_name = "TEXT")]
    matching: Option<String>,
}

/// A fault, or all of a class.
#[derive(Clone, Copy, Debug)]
enum FaultName {
    Kind(FaultKind),
    Class(FaultClass),
}

impl FaultName {
    fn has(self, kind: FaultKind) -> bool {
        match self {
            Self::Kind(wanted) => wanted == kind,
            Self::Class(wanted) => wanted == kind.class(),
        }
    }

    fn class(self) -> FaultClass {
        match self {
            Self::Kind(kind) => kind.class(),
            Self::Class(class) => class,
        }
    }
}

impl ListFilter {
    /// Whether it is about more than the text that is shown: then all that is known of each is shown.
    pub(super) fn is_of_what_is_known(&self) -> bool {
        self.given().next().is_some()
    }

    /// The options of algorithms and scenarios that are given.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let [family, kind] = self.of.given();
        let given = [
            ("--family", family),
            ("--kind", kind),
            ("--fault", self.fault.is_some()),
            ("--invariant", self.invariant.is_some()),
            ("--source", self.source.is_some()),
        ];
        let given = given.into_iter().filter(|(_, is_given)| *is_given);
        given.map(|(option, _)| option)
    }

    /// Checks that it is about what is to be shown.
    ///
    /// # Errors
    ///
    /// [`Failure`], if it is not.
    pub(super) fn suits(&self, what: Listing) -> Result<(), Failure> {
        if matches!(what, Listing::Algorithms | Listing::Scenarios) {
            return Ok(());
        }
        match self.given().next() {
            None => Ok(()),
            Some(option) => {
                let problem = format!("{option} is for lists of algorithms and scenarios");
                let hint = "--match TEXT is for every list".to_owned();
                Err(Failure::usage(problem, [hint]))
            }
        }
    }

    /// Whether it takes an algorithm.
    pub(super) fn takes_algorithm(&self, recipe: &Recipe) -> bool {
        let breaks =
            |fault: FaultName| hazards::of(recipe).any(|hazard| hazard.holds_under(fault.class()));
        let claims = |name: &String| recipe.claims.iter().any(|claim| claim.invariant() == name);
        self.of.takes(recipe)
            && self.fault.is_none_or(breaks)
            && self.invariant.as_ref().is_none_or(claims)
            && self.is_from(recipe.source)
    }

    /// Whether it takes a scenario: one of its cases is all that is wanted.
    pub(super) fn takes_scenario(&self, scenario: &Scenario) -> bool {
        self.is_from(&scenario.source) && scenario.cases.iter().any(|case| self.takes_case(case))
    }

    fn takes_case(&self, case: &Case) -> bool {
        let violates = |name: &String| {
            let mut expected = case.expectations.iter();
            expected.any(|row| row.invariant == name && matches!(row.want, Want::Violated { .. }))
        };
        self.of.takes(&case.algorithm)
            && self.fault.is_none_or(|fault| has_fault(case, fault))
            && self.invariant.as_ref().is_none_or(violates)
    }

    fn is_from(&self, source: &str) -> bool {
        let has = |wanted: &String| contains(source, wanted);
        self.source.as_ref().is_none_or(has)
    }

    /// Keeps the rows that have the text somewhere in them.
    ///
    /// # Errors
    ///
    /// [`Failure`], if there is nothing left.
    pub(super) fn keep_matching(&self, tables: &mut Vec<Table>) -> Result<(), Failure> {
        if let Some(wanted) = &self.matching {
            for table in &mut *tables {
                table.rows.retain(|row| {
                    let more = row.more.iter().any(|line| contains(line, wanted));
                    let example = row.example.is_some_and(|example| contains(example, wanted));
                    let known = has_text(&row.all, wanted);
                    contains(&row.name, wanted)
                        || contains(&row.meaning, wanted)
                        || example
                        || more
                        || known
                });
            }
            tables.retain(|table| !table.rows.is_empty());
        }
        if tables.iter().all(|table| table.rows.is_empty()) {
            let problem = format!("nothing in this list matches {}", self.all_given());
            let hint = "try without one of them, or another text".to_owned();
            return Err(Failure::usage(problem, [hint]));
        }
        Ok(())
    }

    fn all_given(&self) -> String {
        let matching = self.matching.is_some().then_some("--match");
        let given: Vec<&str> = self.given().chain(matching).collect();
        given.join(" and ")
    }
}

/// Whether a case has such a fault, or draws some.
fn has_fault(case: &Case, fault: FaultName) -> bool {
    let written = case.plan.faults.iter();
    let written = written.map(|fault| FaultKind::of(&fault.inject));
    let drawn = case.open.iter().filter_map(|open| open.faults.as_ref());
    let drawn = drawn.flat_map(|faults| faults.kinds.iter().copied());
    if matches!(fault, FaultName::Class(FaultClass::None)) {
        return written.chain(drawn).next().is_none();
    }
    written.chain(drawn).any(|kind| fault.has(kind))
}

/// Whether a text is in one of the values, in capitals or not.
fn has_text(known: &Value, wanted: &str) -> bool {
    match known {
        Value::String(text) => contains(text, wanted),
        Value::Array(items) => items.iter().any(|item| has_text(item, wanted)),
        Value::Object(entries) => entries.values().any(|entry| has_text(entry, wanted)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether a text is in another, in capitals or not.
fn contains(text: &str, wanted: &str) -> bool {
    text.to_lowercase().contains(&wanted.to_lowercase())
}

fn fault(name: &str) -> Result<FaultName, String> {
    let mut kinds = FaultKind::ALL.iter().copied();
    let kind = kinds.find(|kind| kind.name() == name).map(FaultName::Kind);
    let found = kind.or_else(|| FaultClass::find(name).map(FaultName::Class));
    let kinds = FaultKind::ALL.iter().map(|kind| kind.name());
    let names = kinds.chain(FaultClass::ALL.map(FaultClass::name));
    found.ok_or_else(|| unknown(name, "faults", names))
}

fn invariant(name: &str) -> Result<String, String> {
    let mut names = INVARIANTS.iter().map(|row| row.name);
    match names.any(|known| known == name) {
        true => Ok(name.to_owned()),
        false => Err(unknown(
            name,
            "invariants",
            INVARIANTS.iter().map(|row| row.name),
        )),
    }
}

/// What comes near a name that there is not, or where all are shown.
fn unknown<'n>(name: &str, list: &str, names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    let near = nearest(name, names.iter().copied());
    let near = near.map(|near| format!("did you mean `{near}`? "));
    let (few, program) = (nearest_few(name, names).join("`, `"), program::command());
    format!(
        "{}nearest: `{few}`; `{program} list {list}` shows all",
        near.unwrap_or_default()
    )
}
