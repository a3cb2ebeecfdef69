//! Sessions: when they end, and what becomes of their keys.

use picklock_clients::consul::{
    ConsulError, PutIf, Request, Response, SessionBehavior, SessionEntry, SessionId,
};

use super::cluster::Cluster;
use super::{entry, secs};

/// "The contract of a TTL is that it represents a lower bound for invalidation" (documentation of sessions); the leader
/// multiplies it by two (`structs.SessionTTLMultiplier`).
#[test]
fn a_session_lives_twice_its_time_to_live() {
    let mut cluster = Cluster::of(3);
    let session = cluster.session(10, 0);
    assert!(cluster.acquires(session));
    cluster.run(secs(19));
    assert_eq!(cluster.holder(), Some(session));
    cluster.run(secs(1));
    assert_eq!(cluster.holder(), None);
}

/// `session_endpoint.go`, `Renew`: it resets the timer, and writes no entry.
#[test]
fn a_renewal_gives_a_session_its_whole_time_again() {
    let mut cluster = Cluster::of(1);
    let session = cluster.session(10, 0);
    assert!(cluster.acquires(session));
    cluster.run(secs(15));
    let before = cluster.servers[0].applied();
    let renewed = cluster.call(0, Request::SessionRenew(session));
    assert_eq!(renewed, Ok(Response::Renewed(Some(secs(10)))));
    assert_eq!(cluster.servers[0].applied(), before);
    cluster.run(secs(19));
    assert_eq!(cluster.holder(), Some(session));
}

/// `session_ttl.go`, `initializeSessionTimers`: a leader that is newly elected resets the timers of all sessions.
#[test]
fn a_new_leader_gives_every_session_its_whole_time() {
    let mut cluster = Cluster::of(3);
    let session = cluster.session(10, 0);
    assert!(cluster.acquires(session));
    cluster.run(secs(18));
    cluster.kill(2);
    cluster.run(secs(18));
    assert_eq!(cluster.holder(), Some(session));
    cluster.run(secs(5));
    assert_eq!(cluster.holder(), None);
}

/// HTTP API of sessions: `404` for the renewal of a session that is not there; a destroy of one is done.
#[test]
fn a_session_that_has_ended_is_not_renewed() {
    let mut cluster = Cluster::of(1);
    let session = SessionId(7);
    let renewed = cluster.call(0, Request::SessionRenew(session));
    assert_eq!(renewed, Ok(Response::Renewed(None)));
    let destroyed = cluster.call(0, Request::SessionDestroy(session));
    assert_eq!(destroyed, Ok(Response::Done(true)));
}

/// HTTP API of sessions: "must be between 10s and 86400s".
#[test]
fn a_time_to_live_has_bounds() {
    let mut cluster = Cluster::of(1);
    for (ttl, is_taken) in [(9, false), (10, true), (86_400, true), (86_401, false)] {
        let created = cluster.call(0, Request::SessionCreate(entry(ttl, 0)));
        assert_eq!(created == Err(ConsulError::InvalidTtl), !is_taken, "{ttl}");
    }
}

/// Documentation of sessions: a lock-delay prevents a lock that was held by an invalidated session from being acquired
/// for so long; the leader answers `false` (`kvs_endpoint.go`).
#[test]
fn the_end_of_a_session_begins_its_lock_delay() {
    let mut cluster = Cluster::of(3);
    let first = cluster.session(10, 15);
    assert!(cluster.acquires(first));
    cluster.run(secs(20));
    let second = cluster.session(60, 15);
    assert_eq!(cluster.holder(), None);
    cluster.run(secs(14));
    assert!(!cluster.acquires(second));
    cluster.run(secs(1));
    assert!(cluster.acquires(second));
}

/// `state/session.go`, `deleteSessionTxn`: also for a session that is destroyed. Issue 430: also for its own client.
#[test]
fn a_destroyed_session_begins_its_lock_delay_too() {
    let mut cluster = Cluster::of(1);
    let first = cluster.session(10, 15);
    assert!(cluster.acquires(first));
    let destroyed = cluster.call(0, Request::SessionDestroy(first));
    assert_eq!(destroyed, Ok(Response::Done(true)));
    let second = cluster.session(10, 15);
    assert!(!cluster.acquires(second));
}

/// Documentation of sessions: a session can have no lock-delay, and a release begins none.
#[test]
fn a_release_begins_no_lock_delay() {
    let mut cluster = Cluster::of(1);
    let [first, second] = [15, 15].map(|delay| cluster.session(10, delay));
    assert!(cluster.acquires(first));
    assert!(cluster.puts(PutIf::Release, "", Some(first)));
    assert!(cluster.acquires(second));
}

/// `state/session.go`: the map of lock-delays is in memory. A server that replays its log sets them when it does.
#[test]
fn a_server_that_replays_its_log_begins_lock_delays_again() {
    let mut cluster = Cluster::of(1);
    let first = cluster.session(10, 15);
    assert!(cluster.acquires(first));
    cluster.run(secs(60));
    let second = cluster.session(60, 15);
    cluster.kill(0);
    cluster.restart(0);
    cluster.run(secs(3));
    assert!(!cluster.acquires(second));
    cluster.run(secs(15));
    assert!(cluster.acquires(second));
}

/// Documentation of sessions: `delete` deletes the keys that are held, `release` releases them.
#[test]
fn the_behavior_says_what_becomes_of_keys() {
    let mut cluster = Cluster::of(1);
    for (behavior, is_left) in [
        (SessionBehavior::Release, true),
        (SessionBehavior::Delete, false),
    ] {
        let entry = SessionEntry {
            behavior,
            ..entry(10, 0)
        };
        let session = cluster.session_of(entry);
        assert!(cluster.acquires(session));
        cluster.run(secs(20));
        assert_eq!(cluster.key().is_some(), is_left);
        assert_eq!(cluster.holder(), None);
    }
}
