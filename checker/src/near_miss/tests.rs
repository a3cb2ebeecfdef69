use std::time::Duration;

use super::*;
use crate::notation;

/// A distance of a run, in milliseconds.
fn distance(name: &str, text: &str) -> Option<u64> {
    let run = notation::run(text);
    let nearness = Nearness::of(&Evidence::of(&run));
    let found = nearness.found().find(|(known, _)| *known == name);
    found.map(|(_, near)| near.distance.as_millis() as u64)
}

/// How near holds came, with two permits.
fn between_of_two(text: &str) -> Option<u64> {
    between_of(text, 2, Vec::new())
}

/// The same with so many, and so many by each call.
fn between_of(text: &str, permits: u32, by_one_call: Vec<u32>) -> Option<u64> {
    let mut run = notation::run(text);
    (run.facts.permits, run.facts.permits_per_acquire) = (permits, by_one_call);
    let nearness = Nearness::of(&Evidence::of(&run));
    let found = nearness.found().find(|(name, _)| *name == "between-holds");
    found.map(|(_, near)| near.distance.as_millis() as u64)
}

fn between(text: &str) -> Option<u64> {
    distance("between-holds", text)
}

fn loss(text: &str) -> Option<u64> {
    distance("before-loss", text)
}

fn lease(text: &str) -> Option<u64> {
    distance("lease-left", text)
}

#[test]
fn between_holds_is_the_least_of_all_hand_overs() {
    assert_eq!(between("a:0-10 b:10.5-20 a:20.25-30"), Some(250));
    assert_eq!(between("a:0-10 b:10-20"), Some(0));
}

#[test]
fn holds_that_overlap_are_no_distance_apart() {
    assert_eq!(between("a:0-10 b:9-20"), Some(0));
    assert_eq!(between("a:0- b:5-6 end:9"), Some(0));
    assert_eq!(between("a:0-10 b:11-12 a:13-14 b:13.5-15"), Some(0));
}

#[test]
fn a_contender_that_takes_the_lock_again_comes_no_nearer() {
    assert_eq!(between("a:0-10 a:11-20 a:21-30"), None);
    assert_eq!(between("a:0-10 a:11-20 b:23-30"), Some(3_000));
    assert_eq!(between("b:0-5 a:7-10 a:11-20"), Some(2_000));
}

#[test]
fn locks_of_different_names_do_not_come_near() {
    assert_eq!(between("a:0-4/on=x b:5-6/on=y"), None);
    assert_eq!(between("a:0-4/on=x b:1-2/on=y b:5-6/on=x"), Some(1_000));
}

#[test]
fn an_ordinary_release_is_no_loss() {
    assert_eq!(loss("a=0-10 a:0-9"), None);
    assert_eq!(loss("a=0-10/how=a a:0-9"), None);
    assert_eq!(loss("a:0-9"), None);
}

#[test]
fn before_loss_is_how_long_a_holder_had_let_go_before_the_lock_was_taken_away() {
    assert_eq!(loss("a=0-10/how=expired a:0-8"), Some(2_000));
    assert_eq!(loss("a=0-10/how=outside a:0-9.5"), Some(500));
    assert_eq!(loss("a=0-10/how=b a:0-10"), Some(0));
}

#[test]
fn who_holds_on_after_the_loss_had_nothing_left() {
    assert_eq!(loss("a=0-10/how=expired a:0-11"), Some(0));
    assert_eq!(loss("a=0-10/how=expired a:0- end:12"), Some(0));
}

#[test]
fn a_holder_that_was_heard_all_the_time_has_all_of_its_lease() {
    assert_eq!(lease("a:0-9"), None);
    assert_eq!(lease("a:0-9 a.paused:10 a.resumed:15"), None);
    assert_eq!(lease("a:0-9 b.paused:1 b.resumed:15"), None);
}

