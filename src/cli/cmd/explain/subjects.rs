//! All that can be explained: what each thing is, and which cases show it.

use crate::algorithms::clients::ServiceKind;
use crate::algorithms::{FaultClass, Recipe};
use crate::checker::{DISTANCES, INVARIANTS, Invariant, METRICS, SOMETIMES, Truth};
use crate::scenarios::{Scenario, program};
use crate::sim::plan::{Deployment, Ensemble, FaultKind, Library, REDIS_LIBRARIES, RedisLibrary};

use super::super::list::faults::{self, Example};
use super::super::list::known_of;
use super::shown_by::{self, Shows};
use super::{glossary, invariant_pages};

/// What is known of a word, of one thing that it is the name of.
pub(super) struct Subject {
    pub(super) name: String,
    /// What it is: `a fault`.
    pub(super) what: String,
    pub(super) meaning: String,
    /// Lines below it.
    pub(super) more: Vec<String>,
    /// What the guide says of it, as Markdown.
    pub(super) page: Option<String>,
    /// The cases that show it.
    pub(super) shows: Shows,
}

impl Subject {
    pub(super) fn of(name: &str, what: &str, meaning: &str, shows: Shows) -> Self {
        Self {
            name: name.to_owned(),
            what: what.to_owned(),
            meaning: meaning.to_owned(),
            more: Vec::new(),
            page: None,
            shows,
        }
    }

    /// Whether it is a key of scenario files.
    pub(super) fn is_key(&self) -> bool {
        self.what.starts_with("a key ")
    }

    pub(super) fn with(mut self, more: impl IntoIterator<Item = String>) -> Self {
        self.more.extend(more);
        self
    }
}

/// All that can be explained. Of what has the same name, the first is explained first.
pub(super) fn all(library: &[Scenario]) -> Vec<Subject> {
    let mut subjects: Vec<Subject> = INVARIANTS.iter().map(of_invariant).collect();
    subjects.extend(faults::faults().into_iter().map(of_fault));
    subjects.extend(program::algorithms().iter().map(of_algorithm));
    subjects.extend(of_plans());
    subjects.extend(of_reports());
    subjects.extend(Library::ALL.into_iter().map(of_zookeeper_client));
    subjects.extend(REDIS_LIBRARIES.iter().map(of_redis_client));
    subjects.extend(library.iter().map(of_scenario));
    for row in glossary::rows() {
        let others = row.words.join(", ");
        for word in &row.words {
            let shows = match row.seen_in {
                Some(name) => shown_by::scenario(name.to_owned()),
                None => shown_by::nothing(),
            };
            let subject = Subject::of(word, "a word of the reports", row.meaning, shows);
            let several = (row.words.len() > 1).then(|| format!("words for it: {others}"));
            subjects.push(subject.with(several));
        }
    }
    subjects
}

fn of_invariant(invariant: &Invariant) -> Subject {
    let (name, what) = (
        invariant.name,
        format!("an invariant, of {}", of_truth(invariant.truth)),
    );
    let shows = shown_by::violation(name);
    let claimed = program::algorithms().iter().filter(|recipe| {
        let mut claims = recipe.claims.iter();
        claims.any(|claim| claim.invariant() == name)
    });
    let (claimed, all) = (claimed.count(), program::algorithms().len());
    let subject = Subject {
        page: invariant_pages::page(name),
        ..Subject::of(name, &what, invariant.meaning, shows)
    };
    subject.with((claimed > 0).then(|| format!("claimed by {claimed} of {all} algorithms")))
}

fn of_truth(truth: Truth) -> &'static str {
    match truth {
        Truth::Belief => "what contenders believe",
        Truth::Ownership => "what the service says",
        Truth::Effect => "what the resource has accepted",
        Truth::Service => "how contenders are served",
    }
}

fn of_fault(example: Example) -> Subject {
    let name = example.name;
    let kinds = FaultKind::ALL.iter().filter(|kind| kind.name() == name);
    let known = kinds.flat_map(|kind| {
        let class = kind.class();
        let class = format!("class: {} ({})", class.name(), class.meaning());
        let services = ServiceKind::ALL.into_iter();
        let services = services.filter(|service| kind.is_of(*service));
        let services: Vec<&str> = services.map(ServiceKind::title).collect();
        let service = kind.service();
        let service = service.map(|_| format!("strikes: {} alone", services.join(" and ")));
        let drawn = match kind.spec().drawn_unasked {
            true => "drawn plans have it, and `hunt` tries it, unless other kinds are named",
            false => "drawn plans have it, and `hunt` tries it, only where it is named",
        };
        [Some(class), service, Some(drawn.to_owned())]
    });
    let known: Vec<String> = known.flatten().collect();
    let shows = shown_by::fault(name);
    Subject::of(name, "a fault", &example.meaning, shows)
        .with([example.example.to_owned()])
        .with(known)
}

