use super::*;
use crate::notation;

fn reached(text: &str) -> Vec<&'static str> {
    let run = notation::run(text);
    Reached::of(&Evidence::of(&run)).names().collect()
}

fn assert_reached(text: &str, name: &str) {
    assert!(reached(text).contains(&name), "{name}: {:?}", reached(text));
}

#[test]
fn names_are_told_apart() {
    for (index, sometimes) in SOMETIMES.iter().enumerate() {
        assert_eq!(find(sometimes.name), Some(&SOMETIMES[index]));
    }
}

#[test]
fn a_quiet_run_comes_through_nothing() {
    let quiet =
        "a.acquire:0 a.queued:1 a=1-9 a:2-8 a*4 a.unqueued:9 b.acquire:1 b.queued:2 b=9-20 b:10-20";
    assert_eq!(reached(quiet), Vec::<&str>::new());
}

#[test]
fn each_moment_is_seen_where_it_is() {
    let queue = "a.acquire:0 a.queued:1/place=0 a=1-9 a:2-8 b.acquire:1 b.queued:2/place=1";
    for (more, name) in [
        ("c.acquire:1 c.queued:3/place=2", "two-wait"),
        ("b.session-expired:4", "expired-while-queued"),
        ("a.session-expired:4", "expired-while-holding"),
        ("b.reconnected:4", "reconnected-while-queued"),
        ("a.reconnected:4", "reconnected-while-holding"),
        ("b.reconnected:4 b=9-20 b:10-20", "adopted"),
        ("b.failed:4", "failed-while-queued"),
        ("b.cancelled:4", "cancelled-while-queued"),
        ("b.crashed:4", "crashed-while-queued"),
        ("a.paused:4", "paused-while-holding"),
        ("a*4-12", "written-too-late"),
        ("a*4/rejected", "fenced-out"),
    ] {
        assert!(!reached(queue).contains(&name), "{name}");
        assert_reached(&format!("{queue} {more}"), name);
    }
    assert_reached("a=0-5/how=expired b=6-9", "handed-over-by-expiry");
    assert_reached("a=0-5/how=outside b=6-9", "taken-away");
    assert_reached("a=0-5/how=b b=6-9", "taken-away");
    assert_reached("a.acquire:0 a:1-5 a.release-failed:6", "release-failed");
    assert_reached("a.acquire:0 a:1- a.crashed:4", "crashed-while-holding");
    assert_reached("a.acquire:0 a:1- a.lost:4", "told-of-the-loss");
}

#[test]
fn a_place_that_was_made_after_the_connection_broke_is_not_adopted() {
    let fresh = "a.acquire:0 a.reconnected:1 a.queued:2 a=2-9 a:3-8";
    assert!(!reached(fresh).contains(&"adopted"));
}

#[test]
fn a_waiter_that_gave_up_does_not_wait() {
    let gone = "a.acquire:0 a.queued:0 a=1-9 a:2-8 b.acquire:1 b.queued:2 b.failed:3 c.acquire:4 c.queued:5";
    assert!(!reached(gone).contains(&"two-wait"));
}

#[test]
fn who_waits_for_another_lock_is_not_one_of_two() {
    let text = "a.acquire:0/on=x a.queued:0/on=x a=0-9/on=x b.acquire:1/on=x b.queued:1/on=x \
                c.acquire:2/on=y c.queued:2/on=y";
    assert!(!reached(text).contains(&"two-wait"));
    assert_reached(&text.replace("/on=y", "/on=x"), "two-wait");
}
