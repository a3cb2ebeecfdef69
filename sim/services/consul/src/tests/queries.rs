//! Blocking queries (documentation of the HTTP API, "Blocking Queries").

use std::time::Duration;

use picklock_clients::consul::{PutIf, QueryOptions, Request, Response};

use super::cluster::Cluster;
use super::{put, secs};

fn get(wait_index: u64, wait: Option<u64>) -> Request {
    let options = QueryOptions {
        wait_index,
        wait_time: wait.map(secs),
        ..QueryOptions::default()
    };
    Request::Get("key".into(), options)
}

fn index_of(cluster: &mut Cluster, request: Request) -> u64 {
    match cluster.call(0, request) {
        Ok(Response::Pairs(_, index)) => index,
        other => panic!("{other:?}"),
    }
}

/// "Will hang until there is a change", and the index of the answer is greater.
#[test]
fn a_query_with_an_index_waits_for_a_change_of_its_key() {
    let mut cluster = Cluster::of(3);
    assert!(cluster.puts(PutIf::Always, "1", None));
    let index = index_of(&mut cluster, get(0, None));
    let waits = cluster.send(0, get(index, None));
    let other = cluster.call(0, put(PutIf::Always, "other", "1", None));
    assert_eq!(other, Ok(Response::Done(true)));
    assert!(cluster.answer(waits).is_none());
    assert!(cluster.puts(PutIf::Always, "2", None));
    let (_, answer) = cluster.answer(waits).unwrap();
    let Ok(Response::Pairs(pairs, now)) = answer else {
        panic!("{answer:?}");
    };
    assert!(&*pairs[0].value == "2" && *now > index);
}

/// "Default 5 minutes, at most 10 minutes"; "a small random amount of additional wait time, up to wait/16".
#[test]
fn a_query_waits_for_so_long_and_no_longer() {
    for (wait, least) in [(Some(10), 10), (None, 300), (Some(3_600), 600)] {
        let mut cluster = Cluster::of(1);
        assert!(cluster.puts(PutIf::Always, "1", None));
        let index = index_of(&mut cluster, get(0, None));
        let began = cluster.now;
        let waits = cluster.send(0, get(index, wait));
        cluster.run(secs(least) - Duration::from_millis(1));
        assert!(cluster.answer(waits).is_none());
        cluster.run(secs(least) / 16 + Duration::from_millis(2));
        let (at, _) = cluster.answer(waits).unwrap();
        assert!(*at >= began + secs(least));
    }
}

/// `kvs_endpoint.go`, `Get`: the index of a key that is not there is that of the whole table.
#[test]
fn a_key_that_is_not_there_has_the_index_of_the_table() {
    let mut cluster = Cluster::of(1);
    let other = cluster.call(0, put(PutIf::Always, "other", "1", None));
    assert_eq!(other, Ok(Response::Done(true)));
    let index = index_of(&mut cluster, get(0, None));
    let waits = cluster.send(0, get(index, None));
    assert!(cluster.puts(PutIf::Always, "1", None));
    assert!(cluster.answer(waits).is_some());
}

/// `state/kvs.go`, `kvsListTxn`: tombstones keep the index of a prefix from sliding back.
#[test]
fn a_delete_ends_the_wait_for_a_prefix() {
    let mut cluster = Cluster::of(1);
    for key in ["a/1", "a/2"] {
        let done = cluster.call(0, put(PutIf::Always, key, "1", None));
        assert_eq!(done, Ok(Response::Done(true)));
    }
    let list = |wait_index| {
        let options = QueryOptions {
            wait_index,
            ..QueryOptions::default()
        };
        Request::List("a/".into(), options)
    };
    let index = index_of(&mut cluster, list(0));
    let waits = cluster.send(0, list(index));
    let delete = Request::Delete("a/2".into(), None);
    assert_eq!(cluster.call(0, delete), Ok(Response::Done(true)));
    let (_, answer) = cluster.answer(waits).unwrap();
    let Ok(Response::Pairs(pairs, now)) = answer else {
        panic!("{answer:?}");
    };
    assert!(pairs.len() == 1 && *now > index);
}
