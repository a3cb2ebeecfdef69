//! The worlds of the matrix: those of the swarms of the library, with faults of one class.

use picklock_algorithms::registry::RECIPES;
use picklock_algorithms::{Claim, FaultClass, Recipe, hazards};
use picklock_sim::plan::{FaultKind, Resource};

use super::GROUP;
use crate::format::checked_by_default;
use crate::sampled_parameters::AnyFaults;
use crate::scenario::{Case, Catalogue, Expectation, Scenario, Want};
use crate::services::supported;
use crate::{BUILT_IN, Diagnostic, parse};

/// A plan of the matrix has so many faults at most: few enough to see which of them mattered.
const AT_MOST: u32 = 6;

/// The scenarios of the matrix of these names: all, if `wanted` takes all.
///
/// # Errors
///
/// The mistakes in the swarms of the library, if the catalogue lacks something that they speak of.
pub fn scenarios(
    catalogue: &Catalogue,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Scenario>, Vec<Diagnostic>> {
    let classes = FaultClass::ALL.into_iter();
    let classes: Vec<FaultClass> = classes.filter(|class| wanted(&name(*class))).collect();
    if classes.is_empty() {
        return Ok(Vec::new());
    }
    let swarms = swarms(catalogue)?;
    let algorithms = list(catalogue.algorithms, &swarms);
    let made = classes.into_iter();
    let made = made.map(|class| scenario(class, &algorithms, &swarms));
    Ok(made.collect())
}

/// The names of the scenarios of the matrix.
pub fn names() -> Vec<String> {
    FaultClass::ALL.map(name).to_vec()
}

fn name(class: FaultClass) -> String {
    format!("{GROUP}/{}", class.name())
}

/// The scenarios of the library that draw faults of any kind.
///
/// # Errors
///
/// Their mistakes, as [`scenarios`].
pub fn swarms(catalogue: &Catalogue) -> Result<Vec<Scenario>, Vec<Diagnostic>> {
    let (mut swarms, mut mistakes) = (Vec::new(), Vec::new());
    let is_swarm = |name: &str| {
        name.rsplit('/')
            .next()
            .is_some_and(|name| name.starts_with("swarm"))
    };
    for (name, text) in BUILT_IN.iter().filter(|(name, _)| is_swarm(name)) {
        match parse(name, text, catalogue) {
            Ok(swarm) => swarms.push(swarm),
            Err(found) => mistakes.extend(found),
        }
    }
    match mistakes.is_empty() {
        true => Ok(swarms),
        false => Err(mistakes),
    }
}

/// Those of some algorithms that stand in the matrix unasked: which have a swarm, and those that a program has brought.
pub fn list(algorithms: &[Recipe], swarms: &[Scenario]) -> Vec<Recipe> {
    let of_picklock = |recipe: &Recipe| RECIPES.iter().any(|known| known.name == recipe.name);
    let listed = algorithms.iter().filter(|recipe| {
        !of_picklock(recipe) || cases(swarms).any(|case| case.algorithm.name == recipe.name)
    });
    listed.copied().collect()
}

/// The scenario of a class, with a case for each of these algorithms that faults of it can strike.
pub fn scenario(class: FaultClass, algorithms: &[Recipe], swarms: &[Scenario]) -> Scenario {
    let cases = algorithms.iter();
    let cases = cases.filter_map(|recipe| case(recipe, class, swarms));
    let (name, meaning) = (name(class), class.meaning());
    Scenario {
        path: name.clone(),
        name,
        claim: format!(
            "What each algorithm keeps under faults of the class {}.",
            class.name()
        ),
        because: meaning.to_owned(),
        source: String::new(),
        cases: cases.collect(),
    }
}

/// An algorithm under a class of faults: in the world of its swarm, or else of the first swarm of its service and kind.
/// `None`, if there is nothing that faults of this class could strike.
pub fn case(recipe: &Recipe, class: FaultClass, swarms: &[Scenario]) -> Option<Case> {
    let own = cases(swarms).filter(|case| case.algorithm.name == recipe.name);
    let like = cases(swarms).filter(|case| is_like(&case.algorithm, recipe));
    let base = own
        .min_by_key(|case| extras(case))
        .or_else(|| like.min_by_key(|case| extras(case)))?;
    let is_own = base.algorithm.name == recipe.name;
    let mut case = base.clone();
    recipe.name.clone_into(&mut case.name);
    case.algorithm = *recipe;
    case.plan.recipe = *recipe;
    if !recipe.claims.contains(&Claim::FencingMonotonic) {
        case.plan.resource = Resource { fenced: false };
    }
    case.sometimes.clear();
    case.measures.clear();
    let mut open = case.open.take().unwrap_or_default();
    open.faults = None;
    if class == FaultClass::ServerCrash {
        let service = &mut case.plan.service;
        (supported(service.kind()).add_replicas)(service);
    }
    if class != FaultClass::None {
        let kinds = FaultKind::of_class(class);
        let mut widest = case.plan.clone();
        widest.service = open.widest(&case.plan.service);
        if FaultKind::possible_in(&widest, &kinds).is_empty() {
            return None;
        }
        open.faults = Some(AnyFaults {
            kinds,
            except: Vec::new(),
            at_most: AT_MOST,
        });
    }
    case.open = Some(open);
    let left_open = if is_own {
        base.expectations.as_slice()
    } else {
        &[]
    };
    case.expectations = expectations(&case, class, left_open);
    Some(case)
}

fn cases(swarms: &[Scenario]) -> impl Iterator<Item = &Case> {
    swarms.iter().flat_map(|swarm| &swarm.cases)
}

fn is_like(one: &Recipe, other: &Recipe) -> bool {
    one.build.service() == other.build.service() && one.ownership.kind == other.ownership.kind
}

/// How much else a swarm draws that is no fault: the plainest world shows most plainly what a fault does.
fn extras(case: &Case) -> usize {
    let Some(open) = &case.open else { return 0 };
    let extras = [
        open.tasks_per_process.is_some(),
        open.locks.is_some(),
        !open.processing.is_empty(),
        open.regions.is_some(),
        !open.choices("client").is_empty(),
        case.plan.service.has_links() && case.plan.service.row().replicates_asynchronously,
    ];
    extras.into_iter().filter(|extra| *extra).count()
}

/// What the algorithm claims under the class must hold. Nothing is said of its hazards there, nor of what the swarm
/// does not expect to hold.
fn expectations(case: &Case, class: FaultClass, of_swarm: &[Expectation]) -> Vec<Expectation> {
    let recipe = &case.algorithm;
    let busiest = case.open.as_ref();
    let busiest = busiest.map(|open| open.busiest_of(&case.plan.workload));
    let workload = busiest.as_ref().unwrap_or(&case.plan.workload);
    let looked_at = Catalogue::EVERYTHING.invariants.iter().copied();
    let looked_at = looked_at.filter(|row| checked_by_default(row, Some(recipe), workload));
    let wants = looked_at.map(|invariant| {
        let want = match hazards::find(recipe, class, invariant) {
            Some(hazard) => Want::Unchecked {
                because: Some(format!("{} shows why", hazard.scenario)),
            },
            None => left_open(invariant, of_swarm),
        };
        Expectation { invariant, want }
    });
    wants.collect()
}

/// What a swarm leaves of a promise.
fn left_open(invariant: &str, of_swarm: &[Expectation]) -> Want {
    let found = of_swarm.iter().find(|row| row.invariant == invariant);
    let because = match found.map(|row| &row.want) {
        Some(Want::Unchecked { because }) => because.clone(),
        Some(
            Want::Violated { because, .. }
            | Want::Excused { because }
            | Want::Undecided { because },
        ) => Some(because.clone()),
        Some(Want::Holds) | None => return Want::Holds,
    };
    Want::Unchecked { because }
}
