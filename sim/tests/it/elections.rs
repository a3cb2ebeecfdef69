//! Elections: what a term is, and what becomes of a candidate after it.

use crate::common::plans;

use picklock_checker::{ContenderId, EventKind, History, Verdict, Vocabulary, invariants};
use picklock_sim::plan::{Direction, Ensemble, Fault, Hold, Service};
use picklock_sim::simulate;
use plans::{FIRST, acquired, plan_on, planned, seconds};

const RECIPES: [&str; 4] = [
    "zk-leader-election",
    "curator-leader-latch",
    "curator-leader-latch-own-node",
    "curator-leader-selector",
];

fn counts(history: &History, is_it: impl Fn(&EventKind) -> bool) -> usize {
    let events = history.events.iter();
    events.filter(|event| is_it(&event.what)).count()
}

fn by_first(what: &EventKind) -> bool {
    what.by() == Some(ContenderId(0))
}

#[test]
fn candidates_lead_one_after_the_other_and_a_history_says_that_they_lead() {
    for recipe in RECIPES {
        let mut plan = plan_on(Service::ZooKeeper(Ensemble::default()), recipe, Vec::new());
        plan.workload.contenders = 4;
        plan.workload.hold = Hold::For(seconds(1));
        let run = simulate(&plan, 0).whole().run;
        assert_eq!(run.history.vocabulary, Vocabulary::Election, "{recipe}");
        let is_term = |what: &EventKind| matches!(what, EventKind::Acquired { .. });
        let terms = counts(&run.history, is_term);
        assert_eq!(terms, 4, "{recipe}");
        for invariant in [
            "mutual-exclusion",
            "exclusive-ownership",
            "progress",
            "fifo",
        ] {
            let verdict = invariants::find(invariant).map(|known| known.verdict(&run));
            assert_eq!(verdict, Some(Verdict::Holds), "{recipe}: {invariant}");
        }
    }
}

/// The first leads, and is cut off for less than its session lasts, and for longer than it bears the silence.
fn disconnected_leader(recipe: &str) -> History {
    let cut = Fault::BlackHole {
        target: FIRST,
        direction: Direction::Both,
        length: seconds(5).into(),
    };
    let faults = vec![planned(acquired(), cut)];
    let mut plan = plan_on(Service::ZooKeeper(Ensemble::default()), recipe, faults);
    plan.workload.hold = Hold::For(seconds(8));
    simulate(&plan, 0).whole().run.history
}

#[test]
fn a_latch_that_has_lost_its_term_stays_a_candidate_and_leads_again_by_the_same_node() {
    let history = disconnected_leader("curator-leader-latch");
    let queued = counts(&history, |what| {
        by_first(what) && matches!(what, EventKind::Queued { .. })
    });
    let terms = counts(&history, |what| {
        by_first(what) && matches!(what, EventKind::Acquired { .. })
    });
    assert_eq!((queued, terms), (1, 2));
}

#[test]
fn a_selector_that_has_lost_its_term_stands_behind_the_others() {
    let history = disconnected_leader("curator-leader-selector");
    let mut leaders = history.events.iter().filter_map(|event| match event.what {
        EventKind::Acquired { by, .. } => Some(by.0),
        _ => None,
    });
    assert_eq!(leaders.by_ref().take(3).collect::<Vec<_>>(), [0, 1, 0]);
}
