//! The format of scenario files: TOML, read strictly.
//!
//! Names are in kebab-case. One of several is either a name (`arrive = "together"`) or a name and
//! what belongs to it (`arrive = { within = "2s" }`, or `when.acquired = { by = "contender-1" }`).
//! Durations have units. What is unknown is a mistake, and all mistakes of a file are reported
//! together.

mod barrier;
mod case;
mod choice;
mod contender;
mod conversion;
mod event_loop;
mod expect;
mod fault;
mod inject;
mod latch_count;
mod late_answers;
mod lock_node;
mod locks;
mod mistake;
mod namesakes;
mod network;
mod participants;
mod permits;
mod processes;
pub(crate) mod reader;
mod reentry;
mod regions;
mod replay;
mod revocation;
mod roles;
mod sampled_parameters;
mod seeds_at_most;
pub(crate) mod service;
mod sometimes;
mod trigger;
mod try_acquire;
mod value;
mod workload;

use picklock_algorithms::Recipe;
use picklock_sim::plan::{Plan, PlannedFault, Resource, Section, Service, Workload};
use toml::de::DeTable;

pub(crate) use expect::{can_be_told, checked_by_default};

use self::case::CaseScene;
use self::participants::Participants;
use self::reader::{Fields, Mistake, Mistakes};
use self::trigger::Scene;
use crate::diagnostic::Diagnostic;
use crate::event_budget::default_budget;
use crate::keys::reference::tables_with;
use crate::sampled_parameters::SampledParameters;
use crate::scenario::{Case, Catalogue, Scenario};

/// Reads the text of a scenario file. Its path is taken to be its name with `.toml` behind it.
///
/// # Errors
///
/// Every mistake in the text, in its order.
pub fn parse(name: &str, text: &str, catalogue: &Catalogue) -> Result<Scenario, Vec<Diagnostic>> {
    parse_file(name, &format!("{name}.toml"), text, catalogue)
}

/// Reads the text of the file at `path`.
pub(crate) fn parse_file(
    name: &str,
    path: &str,
    text: &str,
    catalogue: &Catalogue,
) -> Result<Scenario, Vec<Diagnostic>> {
    let mut mistakes = Mistakes::new(path, text);
    let (table, errors) = DeTable::parse_recoverable(text);
    // What follows a slip in the syntax is guesswork, so nothing else is said then.
    if !errors.is_empty() {
        for error in errors {
            let span = error.span().unwrap_or(0..0);
            let message = format!("this is not TOML: {}", error.message());
            mistakes.add(span, Mistake::new(message));
        }
        return Err(mistakes.finish());
    }
    let mut fields = Fields::new(table.get_ref(), 0..0);
    let scenario = scenario(&mut fields, name, path, catalogue, &mut mistakes);
    fields.finish(&mut mistakes);
    let mut found = mistakes.finish();
    if found.is_empty() {
        return Ok(scenario);
    }
    for mistake in &mut found {
        let tables = tables_of_key(&mistake.message);
        mistake.help.extend(tables);
    }
    Err(found)
}

/// Where a key that is unknown in its table belongs, if there are few places.
fn tables_of_key(mistake: &str) -> Option<String> {
    const MOST: usize = 2;
    let name = mistake.strip_prefix("unknown key `")?.strip_suffix('`')?;
    let tables = tables_with(name);
    let are_few = (1..=MOST).contains(&tables.len());
    are_few.then(|| format!("`{name}` is a key of {}", tables.join(" and ")))
}

fn scenario(
    fields: &mut Fields,
    name: &str,
    path: &str,
    catalogue: &Catalogue,
    mistakes: &mut Mistakes,
) -> Scenario {
    let claim = claim(fields, mistakes);
    let because = prose(fields, "because", mistakes);
    let source = prose(fields, "source", mistakes);
    let resource = case::resource(fields, mistakes).map(|(resource, _)| resource);
    let mut open = SampledParameters::default();
    let (service, clients, servers) = service::service(fields, catalogue, &mut open, mistakes);
    let (mut network, regions) = network::read(fields, &mut open, mistakes);
    let (mut workload, contenders) =
        workload::workload(fields, service.kind(), &mut open, mistakes);
    let event_budget = fields.count("event-budget", 1..=i64::MAX, mistakes);
    open.budget_given = event_budget.is_some();
    let widest = open.widest(&service);
    open.faults = sampled_parameters::faults(fields, &widest, mistakes);
    let participants = Participants {
        contenders,
        locks: open.locks.map_or(workload.locks, |(_, most)| most),
        has_event_thread: has_event_thread(&service, &open),
        ..Participants::of(&service, servers)
    };
    workload.contender_settings = contender::contenders(fields, participants, &mut open, mistakes);
    refuse_of_workload(fields, &workload, &open, mistakes);
    network.regions = regions.read(
        participants,
        &workload.contender_settings,
        &mut open,
        mistakes,
    );
    processes::refuse_two_machines(fields, &workload, &network.regions, mistakes);
    let faults = faults(fields, participants, workload.section, mistakes);
    let world = |recipe: Recipe| Plan {
        recipe,
        service: service.clone(),
        network: network.clone(),
        workload: workload.clone(),
        resource: resource.unwrap_or(Resource { fenced: false }),
        faults: faults.clone(),
        event_budget: event_budget.unwrap_or_else(|| default_budget(&workload, &service)),
    };
    let sometimes = sometimes::sometimes(fields, mistakes).unwrap_or_default();
    let scene = CaseScene {
        workload: &open.busiest_of(&workload),
        service: &widest,
        clients: &clients,
        service_item: fields.peek("service"),
        allows_self_deadlock: workload::allows_self_deadlock(fields, mistakes),
    };
    let mut cases = cases(fields, catalogue, &scene, &world, &open, mistakes);
    late_answers::refuse_late_answers(fields, &cases, &open, mistakes);
    for case in cases.iter_mut().filter(|case| case.sometimes.is_empty()) {
        case.sometimes.clone_from(&sometimes);
    }
    replay::replay(fields, &mut cases, mistakes);
    replay::saved(fields, &mut cases, mistakes);
    seeds_at_most::read(fields, &mut cases, mistakes);
    Scenario {
        name: name.to_owned(),
        path: path.to_owned(),
        claim,
        because,
        source,
        cases,
    }
}

