//! Leaders: elections, calls without one, and how new reads are.

use std::time::Duration;

use picklock_clients::consul::{Consistency, ConsulError, PutIf, Request};

use super::cluster::Cluster;
use super::{put, secs};

/// Documentation of raft: `election_timeout` and `heartbeat_timeout` of a second, which `raft_multiplier` multiplies.
#[test]
fn a_follower_takes_the_place_of_a_dead_leader() {
    let mut cluster = Cluster::of(3);
    assert!(cluster.puts(PutIf::Always, "1", None));
    assert_eq!(cluster.leaders(), [2]);
    cluster.kill(2);
    cluster.run(secs(4));
    assert_eq!(cluster.leaders().len(), 1);
    assert_eq!(cluster.key().map(|pair| pair.value), Some("1".into()));
    cluster.restart(2);
    cluster.run(secs(4));
    assert_eq!(cluster.leaders().len(), 1);
    assert!(cluster.puts(PutIf::Always, "2", None));
}

/// `rpc.go`, `ForwardRPC`: a call waits for a leader for `rpc_hold_timeout`, 7 s, and then "No cluster leader".
#[test]
fn a_call_without_a_leader_waits_and_fails() {
    let mut cluster = Cluster::of(3);
    cluster.kill(1);
    cluster.kill(2);
    cluster.run(secs(4));
    let began = cluster.now;
    let number = cluster.send(0, put(PutIf::Always, "key", "1", None));
    cluster.run(secs(8));
    let (at, answer) = cluster.answer(number).unwrap();
    assert_eq!(answer, &Err(ConsulError::NoClusterLeader));
    assert_eq!(*at, began + secs(7));
}

/// Documentation of consistency modes: a read of mode `default` may be answered by a leader that is deposed and does
/// not know it; one of mode `consistent` is not; one of mode `stale` is answered by any server.
#[test]
fn consistency_modes_differ_at_a_leader_that_is_cut_off() {
    let mut cluster = Cluster::of(3);
    assert!(cluster.puts(PutIf::Always, "1", None));
    cluster.isolate(2, true);
    cluster.run(Duration::from_millis(200));
    assert!(cluster.read_at(2, Consistency::Default).is_ok());
    assert!(cluster.read_at(2, Consistency::Consistent).is_err());
    cluster.run(secs(4));
    assert_eq!(cluster.leaders().len(), 1);
    assert!(cluster.puts(PutIf::Always, "2", None));
    assert!(cluster.read_at(2, Consistency::Default).is_err());
    let stale = cluster.read_at(2, Consistency::Stale);
    assert_eq!(stale.unwrap().unwrap().value, "1".into());
    cluster.isolate(2, false);
    cluster.run(secs(5));
    let new = cluster.read_at(2, Consistency::Consistent);
    assert_eq!(new.unwrap().unwrap().value, "2".into());
}

/// Raft: an entry is committed when a majority has it. What a leader that is cut off has added is not, and is replaced.
#[test]
fn what_a_leader_without_a_majority_has_added_is_gone() {
    let mut cluster = Cluster::of(3);
    assert!(cluster.puts(PutIf::Always, "1", None));
    cluster.isolate(2, true);
    let lost = cluster.send(2, put(PutIf::Always, "key", "lost", None));
    cluster.run(secs(4));
    let (_, answer) = cluster.answer(lost).unwrap();
    assert_eq!(answer, &Err(ConsulError::LeadershipLost));
    cluster.isolate(2, false);
    cluster.run(secs(5));
    for server in 0..3 {
        let read = cluster.read_at(server, Consistency::Stale);
        assert_eq!(read.unwrap().unwrap().value, "1".into(), "{server}");
    }
}

/// `rpc.go`: of a write whose connection to the leader is gone is not known whether it was done; a read is asked again.
#[test]
fn a_read_is_asked_again_when_the_leader_is_dead() {
    let mut cluster = Cluster::of(3);
    assert!(cluster.puts(PutIf::Always, "1", None));
    let read = cluster.send(0, Request::Get("key".into(), Default::default()));
    let write = cluster.send(0, put(PutIf::Always, "key", "2", None));
    cluster.kill(2);
    cluster.run(secs(5));
    assert!(cluster.answer(read).unwrap().1.is_ok());
    assert_eq!(cluster.answer(write).unwrap().1, Err(ConsulError::Eof));
}
