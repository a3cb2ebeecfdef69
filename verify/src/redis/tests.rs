//! The comparison itself, with the model on both sides: it needs no server.

use std::sync::atomic::AtomicBool;

use picklock_clients::redis::{Command, Value};
use picklock_redis::ServerVersion;

use super::backend::{Incoming, ServerBackend};
use super::compare::Pair;
use super::model::Model;
use super::{Compared, Plan, cases};
use crate::harness::error::{Result, VerifyError};

/// What a flawed server would do to an answer.
type Flaw = fn(&Command, Value) -> Value;

/// The model with a flaw, in the place of a real server.
struct Flawed {
    model: Model,
    flaw: Flaw,
    is_attached: bool,
    /// What was asked last over each connection.
    asked: Vec<Command>,
}

impl Flawed {
    fn new(flaw: Flaw, version: ServerVersion) -> Self {
        Self {
            model: Model::new(version),
            flaw,
            is_attached: false,
            asked: vec![Command::new("PING"); super::backend::CLIENTS],
        }
    }
}

impl ServerBackend for Flawed {
    fn pass_to(&mut self, wall_micros: i64) {
        self.model.pass_to(wall_micros);
    }

    fn connect(&mut self, client: usize) -> Result<()> {
        self.model.connect(client)
    }

    fn send(&mut self, client: usize, command: &Command) -> Result<()> {
        if !std::mem::replace(&mut self.is_attached, true) {
            self.model.attach();
        }
        // What looks whether all has arrived comes before the answer is read.
        if !command.is("PING") {
            self.asked[client] = command.clone();
        }
        self.model.send(client, command)
    }

    fn receive(&mut self, client: usize) -> Result<Incoming> {
        Ok(match self.model.receive(client)? {
            Incoming::Value(value) => Incoming::Value((self.flaw)(&self.asked[client], value)),
            Incoming::Closed => Incoming::Closed,
        })
    }

    fn streamed(&mut self, channel: &str, text: &str) -> Result<Vec<Command>> {
        self.model.streamed(channel, text)
    }
}

fn compare(flaw: Flaw, operations: u64) -> Compared {
    compare_version(flaw, operations, ServerVersion::default())
}

fn compare_version(flaw: Flaw, operations: u64, version: ServerVersion) -> Compared {
    let stop = AtomicBool::new(false);
    let mut pair = Pair::of(Flawed::new(flaw, version), version);
    let plan = Plan {
        seed: 1,
        operations,
    };
    let done = pair
        .cases(cases::CASES, &stop)
        .and_then(|()| pair.random(plan, &stop, &|_| ()))
        .and_then(|()| pair.cases(&[cases::LAST], &stop));
    done.expect("the model does not fail");
    pair.compared
}

#[test]
fn the_model_agrees_with_itself() {
    let compared = compare(|_, value| value, 2_000);
    assert_eq!(compared.differences, []);
    assert_eq!(compared.agreeing, compared.answers);
    assert!(compared.operations >= 2_000);
    assert!(compared.requests.len() > 100, "{:?}", compared.requests);
    let counters = &compared.counters;
    assert!(counters.streamed > 500, "{counters:?}");
    assert_eq!(counters.streamed_alike, counters.streamed);
}

#[test]
fn a_case_is_asked_of_servers_that_are_new_enough() {
    for (_, version) in ServerVersion::ALL {
        let compared = compare_version(|_, value| value, 0, version);
        assert_eq!(compared.differences, [], "{}", version.name());
        let skipped = compared.counters.skipped;
        for case in cases::CASES.iter().filter(|case| !case.needs.is_empty()) {
            let is_asked = case.needs.contains(&version);
            assert_eq!(skipped.contains_key(case.name), !is_asked, "{}", case.name);
        }
    }
}

#[test]
fn a_server_that_lies_in_one_answer_is_named_with_what_it_was_asked() {
    let compared = compare(
        |asked, value| match value {
            Value::Integer(1) if asked.is("SETNX") => Value::Integer(0),
            value => value,
        },
        0,
    );
    assert!(!compared.differences.is_empty());
    for difference in &compared.differences {
        assert!(difference.asked.contains("SETNX"), "{difference:?}");
        assert_eq!(difference.real, "integer 0");
        assert_eq!(difference.model, "integer 1");
    }
    let wrong = compared.differences.len() as u64;
    assert_eq!(compared.agreeing + wrong, compared.answers);
}

#[test]
fn ctrl_c_ends_the_comparison() {
    let stop = AtomicBool::new(true);
    let version = ServerVersion::default();
    let mut pair = Pair::of(Flawed::new(|_, value| value, version), version);
    let ended = pair.cases(cases::CASES, &stop);
    assert!(matches!(ended, Err(VerifyError::Interrupted)), "{ended:?}");
}
