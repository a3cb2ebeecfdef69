//! What the module TairString (alibaba/TairString in Redis 7.0.15) answered, and what Tair's client documents.

use std::rc::Rc;
use std::time::Duration;

use picklock_clients::memcached::{Command, Product, Reply};

use crate::driver::Driver;

fn key() -> Rc<str> {
    "k".into()
}

fn cas(old: &str, new: &str, time: Option<Duration>) -> Command {
    Command::CompareAndSet {
        key: key(),
        old: old.into(),
        new: new.into(),
        time,
    }
}

fn cad(value: &str) -> Command {
    Command::CompareAndDelete(key(), value.into())
}

fn set_nx(value: &str, time: Duration) -> Command {
    Command::SetNx(key(), value.into(), time)
}

fn exset(value: &str, time: Option<Duration>, if_missing: bool, version: Option<u64>) -> Command {
    Command::ExSet {
        key: key(),
        value: value.into(),
        time,
        if_missing,
        version,
    }
}

const LEASE: Duration = Duration::from_millis(300);

#[track_caller]
fn answers(driver: &mut Driver, steps: impl IntoIterator<Item = (Command, Reply)>) {
    for (command, expected) in steps {
        assert_eq!(driver.do_command(command.clone()), expected, "{command}");
    }
}

/// Rule: CAS and CAD answer 1 (done), 0 (another value), or -1 (no such key).
#[test]
fn cas_and_cad_compare_a_plain_string() {
    let mut driver = Driver::new(Product::TairString);
    let steps = [
        (cas("a", "b", None), Reply::NotFound),
        (cad("a"), Reply::NotFound),
        (set_nx("a", LEASE), Reply::Stored),
        (set_nx("b", LEASE), Reply::NotStored),
        (cas("b", "c", None), Reply::Exists),
        (cas("a", "d", None), Reply::Stored),
        (cad("a"), Reply::Exists),
        (cad("d"), Reply::Deleted),
    ];
    answers(&mut driver, steps);
}

/// Rule: CAS without a time clears the time to live: a renewal that forgets it lasts for ever.
#[test]
fn cas_without_a_time_lasts_for_ever() {
    for (time, stays) in [(None, true), (Some(LEASE), false)] {
        let mut driver = Driver::new(Product::TairString);
        answers(&mut driver, [(set_nx("a", LEASE), Reply::Stored)]);
        driver.wait(200);
        answers(&mut driver, [(cas("a", "a", time), Reply::Stored)]);
        driver.wait(299);
        answers(&mut driver, [(set_nx("b", LEASE), Reply::NotStored)]);
        driver.wait(1);
        let later = driver.do_command(set_nx("b", LEASE));
        assert_eq!(later == Reply::NotStored, stays);
    }
}

/// Rule: CAS and CAD know no value of TairString.
#[test]
fn cas_of_a_value_with_a_version_is_the_wrong_type() {
    let mut driver = Driver::new(Product::TairString);
    answers(
        &mut driver,
        [(exset("1", None, false, None), Reply::Stored)],
    );
    for command in [cas("1", "2", None), cad("1")] {
        let reply = driver.do_command(command);
        assert!(matches!(reply, Reply::ClientError(text) if text.starts_with("WRONGTYPE")));
    }
}

#[track_caller]
fn version(driver: &mut Driver, value: &str, version: u64) {
    match driver.do_command(Command::ExGet(key())) {
        Reply::Value(Some(found)) => assert_eq!((&*found.value, found.cas), (value, version)),
        other => panic!("{other}"),
    }
}

/// Rule: versions begin with 1 and grow by 1; a key that is missing ignores VER.
#[test]
fn exset_counts_versions_and_refuses_a_stale_one() {
    let mut driver = Driver::new(Product::TairString);
    answers(
        &mut driver,
        [(exset("a", None, false, Some(5)), Reply::Stored)],
    );
    version(&mut driver, "a", 1);
    let steps = [
        (exset("b", None, true, None), Reply::NotStored),
        (exset("b", None, false, None), Reply::Stored),
        (exset("c", None, false, Some(1)), Reply::Exists),
        (exset("c", None, false, Some(2)), Reply::Stored),
    ];
    answers(&mut driver, steps);
    version(&mut driver, "c", 3);
    let steps = [
        (Command::ExCas(key(), "d".into(), 2), Reply::Exists),
        (Command::ExCas(key(), "d".into(), 3), Reply::Stored),
        (Command::ExCad(key(), 3), Reply::Exists),
        (Command::ExCad(key(), 4), Reply::Deleted),
        (Command::ExCad(key(), 4), Reply::NotFound),
    ];
    answers(&mut driver, steps);
}

/// Rule: EXSET and EXCAS without a time clear the time to live.
#[test]
fn exset_without_a_time_lasts_for_ever() {
    for command in [
        exset("b", None, false, None),
        Command::ExCas(key(), "b".into(), 1),
    ] {
        let mut driver = Driver::new(Product::TairString);
        answers(
            &mut driver,
            [(exset("a", Some(LEASE), true, None), Reply::Stored)],
        );
        answers(&mut driver, [(command, Reply::Stored)]);
        driver.wait(1_000_000);
        version(&mut driver, "b", 2);
    }
}

/// Rule: the version begins with 1 again after an expiry, so that a late EXCAD takes the lock of the next.
#[test]
fn a_version_restarts_after_an_expiry() {
    let mut driver = Driver::new(Product::TairString);
    answers(
        &mut driver,
        [(exset("a", Some(LEASE), true, None), Reply::Stored)],
    );
    driver.wait(300);
    let steps = [
        (exset("b", Some(LEASE), true, None), Reply::Stored),
        (Command::ExCad(key(), 1), Reply::Deleted),
    ];
    answers(&mut driver, steps);
}

/// Rule: `put` with a version is a lock: it passes on a missing key, and not on one of version 1.
#[test]
fn put_with_a_version_passes_only_on_a_missing_key() {
    let put = |value: &str, version| Command::Put {
        key: key(),
        value: value.into(),
        version,
        expire: 1,
    };
    let mut driver = Driver::new(Product::TairMdb);
    let steps = [
        (put("a", 2), Reply::Stored),
        (put("b", 2), Reply::Exists),
        (put("c", 0), Reply::Stored),
        (put("d", 2), Reply::Stored),
        (put("e", 2), Reply::Exists),
        (Command::Delete(key()), Reply::Deleted),
        (put("f", 2), Reply::Stored),
    ];
    answers(&mut driver, steps);
    driver.wait(1_000);
    answers(&mut driver, [(put("g", 2), Reply::Stored)]);
}

#[test]
fn a_product_refuses_the_commands_of_another() {
    let get = Command::Get {
        key: key(),
        with_cas: false,
    };
    for (product, command) in [
        (Product::Memcached, cad("a")),
        (Product::TairMdb, Command::Touch(key(), 1)),
        (Product::TairString, Command::FlushAll(0)),
    ] {
        let mut driver = Driver::new(product);
        answers(
            &mut driver,
            [(command, Reply::Error), (get.clone(), Reply::Value(None))],
        );
    }
}
