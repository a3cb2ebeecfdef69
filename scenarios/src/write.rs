//! Spells a case out as a scenario file, so that a run can be saved and told again.

mod contender;
mod fault;
mod regions;
mod sampled_parameters;
pub(crate) mod toml;

use picklock_algorithms::Claim;
use picklock_sim::plan::{
    self, ContenderName, Conversion, Key, Network, Service, Settings, Written,
};
use toml_edit::{Array, ArrayOfTables, DocumentMut, Table, Value};

use self::toml::{With, count, number, prose, spelled, spelled_drawn, text};
use crate::format::{can_be_told, checked_by_default};
use crate::sampled_parameters::{Drawn, SampledParameters};
use crate::scenario::{
    Case, Expectation, Measure, Recorded, RecordedRun, SavedPlan, Scenario, Want,
};
use crate::services::supported;

/// Writes a scenario file with this case of the scenario alone. Nothing is left to defaults, so
/// that the file means the same for a later version; it parses back to an equal plan.
pub fn write(scenario: &Scenario, case: &Case) -> String {
    let settled = SampledParameters::default();
    let open = case.open.as_ref().unwrap_or(&settled);
    let mut file = head(scenario, case, open);
    let service = &case.plan.service;
    let settings = settings(service, open);
    let name = service.kind().name();
    let mut service = Table::from_iter([(name, settings)]);
    service.set_implicit(true);
    file.insert("service", service.into());
    file.insert("network", network(&case.plan.network, open).into());
    let plan = &case.plan.workload;
    let upgrades = |name: &ContenderName| {
        plan.conversion_of(*name) == Some(Conversion::Upgrade)
            && plan.acquire_timeout_of(*name).is_none()
    };
    let self_deadlock = plan.contender_settings.keys().any(upgrades)
        || plan.reentrancy_depth > 1 && !case.algorithm.claims.contains(&Claim::Reentrancy);
    let table = keyed(plan, |key| open.drawn(key))
        .with("allow-self-deadlock", self_deadlock.then(|| true.into()));
    file.insert("workload", table.into());
    let contenders = contender::contenders(&case.plan.workload, open.contender.as_ref());
    if !contenders.is_empty() {
        file.insert("contender", contenders.into());
    }
    let faults: ArrayOfTables = case.plan.faults.iter().map(fault::fault).collect();
    file.insert("fault", faults.into());
    let cases = ArrayOfTables::from_iter([case_table(case)]);
    file.insert("case", cases.into());
    file.extend(case.recorded.iter().map(|run| ("replay", replay(run))));
    let saved = case.saved.iter().filter_map(saved);
    file.extend(saved.map(|table| ("saved", table)));
    DocumentMut::from(file).to_string()
}

/// What stands before the first table.
fn head(scenario: &Scenario, case: &Case, open: &SampledParameters) -> Table {
    let said = |text: &str| (!text.is_empty()).then(|| prose(text));
    let fenced = case.plan.resource.fenced;
    // The budget of what is left open follows from what each seed settles.
    let has_budget = !open.is_open() || open.budget_given;
    Table::new()
        .with("claim", text(&scenario.claim))
        .with("because", said(&scenario.because))
        .with("source", said(&scenario.source))
        .with("resource", text(if fenced { "fenced" } else { "unfenced" }))
        .with(
            "event-budget",
            has_budget.then(|| count(case.plan.event_budget)),
        )
        // A run that was recorded has one seed.
        .with(
            "seeds-at-most",
            case.seeds_at_most
                .filter(|_| case.recorded.is_none())
                .map(count),
        )
        .with(
            "faults.any",
            open.faults.as_ref().map(sampled_parameters::faults),
        )
}

/// The settings of a service, in the order of its keys.
fn settings(service: &Service, open: &SampledParameters) -> Table {
    let row = supported(service.kind());
    let implied = (row.implied)(service);
    let mut table = Table::new();
    for key in row.keys.keys() {
        let value = match (open.choices(key.name), &implied) {
            ([], Some((name, value))) if *name == key.name => Some(spelled(value)),
            ([], _) => said(key, service.value(key.name)).map(|value| spelled(&value)),
            (choices, _) => Some(choices.iter().map(spelled).collect()),
        };
        table = table.with(key.name, value);
    }
    table
}

