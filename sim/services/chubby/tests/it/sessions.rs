//! Sessions and KeepAlives (section 2.8).

use picklock_clients::chubby::{ChubbyError, Request, SessionId, SessionState};

use crate::cell::{Fact, World};

const FIRST: SessionId = SessionId(1);

/// The master holds a KeepAlive back until the lease is nearly over, and so ends no session that it hears of.
#[test]
fn a_session_lives_on_for_as_long_as_its_client() {
    let mut world = World::new(1, 1);
    let handle = world.open(0, "file", 0);
    let before = world.clients[0].new_number();
    world.run_until(600.0);
    let sent = world.clients[0].new_number() - before;
    assert!(
        (60..80).contains(&sent),
        "{sent} KeepAlives in ten minutes, one each nine seconds"
    );
    assert!(world.states_of(0).is_empty() && world.facts.is_empty());
    assert!(world.call(0, handle, Request::GetContentsAndStat).is_ok());
}

/// The master ends no lease before the client does, and extends it with each answer: a client that is cut off behind an
/// answer is in jeopardy before the lease is over for the master, and hears of the end after the grace period.
#[test]
fn jeopardy_comes_before_the_end_of_the_lease_at_the_master() {
    let mut world = World::new(1, 1);
    world.open(0, "file", 0);
    world.run_until(10.0);
    world.cut_off[0] = true;
    world.run_until(120.0);
    let expired = world.when(&Fact::Expired(FIRST));
    let [jeopardy, over] = world.states[..] else {
        panic!("{:?}", world.states);
    };
    assert_eq!(
        (jeopardy.2, over.2),
        (SessionState::Jeopardy, SessionState::Expired)
    );
    let (jeopardy, over) = (jeopardy.0.as_secs_f64(), over.0.as_secs_f64());
    assert!(
        jeopardy < expired && expired < 34.0,
        "{jeopardy}, {expired}"
    );
    assert!((over - jeopardy - 45.0).abs() < 0.01, "{over}");
}

/// Calls of the application wait in jeopardy, and go on when the session is safe.
#[test]
fn a_call_waits_in_jeopardy_until_the_session_is_safe() {
    let mut world = World::new(1, 1);
    let handle = world.open(0, "file", 0);
    world.run_until(10.0);
    world.cut_off[0] = true;
    world.run_until(23.0);
    let call = world.ask(0, handle, Request::GetContentsAndStat);
    world.run_until(23.5);
    assert_eq!(world.states_of(0), [SessionState::Jeopardy]);
    assert!(!world.answers.contains_key(&(0, call)));
    world.cut_off[0] = false;
    world.run_until(60.0);
    assert_eq!(
        world.states_of(0),
        [SessionState::Jeopardy, SessionState::Safe]
    );
    assert!(world.answers[&(0, call)].is_ok());
}

/// A session that is over takes its handles with it, and the next call begins another.
#[test]
fn an_expired_session_fails_its_calls_and_is_replaced() {
    let mut world = World::new(1, 1);
    let handle = world.open(0, "file", 0);
    world.cut_off[0] = true;
    world.run_until(20.0);
    let call = world.ask(0, handle, Request::GetContentsAndStat);
    world.run_until(100.0);
    let expired = Err(ChubbyError::SessionExpired);
    assert_eq!(world.answers[&(0, call)], expired);
    world.cut_off[0] = false;
    assert_eq!(world.call(0, handle, Request::Release), expired);
    world.open(0, "file", 0);
    assert_eq!(world.states_of(0).last(), Some(&SessionState::Safe));
}

/// A client counts its lease so that clocks may differ by one in a hundred.
#[test]
fn a_clock_within_the_bound_believes_in_no_session_that_is_over() {
    for (pace, is_early) in [(100, true), (99, true), (110, true), (40, false)] {
        let mut world = World::new(1, 1);
        world.pace[0] = pace;
        world.open(0, "file", 0);
        world.run_until(5.0);
        world.cut_off[0] = true;
        world.run_until(60.0);
        let jeopardy = world.states[0].0.as_secs_f64();
        assert_eq!(
            jeopardy < world.when(&Fact::Expired(FIRST)),
            is_early,
            "at {pace}"
        );
    }
}
