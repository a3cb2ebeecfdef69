//! What the registry says that recipes ask and heed is what they do: drawn faults go by it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use picklock_algorithms::RecipeInput;
use picklock_algorithms::clients::RequestKind;
use picklock_algorithms::registry::RECIPES;
use picklock_checker::{ContenderId, EventKind, History};
use picklock_scenarios::{BUILT_IN, Case, Catalogue, parse};
use picklock_sim::engine::Tape;
use picklock_sim::plan::{ContenderName, Ensemble, Fault, LockNode, Plan, PlannedFault, Trigger};
use picklock_sim::{simulate, simulate_seen};

/// Those of the library that take no long runs.
fn cases() -> impl Iterator<Item = Case> {
    let short = BUILT_IN.iter().filter(|(name, _)| !name.contains("stock"));
    short
        .flat_map(|(name, text)| {
            let scenario = parse(name, text, &Catalogue::EVERYTHING);
            let scenario = scenario.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
            scenario.cases
        })
        .filter(has_lock_node)
}

/// Whether the lock's own node is there: a client that makes it first asks for more than the registry says.
fn has_lock_node(case: &Case) -> bool {
    let ensemble = case.plan.service.get::<Ensemble>();
    ensemble.is_none_or(|ensemble| ensemble.lock_node == LockNode::Persistent)
}

/// The kinds of requests that contenders send.
fn sent(plan: &Plan, seed: u64) -> BTreeSet<RequestKind> {
    let (_, seen) = simulate_seen(plan, Tape::explored(plan.network.chance, seed));
    let sent = seen.iter().filter_map(|moment| match moment.trigger {
        Trigger::Sent { request, .. } => Some(request),
        _ => None,
    });
    sent.collect()
}

#[test]
fn recipes_make_the_requests_that_the_registry_names() {
    let mut made: BTreeMap<&str, BTreeSet<RequestKind>> = BTreeMap::new();
    for case in cases() {
        let made = made.entry(case.algorithm.name).or_default();
        let quiet = Plan {
            faults: Vec::new(),
            ..case.plan.clone()
        };
        for plan in [&case.plan, &quiet] {
            (0..2).for_each(|seed| made.extend(sent(plan, seed)));
        }
    }
    let mut different = Vec::new();
    for recipe in RECIPES {
        let mut made = made.remove(recipe.name).unwrap_or_default();
        // What the client of a cluster or of Sentinels asks for itself.
        made.remove(&RequestKind::OtherCommand);
        let asks: BTreeSet<RequestKind> = recipe.requests.iter().copied().collect();
        if made != asks {
            different.push((recipe.name, made));
        }
    }
    assert!(different.is_empty(), "{different:?}");
}

/// What becomes of a plan if all clocks of contenders jump by so much, each as its contender begins.
fn with_jumps(plan: &Plan, by_millis: i64) -> History {
    let mut plan = plan.clone();
    let contenders = (0..plan.workload.contenders).map(ContenderName);
    plan.faults = contenders
        .map(|target| PlannedFault {
            when: Trigger::Acquiring { by: target, nth: 1 },
            after: Duration::from_millis(50),
            repeat: None,
            text: String::new(),
            inject: Fault::ClockJump { target, by_millis },
        })
        .collect();
    simulate(&plan, 1).run.history
}

#[test]
fn a_recipe_without_the_wall_clock_does_not_mind_its_jumps() {
    let mut minded = BTreeSet::new();
    for case in cases() {
        for hour in [3_600_000, -3_600_000] {
            let far = with_jumps(&case.plan, hour);
            if far.events != with_jumps(&case.plan, 1).events {
                minded.insert(case.algorithm.name);
            }
        }
    }
    for recipe in RECIPES {
        let reads = recipe.inputs.contains(&RecipeInput::WallClock);
        assert!(reads || !minded.contains(recipe.name), "{}", recipe.name);
    }
    assert!(!minded.is_empty(), "no recipe minds a jump of a clock");
}

#[test]
fn a_contender_that_tries_once_is_answered_at_once() {
    let mut asked = BTreeSet::new();
    for recipe in RECIPES {
        let workload = match recipe.ownership.kind.name() {
            "semaphore" => "permits = 1",
            "multi-lock" => "locks = 2\nlocks-at-once = 2",
            _ => "",
        };
        let name = recipe.name;
        let text = format!(
            "[workload]\ncontenders = 2\narrive = \"in-order\"\nhold = \"10s\"\n{workload}\n\
             [[contender]]\nname = \"contender-2\"\nacquire-timeout = \"0s\"\n\
             [[case]]\nalgorithm = \"{name}\"\n"
        );
        let scenario = parse("try", &text, &Catalogue::EVERYTHING);
        let says_so = recipe.inputs.contains(&RecipeInput::TryAcquire);
        assert_eq!(scenario.is_ok(), says_so, "{name}");
        let Ok(scenario) = scenario else { continue };
        let run = simulate(&scenario.cases[0].plan, 0).run;
        let tries = tries_of(&run.history, ContenderId(1));
        let slow = tries
            .iter()
            .find(|took| **took > Duration::from_millis(500));
        let in_vain = tries.len() > 10 || recipe.flaw.is_some();
        assert!(in_vain && slow.is_none(), "{name}: {tries:?}");
        asked.insert(name);
    }
    assert!(asked.len() > 10, "{asked:?}");
}

/// How long each of its calls of `acquire` has taken.
fn tries_of(history: &History, by: ContenderId) -> Vec<Duration> {
    let (mut tries, mut since) = (Vec::new(), None);
    for event in &history.events {
        match event.what {
            EventKind::AcquireStarted { by: of, .. } if of == by => since = Some(event.at),
            EventKind::Acquired { by: of, .. } | EventKind::AcquireFailed { by: of, .. }
                if of == by =>
            {
                tries.extend(since.take().map(|since| event.at.since(since)));
            }
            _ => {}
        }
    }
    tries
}

#[test]
fn threads_can_share_each_lock_object_that_is_said_to_be_shareable() {
    let shareable = RECIPES.iter().filter(|recipe| recipe.shareable);
    for recipe in shareable {
        let kind = match recipe.ownership.kind.name() {
            "semaphore" => "permits = 2",
            _ => "",
        };
        let text = format!(
            "[workload]\ncontenders = 4\ntasks-per-process = 2\nshare = \"lock\"\nrounds = 2\n\
             hold = \"1s\"\nsection = \"nothing\"\n{kind}\n[[case]]\nalgorithm = \"{}\"\n",
            recipe.name
        );
        let scenario = parse("share", &text, &Catalogue::EVERYTHING);
        let scenario = scenario.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
        for seed in 0..20 {
            let run = simulate(&scenario.cases[0].plan, seed).whole().run;
            let broken: Vec<&str> = { picklock_checker::check_all(&run).into_iter() }
                .filter(|(_, verdict)| verdict.witness().is_some())
                .map(|(invariant, _)| invariant)
                .collect();
            let may = recipe.flaw.is_some();
            assert!(
                broken.is_empty() || may,
                "{} {seed}: {broken:?}",
                recipe.name
            );
            let held = { run.history.events.iter() }
                .filter(|event| matches!(event.what, EventKind::Acquired { .. }));
            assert!(held.count() >= 8, "{} {seed}", recipe.name);
        }
    }
}