fn of_algorithm(recipe: &Recipe) -> Subject {
    let flaw = recipe.flaw.map(|flaw| format!("flaw: {flaw}"));
    let (name, command) = (recipe.name, program::command());
    let matrix = format!("under each class of faults: {command} matrix {name}");
    let shows = shown_by::algorithm(name);
    Subject::of(name, "an algorithm", recipe.summary, shows)
        .with(flaw)
        .with(known_of(recipe))
        .with([matrix])
}

/// What the faults of a plan wait for, of which kind they are, and what else a file can say around them.
fn of_plans() -> Vec<Subject> {
    let triggers = faults::triggers().into_iter().map(|row| {
        let shows = shown_by::trigger(row.name);
        Subject::of(row.name, "a trigger of a fault", &row.meaning, shows)
            .with([row.example.to_owned()])
    });
    let keys = faults::timing()
        .into_iter()
        .map(|row| (row, "a key of a fault"));
    let around = faults::circumstances().into_iter();
    let keys = keys.chain(around.map(|row| (row, "a key of a scenario")));
    let keys = keys.map(|(row, what)| {
        let shows = shown_by::key(row.name);
        Subject::of(row.name, what, &row.meaning, shows).with([row.example.to_owned()])
    });
    let requests = faults::requests().into_iter().map(|(kind, meaning)| {
        let shows = shown_by::request(kind);
        Subject::of(
            kind.name(),
            "a request that a trigger can wait for",
            &meaning,
            shows,
        )
    });
    let classes = FaultClass::ALL.into_iter().map(|class| {
        let kinds = FaultKind::of_class(class);
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        let faults = (!names.is_empty()).then(|| format!("faults: {}", names.join(", ")));
        let (name, command) = (class.name(), program::command());
        let shows = shown_by::of_kinds(move |kind| kind.class() == class);
        Subject::of(name, "a class of faults", class.meaning(), shows)
            .with(faults)
            .with([format!(
                "every algorithm under it: {command} matrix --fault {name}"
            )])
    });
    triggers
        .chain(keys)
        .chain(requests)
        .chain(classes)
        .collect()
}

/// What reports say of runs.
fn of_reports() -> Vec<Subject> {
    let metrics = METRICS.iter().map(|row| {
        let what = format!("a metric, in {}", row.unit);
        Subject::of(row.name, &what, row.meaning, shown_by::metric(row.name))
    });
    let moments = SOMETIMES.iter().map(|row| {
        let shows = shown_by::moment(row.name);
        Subject::of(row.name, "a moment of the protocol", row.meaning, shows)
    });
    let distances = DISTANCES.iter().map(|row| {
        let shows = shown_by::scenario("zookeeper/swarm".to_owned());
        Subject::of(row.name, "a distance to an overlap", row.meaning, shows)
    });
    metrics.chain(moments).chain(distances).collect()
}

fn of_zookeeper_client((name, library): (&'static str, Library)) -> Subject {
    let shows = shown_by::of_case(move |case| {
        let fixed = case.plan.service.get::<Ensemble>();
        fixed.is_some_and(|ensemble| ensemble.library == library)
    });
    Subject::of(
        name,
        "a client library of ZooKeeper",
        library.meaning(),
        shows,
    )
    .with([format!("client = \"{name}\"")])
    .with([format!("source: {}", library.source())])
}

fn of_redis_client(library: &'static RedisLibrary) -> Subject {
    let shows = shown_by::of_case(move |case| {
        let deployment = case.plan.service.get::<Deployment>();
        deployment.is_some_and(|deployment| {
            let mut same = deployment.clone();
            library.set(&mut same);
            same == *deployment
        })
    });
    let name = library.name;
    Subject::of(name, "a client library of Redis", library.meaning, shows)
        .with([format!("client = \"{name}\"")])
        .with([format!("source: {}", library.source)])
}

fn of_scenario(scenario: &Scenario) -> Subject {
    let cases: Vec<&str> = scenario
        .cases
        .iter()
        .map(|case| case.name.as_str())
        .collect();
    let source = scenario.source.trim();
    let source = (!source.is_empty()).then(|| format!("source: {source}"));
    let shows = shown_by::scenario(scenario.name.clone());
    Subject::of(&scenario.name, "a scenario", &scenario.claim, shows)
        .with(source)
        .with([format!("cases: {}", cases.join(", "))])
}