/// Whether each client that a seed may take has a thread for events.
fn has_event_thread(service: &Service, open: &SampledParameters) -> bool {
    let drawn = open.each_with("client", service);
    drawn.iter().all(|service| service.has_event_thread())
}

/// Refuses contenders whose sections no lock can serve.
fn refuse_of_workload(
    fields: &Fields,
    workload: &Workload,
    open: &SampledParameters,
    mistakes: &mut Mistakes,
) {
    locks::refuse_locks(fields, workload, open, mistakes);
    workload::refuse_endless_sections(fields, workload, open, mistakes);
}

/// A text that may be left out.
fn prose(fields: &mut Fields, key: &'static str, mistakes: &mut Mistakes) -> String {
    let item = fields.get(key);
    item.and_then(|item| item.prose("a string", mistakes))
        .unwrap_or_default()
}

/// What stands for the claim of a file that has none: its cases may be expected to break promises.
const CLAIM: &str = "This file has no `claim`.";

/// The claim: one line that ends with a full stop.
fn claim(fields: &mut Fields, mistakes: &mut Mistakes) -> String {
    let Some(item) = fields.get("claim") else {
        return CLAIM.to_owned();
    };
    let Some(claim) = item.prose("one sentence", mistakes) else {
        return String::new();
    };
    let wrong = if claim.contains('\n') {
        Some(("the claim has several lines", "say the rest in `because`"))
    } else if !claim.ends_with('.') {
        Some((
            "the claim does not end with a full stop",
            "a claim is one sentence",
        ))
    } else {
        None
    };
    if let Some((message, help)) = wrong {
        mistakes.add(item.span, Mistake::new(message).help(help));
    }
    claim
}

fn faults(
    fields: &mut Fields,
    participants: Participants,
    section: Section,
    mistakes: &mut Mistakes,
) -> Vec<PlannedFault> {
    let items = fields
        .get("fault")
        .and_then(|item| item.list("tables that begin with [[fault]]", mistakes))
        .unwrap_or_default();
    let faults = items.iter().enumerate().filter_map(|(index, item)| {
        let scene = Scene {
            participants,
            section,
            place: index,
            faults: items.len(),
        };
        fault::fault(item, scene, mistakes)
    });
    let faults: Vec<PlannedFault> = faults.collect();
    assert!(
        faults.len() == items.len() || !mistakes.is_empty(),
        "a fault was dropped without a word"
    );
    faults
}

fn cases(
    fields: &mut Fields,
    catalogue: &Catalogue,
    scene: &CaseScene,
    world: &dyn Fn(Recipe) -> Plan,
    open: &SampledParameters,
    mistakes: &mut Mistakes,
) -> Vec<Case> {
    let example = "[[case]] and below it algorithm = \"zk-predecessor-watch\"";
    let Some(item) = fields.need("case", example) else {
        return Vec::new();
    };
    let Some(items) = item.list("tables that begin with [[case]]", mistakes) else {
        return Vec::new();
    };
    if items.is_empty() {
        let mistake = Mistake::new("a scenario without a case shows nothing");
        mistakes.add(item.span, mistake.help(format!("write {example}")));
    }
    let cases: Vec<case::Named> = items
        .iter()
        .filter_map(|item| case::case(item, catalogue, scene, world, open, mistakes))
        .collect();
    assert!(
        cases.len() == items.len() || !mistakes.is_empty(),
        "a case was dropped without a word"
    );
    namesakes::refuse_namesakes(&cases, mistakes);
    let lines = mistakes.lines(cases.iter().map(|named| named.span.start));
    let placed = cases.into_iter().zip(lines).map(|(named, line)| Case {
        line: Some(line),
        ..named.case
    });
    placed.collect()
}
