//! What the search that aims knows of locks in general: a test for each piece of it.

use std::time::Duration;

use picklock_sim::engine::Tape;
use picklock_sim::plan::{ContenderName, Fault, FaultKind, Trigger};
use picklock_sim::simulate_seen;

use super::detection_rate::{self, Effort, measure};
use super::profile::Profile;
use super::targeted::{self, TryOrder};
use super::tests::{all_shots, case, told};

/// What is tried first with faults of the kinds that the file has, as sentences.
fn first(scenario: &str, name: &str) -> Vec<String> {
    let kinds = targeted::kinds_of(&case(scenario, name).plan);
    told(scenario, name, &kinds).swap_remove(0)
}

#[test]
fn what_follows_a_crash_strikes_the_next_holder() {
    let (scenario, name) = ("zookeeper/granted-timeout", "zk-predecessor-watch");
    let crash_first = [FaultKind::Crash, FaultKind::Pause];
    let tried = told(scenario, name, &crash_first);
    let pause = "pause contender-3 for 24s when contender-3 is about to write";
    assert_eq!(
        tried[0],
        ["crash contender-2 for good when contender-2 waits", pause]
    );
    // And a contender that stands still is not to die of it.
    let dies = tried[1].last().unwrap();
    assert!(
        tried[1][0].starts_with("pause contender-1"),
        "{:?}",
        tried[1]
    );
    assert_eq!(dies, "crash contender-2 for good when fault 1 has fired");
}

#[test]
fn a_blocked_callback_hides_what_comes_when_the_first_questions_are_answered() {
    let tried = first("zookeeper/blocked-event-thread", "zk-hardened");
    assert!(
        tried[1].ends_with("600ms after fault 1 has fired"),
        "{tried:?}"
    );
    // And it hides it until the section is over, which lasts for longer than any session.
    let plan = &case("zookeeper/blocked-event-thread", "zk-hardened").plan;
    let calm = targeted::calm(plan);
    let (_, seen) = simulate_seen(&calm, Tape::from_seed(0));
    let shots = all_shots(&calm, &seen, &targeted::kinds_of(plan));
    let Fault::BlockEvents { length, .. } = shots[0].plan.faults[0].inject else {
        panic!("{tried:?}");
    };
    assert!(length.at_least(Duration::from_secs(21)), "{length:?}");
}

/// At which places an acquire is to miss its turn, among the first cuts that are tried.
fn missed_turns(scenario: &str, name: &str) -> Vec<usize> {
    let calm = targeted::calm(&case(scenario, name).plan);
    let (_, seen) = simulate_seen(&calm, Tape::from_seed(0));
    let shots = all_shots(&calm, &seen, &[FaultKind::Cut]);
    let of_another = |fault: &(usize, &super::candidate::Candidate)| {
        let cut = &fault.1.plan.faults[0];
        let Fault::Cut { target } = cut.inject else {
            return false;
        };
        matches!(cut.when, Trigger::Releasing { by, .. } if by != target)
    };
    let missed = shots.iter().enumerate().filter(of_another);
    missed.map(|(index, _)| index).collect()
}

#[test]
fn a_waiter_with_notifications_is_away_while_another_releases() {
    let queues = missed_turns("zookeeper/missed-while-away", "zk-recursive-watch");
    assert!(queues.first().is_some_and(|index| *index < 2), "{queues:?}");
    // A contender that polls misses nothing.
    assert!(missed_turns("redis/hidden-retry", "redis-set-nx-px-del").is_empty());
}

#[test]
fn a_lease_is_lost_where_its_first_renewal_is_late() {
    let tried = first("redis/stalled-connection", "redisson-lock");
    assert!(
        tried[0].ends_with("when contender-1 sends its 3rd script"),
        "{tried:?}"
    );
}

#[test]
fn a_slot_arrives_when_a_release_has_given_up_and_the_lease_lasts() {
    let case = case("redis/cluster-slot-moves", "redisson-lock");
    let calm = targeted::calm(&case.plan);
    let (_, seen) = simulate_seen(&calm, Tape::from_seed(0));
    let shots = all_shots(&calm, &seen, &[FaultKind::MoveSlot]);
    let Fault::MoveSlot { length, .. } = shots[0].plan.faults[0].inject else {
        panic!("another fault");
    };
    assert_eq!(length, case.plan.service.lease() / 2);
}

#[test]
fn a_primary_dies_when_a_key_has_gone_ahead_of_its_slot() {
    let (scenario, name) = (
        "redis/cluster-slot-moves-failover",
        "redis-compare-and-delete",
    );
    let kinds = [FaultKind::MoveSlot, FaultKind::CrashServer];
    let tried = told(scenario, name, &kinds);
    // Half of a lease of 30 s, of which a quarter has to be over.
    assert!(
        tried[0][0].starts_with("move-slot to server-1 for 15s"),
        "{:?}",
        tried[0]
    );
    assert!(
        tried[0][1].ends_with("3985ms after fault 1 has fired"),
        "{:?}",
        tried[0]
    );
    // Two replicas may share the votes, so what comes first comes again at once.
    let calm = targeted::calm(&case(scenario, name).plan);
    let (_, seen) = simulate_seen(&calm, Tape::from_seed(0));
    let profile = Profile::of(&calm, &seen);
    let mut order = TryOrder::of(&targeted::shots(&profile, &kinds, 4));
    let order: Vec<usize> = (0..4).map_while(|_| order.next(|_| 4)).collect();
    assert_eq!(order, [0, 0, 1, 0]);
}