#[test]
fn a_pause_uses_up_the_lease_until_it_is_over_or_the_hold_is() {
    // A lease of 6 s.
    assert_eq!(lease("a:0-9 a.paused:1 a.resumed:6.5"), Some(500));
    assert_eq!(lease("a:0-3 a.paused:1 a.resumed:6.5"), Some(4_000));
    assert_eq!(lease("a:0-9 a.disconnected:1 a.reconnected:4"), Some(3_000));
    assert_eq!(lease("a:0- a.paused:1 end:3"), Some(4_000));
}

#[test]
fn pauses_one_after_the_other_are_no_long_one() {
    let text = "a:0-20 a.paused:1 a.resumed:5 a.paused:6 a.resumed:9";
    assert_eq!(lease(text), Some(2_000));
    let text = "a:0-20 a.paused:1 a.disconnected:2 a.resumed:3 a.reconnected:5";
    assert_eq!(lease(text), Some(2_000));
}

#[test]
fn a_session_that_ended_tells_exactly_how_much_was_left() {
    let text = "a:0-5 a.disconnected:4 a.session-expired:7.5 a.session-lost:9";
    assert_eq!(lease(text), Some(2_500));
    assert_eq!(lease("a:0-5 a.session-expired:5.25"), Some(250));
    assert_eq!(lease("a:0-5 a.session-expired:5"), Some(0));
    assert_eq!(
        lease("a:0-5 a.paused:1 a.session-expired:4 a.resumed:4.5"),
        Some(0)
    );
}

#[test]
fn a_write_that_arrives_late_counts_as_long_as_the_hold() {
    let text = "a:0-5 a*4-7/token=1 a.paused:4 a.session-expired:8";
    assert_eq!(lease(text), Some(1_000));
    assert_eq!(
        lease("a:0-5 a*4-9/token=1 a.paused:4 a.session-expired:8"),
        Some(0)
    );
    let refused = "a:0-5 a*4-9/token=1/rejected a.paused:4 a.session-expired:8";
    assert_eq!(lease(refused), Some(3_000));
}

#[test]
fn the_session_of_a_dead_process_is_not_that_of_the_next() {
    let text = "a:0-5 a.crashed:5 a.restarted:6 a:8-20 a.session-expired:11";
    assert_eq!(lease(text), None);
}

#[test]
fn a_miss_is_near_and_no_overlap() {
    let miss = |text| {
        let run = notation::run(text);
        let miss = Nearness::of(&Evidence::of(&run)).miss();
        miss.map(|near| (near.distance, near.at.micros()))
    };
    // However short, an ordinary hand-over is none.
    assert_eq!(miss("a=0-10 a:0-10 b=10.1- b:10.1-20"), None);
    let near = "a=0-10/how=expired a:0-9 b=10- b:10.5-20 a.disconnected:7";
    assert_eq!(miss(near), Some((Duration::from_secs(1), 9_000_000)));
    assert_eq!(miss("a=0-10/how=expired a:0-11 b=10- b:10.5-20"), None);
    assert_eq!(miss("a=0-10/how=expired a:0-11"), None);
}

#[test]
fn a_call_of_several_permits_comes_near_to_those_that_leave_it_too_few() {
    // The first named takes two of three.
    let near = |text: &str| between_of(text, 3, vec![2]);
    // There are two left for a, and then one.
    assert_eq!(near("a:0-1 b:2-10 a:12-15"), None);
    assert_eq!(near("a:0-1 b:9-10 c:9-20 a:12-15"), Some(2_000));
    assert_eq!(near("a:0-10 b:1-20 c:13-15"), Some(3_000));
}

#[test]
fn with_two_permits_the_second_but_last_end_is_the_near_one() {
    assert_eq!(between_of_two("a:0-10 b:1-20"), None);
    assert_eq!(between_of_two("a:0-10 b:1-20 c:12-15"), Some(2_000));
    assert_eq!(between_of_two("a:0-10 b:1-20 c:9-15"), Some(0));
    // Earlier holds of the same contender do not count.
    assert_eq!(between_of_two("a:0-10 b:1-20 a:11-15 b:21-22"), None);
    assert_eq!(between_of_two("a:0-10/on=x b:1-20/on=y c:12-15/on=x"), None);
}
