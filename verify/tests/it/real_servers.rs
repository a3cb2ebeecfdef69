//! The comparisons with real servers, where they are installed.

use std::env;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use picklock_verify::{etcd, redis, zookeeper};

/// Whether `PICKLOCK_VERIFY` asks for the comparisons: they take longer than other tests, and want installed servers.
fn is_asked(server: &str) -> bool {
    let asked = env::var_os("PICKLOCK_VERIFY").is_some();
    if !asked {
        println!("skipped: set PICKLOCK_VERIFY=1 to compare with a real {server}");
    }
    asked
}

#[test]
fn every_answer_is_that_of_a_real_zookeeper() {
    if !is_asked("ZooKeeper") {
        return;
    }
    let Ok(installed) = zookeeper::Installed::find(Path::new(zookeeper::JARS)) else {
        println!("skipped: install zookeeper to compare with it");
        return;
    };
    for servers in [1, 3] {
        let plan = zookeeper::Plan {
            servers,
            seed: 0,
            operations: 2_000,
        };
        let stop = AtomicBool::new(false);
        let compared = zookeeper::compare(&installed, plan, &stop, &|_| ()).unwrap();
        assert_eq!(compared.differences, []);
    }
}

#[test]
fn every_answer_is_that_of_a_real_redis() {
    if !is_asked("redis-server") {
        return;
    }
    let Ok(installed) = redis::Installed::find(None) else {
        println!("skipped: install redis-server to compare with it");
        return;
    };
    let plan = redis::Plan {
        seed: 1,
        operations: 2_000,
    };
    let compared = redis::compare(&installed, plan, &AtomicBool::new(false), &|_| ()).unwrap();
    assert_eq!(compared.counters.not_modelled.iter().next(), None);
    assert_eq!(compared.counters.streamed_alike, compared.counters.streamed);
    assert_eq!(compared.differences, []);
    assert_eq!(compared.agreeing, compared.answers);
}

#[test]
fn every_answer_is_that_of_a_real_etcd() {
    if !is_asked("etcd") {
        return;
    }
    let Ok(installed) = etcd::Installed::find(None) else {
        println!("skipped: install etcd-server to compare with it");
        return;
    };
    let plan = etcd::Plan {
        seed: 1,
        operations: 1_000,
    };
    let compared = etcd::compare(&installed, plan, &AtomicBool::new(false), &|_| ()).unwrap();
    assert_eq!(compared.differences, []);
    assert_eq!(compared.agreeing, compared.answers);
}
