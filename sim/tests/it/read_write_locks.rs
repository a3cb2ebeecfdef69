//! Read-write locks: which contenders own them together, and which wait for which.

use crate::common::plans;

use std::collections::BTreeMap;

use picklock_checker::{ContenderId, EventKind, History, Mode, Verdict, invariants};
use picklock_sim::plan::{
    Arrival, ContenderName, ContenderSettings, Ensemble, Fault, Hold, Plan, Rate, Reads, Section,
    Service,
};
use picklock_sim::simulate;
use plans::{FIRST, acquired, plan_on, planned, seconds};

fn plan(recipe: &str, reads: Reads) -> Plan {
    let mut plan = plan_on(Service::ZooKeeper(Ensemble::default()), recipe, Vec::new());
    plan.workload.contenders = 4;
    plan.workload.hold = Hold::For(seconds(1));
    plan.workload.reads = reads;
    plan.workload.section = Section::Count;
    plan
}

/// How many own the lock at most at once.
fn owners_at_once(history: &History) -> usize {
    let (mut owners, mut most) = (0_usize, 0);
    for event in &history.events {
        match event.what {
            EventKind::Owned { .. } => owners += 1,
            EventKind::Disowned { .. } => owners -= 1,
            _ => {}
        }
        most = most.max(owners);
    }
    most
}

const RECIPES: [&str; 2] = ["zk-shared-locks", "curator-read-write-lock"];

#[test]
fn an_announced_contender_waits_and_owns_nothing() {
    for (recipe, first) in [
        ("zk-shared-locks-readers-first", Reads::Never),
        ("zk-shared-locks-writers-first", Reads::Always),
    ] {
        // One of one kind comes while others of the other kind are inside, and before a last one.
        let others = match first {
            Reads::Never => Reads::Always,
            Reads::Always | Reads::Share(_) => Reads::Never,
        };
        let mut plan = plan(recipe, others);
        plan.workload.arrive = Arrival::InOrder;
        let own = ContenderSettings {
            reads: Some(first),
            ..ContenderSettings::default()
        };
        plan.workload.contender_settings = BTreeMap::from([(ContenderName(1), own)]);
        let run = simulate(&plan, 0).run;
        let whos = run
            .history
            .events
            .iter()
            .filter_map(|event| match event.what {
                EventKind::Owned { by, .. } => Some(by.0),
                _ => None,
            });
        let order: Vec<u32> = whos.collect();
        assert_eq!(order.last(), Some(&1), "{recipe}: {order:?}");
        for invariant in [
            "mutual-exclusion",
            "exclusive-ownership",
            "progress",
            "no-orphan",
        ] {
            let verdict = invariants::find(invariant).map(|known| known.verdict(&run));
            assert_eq!(verdict, Some(Verdict::Holds), "{recipe}: {invariant}");
        }
    }
}

#[test]
fn readers_own_the_lock_together_and_writers_one_by_one() {
    for recipe in RECIPES {
        let all = |reads| simulate(&plan(recipe, reads), 0).run;
        let (readers, writers) = (all(Reads::Always), all(Reads::Never));
        assert_eq!(owners_at_once(&readers.history), 4, "{recipe}");
        assert_eq!(owners_at_once(&writers.history), 1, "{recipe}");
        for run in [readers, writers] {
            for invariant in ["mutual-exclusion", "exclusive-ownership", "progress"] {
                let verdict = invariants::find(invariant).map(|known| known.verdict(&run));
                assert_eq!(verdict, Some(Verdict::Holds), "{recipe}: {invariant}");
            }
        }
    }
}

#[test]
fn a_share_of_the_rounds_is_to_read_and_writes_nothing() {
    let mut plan = plan("zk-shared-locks", Reads::Share(Rate::percent(50)));
    plan.workload.rounds = 25;
    plan.workload.hold = Hold::For(seconds(0));
    let history = simulate(&plan, 1).run.history;
    let of = |wanted: &dyn Fn(&EventKind) -> bool| {
        let events = history.events.iter();
        events.filter(|event| wanted(&event.what)).count()
    };
    let acquired =
        |mode| of(&|what| matches!(what, EventKind::Acquired { mode: of, .. } if *of == mode));
    let (reads, writes) = (acquired(Mode::Shared), acquired(Mode::Exclusive));
    assert_eq!(reads + writes, 100);
    assert!((30..=70).contains(&reads), "{reads} of 100");
    assert_eq!(of(&|what| matches!(what, EventKind::Effect { .. })), writes);
}

#[test]
fn a_writer_waits_for_the_readers_ahead_and_readers_behind_it_wait_for_the_writer() {
    for recipe in RECIPES {
        let mut plan = plan(recipe, Reads::Always);
        plan.workload.arrive = Arrival::InOrder;
        let writes = ContenderSettings {
            reads: Some(Reads::Never),
            ..ContenderSettings::default()
        };
        let third = ContenderName(2);
        plan.workload.contender_settings = BTreeMap::from([(third, writes)]);
        let history = simulate(&plan, 0).run.history;
        let whos = history.events.iter().filter_map(|event| match event.what {
            EventKind::Acquired { by, .. } => Some((by.0, event.at)),
            _ => None,
        });
        let [(_, first), (_, second), (writer, third), (last, fourth)] =
            whos.collect::<Vec<_>>()[..]
        else {
            panic!("four enter: {recipe}");
        };
        assert!(second.since(first) < seconds(1), "{recipe}");
        assert_eq!(writer, 2, "{recipe}");
        assert!(third.since(second) >= seconds(1), "{recipe}");
        assert_eq!(last, 3, "{recipe}");
        assert!(fourth.since(third) >= seconds(1), "{recipe}");
    }
}

#[test]
fn one_reader_among_writers_is_told_apart_from_them() {
    let mut plan = plan("zk-shared-locks", Reads::Never);
    let reads = ContenderSettings {
        reads: Some(Reads::Always),
        ..ContenderSettings::default()
    };
    plan.workload.contender_settings = BTreeMap::from([(FIRST, reads)]);
    let history = simulate(&plan, 0).run.history;
    for event in &history.events {
        if let EventKind::Owned { by, mode, .. } | EventKind::Acquired { by, mode, .. } = event.what
        {
            assert_eq!(mode == Mode::Shared, by == ContenderId(0));
        }
    }
}

#[test]
fn a_reader_that_stands_still_past_its_session_meets_a_writer() {
    let meets = |reads: Reads| {
        let mut plan = plan("zk-shared-locks", Reads::Always);
        plan.workload.contenders = 2;
        plan.workload.arrive = Arrival::InOrder;
        let second = ContenderSettings {
            reads: Some(reads),
            ..ContenderSettings::default()
        };
        plan.workload.contender_settings = BTreeMap::from([(ContenderName(1), second)]);
        let pause = Fault::Pause {
            target: FIRST,
            length: seconds(60).into(),
        };
        plan.faults = vec![planned(acquired(), pause)];
        let run = simulate(&plan, 0).run;
        let verdict = invariants::find("mutual-exclusion").map(|invariant| invariant.verdict(&run));
        verdict.is_some_and(|verdict| verdict.witness().is_some())
    };
    assert!(meets(Reads::Never));
    assert!(!meets(Reads::Always), "readers do not mind each other");
}
