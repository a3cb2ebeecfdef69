//! The KV store: who may put, and what becomes of indexes (`state/kvs.go`).

use picklock_clients::consul::{ConsulError, KvPair, PutIf, Request, Response, SessionId};

use super::cluster::Cluster;
use super::put;

fn lock_index(cluster: &mut Cluster) -> u64 {
    cluster.key().map_or(0, |pair| pair.lock_index)
}

/// HTTP API of the KV store, `LockIndex`: how often a key was acquired; `kvsLockTxn`, `kvsUnlockTxn`.
#[test]
fn the_lock_index_rises_when_none_holds_the_key() {
    let mut cluster = Cluster::of(1);
    let [first, second] = [0, 0].map(|delay| cluster.session(60, delay));
    assert!(cluster.acquires(first));
    assert!(cluster.puts(PutIf::Acquire, "again", Some(first)));
    assert_eq!(lock_index(&mut cluster), 1);
    assert!(!cluster.acquires(second));
    assert!(cluster.puts(PutIf::Release, "", Some(first)));
    assert_eq!(lock_index(&mut cluster), 1);
    assert!(cluster.acquires(second));
    assert_eq!(lock_index(&mut cluster), 2);
}

/// `kvsSetTxn` keeps the session of a key, and not its lock index.
#[test]
fn a_plain_put_keeps_the_session_and_not_the_lock_index() {
    let mut cluster = Cluster::of(1);
    let session = cluster.session(60, 0);
    assert!(cluster.acquires(session));
    assert!(cluster.puts(PutIf::Always, "mine", None));
    assert_eq!(cluster.holder(), Some(session));
    assert_eq!(lock_index(&mut cluster), 0);
}

/// `kvsUnlockTxn`: only the session that holds it; value and flags are those of the request.
#[test]
fn a_release_is_done_by_the_holder_and_writes_the_value() {
    let mut cluster = Cluster::of(1);
    let [first, second] = [0, 0].map(|delay| cluster.session(60, delay));
    assert!(!cluster.puts(PutIf::Release, "", Some(first)), "no key");
    assert!(cluster.acquires(first));
    assert!(!cluster.puts(PutIf::Release, "", Some(second)));
    assert!(cluster.puts(PutIf::Release, "bye", Some(first)));
    let pair = cluster.key().unwrap();
    assert_eq!((&*pair.value, pair.session), ("bye", None));
}

/// `kvsLockTxn`: "invalid session".
#[test]
fn a_session_that_is_not_there_acquires_nothing() {
    let mut cluster = Cluster::of(1);
    let acquire = put(PutIf::Acquire, "key", "", Some(SessionId(9)));
    assert_eq!(cluster.call(0, acquire), Err(ConsulError::InvalidSession));
}

/// `kvsSetTxn`: an entry that changes nothing is not written.
#[test]
fn a_put_that_changes_nothing_keeps_the_index() {
    let mut cluster = Cluster::of(1);
    assert!(cluster.puts(PutIf::Always, "same", None));
    let before = cluster.key();
    assert!(cluster.puts(PutIf::Always, "same", None));
    assert_eq!(cluster.key(), before);
    assert!(cluster.puts(PutIf::Always, "other", None));
    let [before, after] = [before, cluster.key()].map(Option::unwrap);
    assert!(after.modify_index > before.modify_index);
    assert_eq!(after.create_index, before.create_index);
}

/// HTTP API of the KV store, `cas`: at 0 only if there is no key, else only if it was changed last then;
/// `kvsDeleteCASTxn`: a delete of a key that is not there is done.
#[test]
fn a_put_with_an_index_is_done_if_it_is_that_of_the_key() {
    let mut cluster = Cluster::of(1);
    let cas = |index: u64| {
        let pair = KvPair {
            key: "key".into(),
            value: index.to_string().into(),
            modify_index: index,
            ..KvPair::default()
        };
        Request::Put(PutIf::Cas, pair)
    };
    let delete = |index| Request::Delete("key".into(), Some(index));
    let done = |done| Ok(Response::Done(done));
    assert_eq!(cluster.call(0, delete(3)), done(true));
    assert_eq!(cluster.call(0, cas(4)), done(false));
    assert_eq!(cluster.call(0, cas(0)), done(true));
    assert_eq!(cluster.call(0, cas(0)), done(false));
    let index = cluster.key().unwrap().modify_index;
    assert_eq!(cluster.call(0, cas(index + 1)), done(false));
    assert_eq!(cluster.call(0, cas(index)), done(true));
    assert_eq!(cluster.call(0, delete(index)), done(false));
    let index = cluster.key().unwrap().modify_index;
    assert_eq!(cluster.call(0, delete(index)), done(true));
    assert_eq!(cluster.key(), None);
}
