//! The comparison itself, with the model on both sides: it needs no server.

use std::sync::atomic::AtomicBool;

use picklock_etcd::Version;
use picklock_etcd::testkit::replay::Replay;
use serde_json::{Map, Value};

use super::Compared;
use super::compare::{Awaited, Members, Pair};
use crate::harness::error::{Result, VerifyError};

/// The model with a flaw, in the place of real members.
struct Flawed {
    model: Option<Replay>,
    flaw: fn(&Value, &mut Map<String, Value>),
}

impl Members for Flawed {
    fn begin(&mut self, record: &Value) -> Result<()> {
        self.model = Some(Replay::new(record, VERSION));
        Ok(())
    }

    fn perform(&mut self, step: &Value, awaited: &Awaited) -> Result<Map<String, Value>> {
        let model = self.model.as_mut().expect("a record has begun");
        let mut found = model.step(step);
        let servers = awaited.revisions.iter().enumerate();
        let revisions: Vec<Option<i64>> = servers
            .map(|(server, of)| of.map(|_| model.revision(server as u8)))
            .collect();
        found.insert("revisions".into(), revisions.into());
        (self.flaw)(step, &mut found);
        Ok(found)
    }
}

const VERSION: Version = Version::of(3, 4, 23);

fn compare(flaw: fn(&Value, &mut Map<String, Value>), operations: u64) -> Compared {
    let stop = AtomicBool::new(false);
    let mut pair = Pair::of(Flawed { model: None, flaw }, VERSION);
    pair.records(&stop).expect("the model does not fail");
    for members in [1, 3] {
        pair.random(1, (members, operations), &stop, &|_| ())
            .expect("the model does not fail");
    }
    pair.compared
}

#[test]
fn the_model_agrees_with_itself() {
    let compared = compare(|_, _| (), 500);
    assert_eq!(compared.differences, []);
    assert_eq!(compared.agreeing, compared.answers);
    assert!(compared.operations > 1_300, "{}", compared.operations);
    assert!(compared.requests.len() > 20, "{:?}", compared.requests);
}

#[test]
fn a_member_that_lies_is_named_with_what_it_was_asked() {
    let compared = compare(
        |step, found| {
            if step["op"] == "delete" && found["result"]["deleted"] == 1 {
                found["result"]["deleted"] = 2.into();
            }
        },
        50,
    );
    assert!(!compared.differences.is_empty());
    for difference in &compared.differences {
        assert!(difference.asked.contains(": delete {"), "{difference:?}");
        assert!(difference.real.contains(r#""deleted":2"#), "{difference:?}");
        assert!(
            difference.model.contains(r#""deleted":1"#),
            "{difference:?}"
        );
    }
}

#[test]
fn ctrl_c_ends_the_comparison() {
    let flawed = Flawed {
        model: None,
        flaw: |_, _| (),
    };
    let mut pair = Pair::of(flawed, VERSION);
    let ended = pair.records(&AtomicBool::new(true));
    assert!(matches!(ended, Err(VerifyError::Interrupted)), "{ended:?}");
}
