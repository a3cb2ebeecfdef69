//! What a release costs, one at a time, with so many who wait. Real servers were counted with 19 of them: see
//! `docs/zookeeper.md`.

use std::time::Duration;

use picklock_algorithms::registry;
use picklock_checker::{Counts, EventKind};
use picklock_sim::plan::{
    Arrival, Ensemble, Hold, Network, Plan, Resource, Section, Service, Workload,
};
use picklock_sim::simulate;

/// Of so many, one holds and the others wait. The queue drains, and before each release all others wait again.
fn plan(algorithm: &str, contenders: u32) -> Plan {
    Plan {
        recipe: *registry::find(algorithm).expect("a registered algorithm"),
        service: Service::ZooKeeper(Ensemble {
            servers: 1,
            ..Ensemble::default()
        }),
        network: Network::default(),
        workload: Workload {
            contenders,
            arrive: Arrival::BehindHolder,
            hold: Hold::Settled,
            section: Section::Nothing,
            ..Workload::default()
        },
        resource: Resource { fenced: false },
        faults: Vec::new(),
        event_budget: 10_000_000,
    }
}

fn drain(algorithm: &str, contenders: u32) -> Counts {
    simulate(&plan(algorithm, contenders), 1).run.counts
}

/// What the releases cost before which so many wait, and so many less, down to one.
fn each_of(waiters: u64, cost: impl Fn(u64) -> u64) -> u64 {
    (1..=waiters).map(cost).sum()
}

/// Requests, and notifications, of the whole drain.
fn cost(algorithm: &str, contenders: u32) -> (u64, u64) {
    let counts = drain(algorithm, contenders);
    let told = counts.notifications_to_waiters + counts.notifications_to_releaser;
    (counts.requests, told)
}

#[test]
fn a_release_wakes_one_waiter_where_a_predecessor_is_watched() {
    // A delete, and a list.
    let expected = (each_of(19, |_| 2), each_of(19, |_| 1));
    assert_eq!(cost("zk-predecessor-watch", 20), expected);
}

#[test]
fn a_release_costs_a_create_and_a_look_of_all_where_they_want_the_same_name() {
    // With 19: a delete, 19 creates of which 18 fail, and 18 looks.
    let expected = (
        each_of(19, |waiters| 2 * waiters),
        each_of(19, |waiters| waiters),
    );
    assert_eq!(cost("zk-same-name", 20), expected);
}

#[test]
fn a_release_costs_a_list_for_all_where_they_watch_the_children() {
    // With 19: a delete, and 19 lists. From the second on the releaser is told too, by the watch that it has left.
    let told = each_of(19, |waiters| waiters) + 18;
    let expected = (each_of(19, |waiters| 1 + waiters), told);
    assert_eq!(cost("zk-children-watch", 20), expected);
}

/// How long it takes until the last of twenty has the lock, at three servers whose leader is busy for so long with each
/// proposal.
fn until_the_last(algorithm: &str, proposal_time: Duration) -> Duration {
    let mut plan = plan(algorithm, 20);
    plan.workload.hold = Hold::For(Duration::from_millis(500));
    plan.service = Service::ZooKeeper(Ensemble {
        proposal_time,
        ..Ensemble::default()
    });
    let history = simulate(&plan, 1).run.history;
    let granted = |what: &EventKind| matches!(what, EventKind::Acquired { .. });
    let mut grants = history.events.iter().filter(|event| granted(&event.what));
    let first = grants.next().expect("a grant");
    grants.next_back().expect("more of them").at.since(first.at)
}

#[test]
fn creates_that_fail_get_in_each_others_way_at_a_leader_that_takes_its_time() {
    let longer = |algorithm| {
        let slow = until_the_last(algorithm, Duration::from_millis(1));
        slow.saturating_sub(until_the_last(algorithm, Duration::ZERO))
    };
    // A release is one delete, and, if they want the same name, a create of every waiter.
    let all_at_once = longer("zk-same-name") / 19;
    assert!(all_at_once > Duration::from_millis(5), "{all_at_once:?}");
    let one_by_one = longer("zk-predecessor-watch") / 19;
    assert!(one_by_one < Duration::from_millis(2), "{one_by_one:?}");
}