#[test]
fn a_client_that_asks_who_leads_is_dead_while_the_lock_is_free() {
    let kinds = [FaultKind::HangServer, FaultKind::Crash];
    let tried = told("redis/sentinel-resumed-primary", "redis-wait", &kinds);
    let outage = |faults: &&Vec<String>| faults[0].ends_with("when contender-1 has released");
    let faults = tried.iter().take(4).find(outage).expect("an outage");
    assert!(
        faults[1].starts_with("crash contender-2 and restart it after 6"),
        "{faults:?}"
    );
    assert!(
        faults[1].ends_with("when contender-1 has acquired"),
        "{faults:?}"
    );
}

#[test]
fn a_contender_dies_until_it_has_seen_most_of_several_servers() {
    let (scenario, name) = ("zookeeper/read-only", "zk-known-by-name");
    let tried = first(scenario, name);
    let deaths = tried
        .iter()
        .filter(|fault| fault.starts_with("crash contender-1"));
    assert_eq!(deaths.count(), 5, "{tried:?}");
    // A leader that is cut off answers reads like any other server, so it is always the first holder's that is.
    let plan = &case(scenario, name).plan;
    let calm = targeted::calm(plan);
    for seed in 0..20 {
        let (_, seen) = simulate_seen(&calm, Tape::from_seed(seed));
        let shots = all_shots(&calm, &seen, &targeted::kinds_of(plan));
        let when = &shots[0].plan.faults[0].when;
        assert!(
            matches!(when, Trigger::Acquired { by, .. } if *by == ContenderName(0)),
            "{seed}: {when:?}"
        );
    }
}

/// Whether something like this is among the first four that are tried with a kind of fault.
fn is_early(scenario: &str, name: &str, (kind, wanted): (FaultKind, &str)) -> bool {
    let tried = told(scenario, name, &[kind]);
    tried.iter().take(4).any(|faults| faults[0] == wanted)
}

#[test]
fn a_session_that_its_client_gives_up_lives_on_while_another_holds_the_lock() {
    let away = "crash-server leader and restart it after 9s when contender-2 waits";
    let lapse = (FaultKind::CrashServer, away);
    assert!(is_early(
        "zookeeper/curator-outlived-session",
        "curator-mutex",
        lapse
    ));
    let unheard = "black-hole contender-2 towards the client for 10500ms when contender-2 waits";
    let lapse = (FaultKind::BlackHole, unheard);
    assert!(is_early(
        "zookeeper/curator-unheard-session",
        "curator-mutex",
        lapse
    ));
}

#[test]
fn what_no_lock_outlives_is_tried_where_it_is_asked_for() {
    let for_ever = case("zookeeper/swallowed-reply-for-ever", "zk-hardened").plan;
    let kinds = [FaultKind::SwallowReply, FaultKind::Cut];
    assert_eq!(FaultKind::tried_in(&for_ever, &kinds), kinds);
    assert_eq!(FaultKind::possible_in(&for_ever, &kinds), [FaultKind::Cut]);
    // A request timeout is what lets a lock outlive it.
    let with_timeout = case("zookeeper/swallowed-reply", "zk-no-guid").plan;
    assert_eq!(FaultKind::possible_in(&with_timeout, &kinds), kinds);
}

/// One fault or two are enough to break these, and more than five runs were needed, or more than three hundred, before
/// the search knew what it knows now.
#[test]
fn five_runs_are_enough_for_what_one_fault_breaks_or_two() {
    let cases = [
        ("zookeeper/blocked-event-thread", "zk-hardened"),
        ("zookeeper/blocked-event-thread", "curator-mutex"),
        ("zookeeper/curator-outlived-session", "curator-mutex"),
        ("zookeeper/curator-unheard-session", "curator-mutex"),
        ("zookeeper/granted-timeout", "zk-predecessor-watch"),
        ("zookeeper/granted-timeout", "zk-hardened"),
        ("zookeeper/missed-while-away", "zk-recursive-watch-trusting"),
        ("zookeeper/read-only", "zk-read-then-write"),
        ("zookeeper/swallowed-reply-for-ever", "zk-hardened"),
        ("zookeeper/swallowed-reply-for-ever", "curator-mutex"),
        ("redis/stalled-connection", "redisson-lock"),
        ("redis/cluster-slot-moves", "redisson-lock"),
        ("redis/cluster-slot-moves-failover", "redis-wait"),
        ("redis/sentinel-resumed-primary", "redis-compare-and-delete"),
    ];
    let (bases, limit) = (4, 5);
    let aimed = detection_rate::PlanSource::Aimed;
    all_find(&cases, aimed, Effort { bases, limit });
    // Five are enough for all but its `timely-loss`, for which a base in a hundred needs about fifty.
    let cases = [("zookeeper/read-only", "zk-known-by-name")];
    let limit = 60;
    all_find(&cases, aimed, Effort { bases, limit });
}

/// From every base everything that these cases are to show is found.
pub(crate) fn all_find(cases: &[(&str, &str)], way: detection_rate::PlanSource, effort: Effort) {
    let bases = effort.bases;
    for (scenario, name) in cases {
        let found = measure(&case(scenario, name), way, effort);
        assert!(!found.is_empty(), "{scenario} {name}");
        for found in found {
            assert_eq!(
                found.found(),
                bases,
                "{scenario} {name} {}",
                found.invariant
            );
        }
    }
}