fn network(network: &Network, open: &SampledParameters) -> Table {
    let table = keyed(network, |key| open.drawn(key));
    match &open.regions {
        Some(drawn) => regions::with_drawn(table, drawn),
        None => regions::with_regions(table, &network.regions),
    }
}

/// The keys of these settings, each with its value, or with what is drawn for it.
fn keyed(settings: &dyn Settings, drawn: impl Fn(&str) -> Option<Drawn>) -> Table {
    settings.keys().iter().fold(Table::new(), |table, key| {
        let value = match drawn(key.name) {
            Some(drawn) => Some(spelled_drawn(&drawn)),
            None => said(key, settings.value(key.name)).map(|value| spelled(&value)),
        };
        table.with(key.name, value)
    })
}

/// The value of a key, if a file that is written has it.
fn said(key: &Key, value: Option<plan::Value>) -> Option<plan::Value> {
    let is_said = match key.written {
        Written::Always => true,
        Written::IfAnother => value != (key.default)(),
    };
    value.filter(|_| is_said)
}

fn case_table(case: &Case) -> Table {
    let (name, algorithm) = (case.name.as_str(), case.algorithm.name);
    let mut table = Table::new()
        .with("algorithm", text(algorithm))
        .with("name", (name != algorithm).then(|| text(name)));
    for expectation in &case.expectations {
        if let Some((key, value)) = expect(expectation, case) {
            table = table.with(&key, value);
        }
    }
    let sometimes =
        (!case.sometimes.is_empty()).then(|| Value::from_iter(case.sometimes.iter().copied()));
    let table = table.with("sometimes", sometimes);
    let measures = case.measures.iter();
    measures.fold(table, |table, measure| {
        table.with(&format!("measure.{}", measure.metric), bounds(measure))
    })
}

/// Silence means that what is checked by default holds.
fn expect(expectation: &Expectation, case: &Case) -> Option<(String, Value)> {
    let Expectation { invariant, want } = expectation;
    let workload = &case.plan.workload;
    // Of a seed that draws one contender no file can say that none overtakes another.
    let silent = checked_by_default(invariant, Some(&case.algorithm), workload)
        || !can_be_told(invariant, workload);
    let because = |because: &str| Value::from_iter([("because", text(because))]);
    let (word, value) = match want {
        Want::Holds if silent => return None,
        Want::Holds => ("", text("holds")),
        Want::Excused { because: why } => (".excused", because(why)),
        Want::Undecided { because: why } => (".undecided", because(why)),
        Want::Unchecked { because: None } => ("", text("unchecked")),
        Want::Unchecked { because: Some(why) } => (".unchecked", because(why)),
        Want::Violated {
            because: why,
            within_seeds,
        } => {
            let fields = [
                ("because", text(why)),
                ("within-seeds", count(*within_seeds)),
            ];
            (".violated", fields.into_iter().collect())
        }
    };
    Some((format!("expect.{invariant}{word}"), value))
}

fn bounds(measure: &Measure) -> Value {
    let least = measure.at_least.map(|least| ("at-least", number(least)));
    let most = measure.at_most.map(|most| ("at-most", number(most)));
    least.into_iter().chain(most).collect()
}

/// A run that was recorded; its choices in lines of twenty.
fn replay(recorded: &Recorded) -> Table {
    const PER_LINE: usize = 20;
    let choices = recorded.choices.iter().copied();
    let mut choices: Array = choices.map(count).collect();
    if choices.len() > PER_LINE {
        for (index, choice) in choices.iter_mut().enumerate() {
            let is_first = index % PER_LINE == 0;
            choice
                .decor_mut()
                .set_prefix(if is_first { "\n    " } else { " " });
        }
        choices.set_trailing("\n");
        choices.set_trailing_comma(true);
    }
    with_run(
        Table::new().with("choices", Value::from(choices)),
        &recorded.was,
    )
}

/// The seed that drew the plan, if TOML can say it.
fn saved(saved: &SavedPlan) -> Option<Table> {
    let seed = i64::try_from(saved.seed).ok()?;
    let table = Table::new()
        .with("seed", count(seed))
        .with("drawn", saved.drawn.then(|| true.into()));
    Some(with_run(table, &saved.was))
}

fn with_run(table: Table, was: &RecordedRun) -> Table {
    let hash = was.hash.map(|hash| format!("{hash:016x}").into());
    let version = was.picklock.as_deref().map(text);
    table.with("hash", hash).with("picklock", version)
}
