//! Performs steps on a server, and reads all that comes of them.

use std::fmt;

use picklock_clients::redis::{Command, Value};

use super::backend::{CLIENTS, Incoming, ServerBackend};
use super::normalize::plain;
use super::step::Step;
use crate::harness::error::Result;
use crate::harness::pair::{self, Backend};

/// A connection, as it is named in a difference.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name(pub(super) usize);

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "connection {}", self.0)
    }
}

type Observed = pair::Observed<Name, Incoming>;

/// A server, and the clients that ask it.
pub(super) struct Driver<B> {
    pub(super) backend: B,
    /// On which connections a transaction has been begun.
    pub(super) in_transaction: [bool; CLIENTS],
    /// On which connections something was sent that may be answered later.
    waits: [bool; CLIENTS],
    /// How many steps there were.
    pub(super) turn: u64,
}

impl<B: ServerBackend> Driver<B> {
    /// A driver without connections.
    pub(super) fn new(backend: B) -> Self {
        Self {
            backend,
            in_transaction: [false; CLIENTS],
            waits: [false; CLIENTS],
            turn: 0,
        }
    }

    fn note_transaction(&mut self, step: &Step, observed: &Observed) {
        match step {
            Step::Renew { client } => self.in_transaction[*client] = false,
            Step::Pass { .. } | Step::Send { .. } | Step::Hear { .. } => {}
            Step::Ask { client, command } | Step::Alone { client, command } => {
                let answers = observed.get(&Name(*client));
                let first = answers.and_then(|answers| answers.first());
                if command.is("MULTI") && first == Some(&Incoming::Value(Value::OK)) {
                    self.in_transaction[*client] = true;
                } else if ["EXEC", "DISCARD", "RESET"]
                    .iter()
                    .any(|name| command.is(name))
                {
                    self.in_transaction[*client] = false;
                }
            }
        }
    }

    /// Reads until the answer to a question of its own: then all that was on its way has arrived.
    fn read_all(&mut self, client: usize) -> Result<Vec<Incoming>> {
        let mark = format!("mark-{}", self.turn);
        let ping = Command::new("PING").arg(&mark);
        self.backend.send(client, &ping)?;
        let is_mark = |value: &Value| {
            let last = value
                .values()
                .and_then(|values| values.last())
                .unwrap_or(value);
            last.bytes() == Some(mark.as_bytes())
        };
        let mut read = Vec::new();
        loop {
            match self.backend.receive(client)? {
                Incoming::Value(value) if is_mark(&value) => return Ok(read),
                Incoming::Closed => {
                    read.push(Incoming::Closed);
                    self.backend.connect(client)?;
                    return Ok(read);
                }
                Incoming::Value(Value::Error(error)) if error.text() == "nothing, for ever" => {
                    read.push(Incoming::Value(Value::Error(error)));
                    return Ok(read);
                }
                other => read.push(other),
            }
        }
    }

    /// Puts in the place of a key that was drawn whether there is such a key: which one it is, is chance.
    fn look_for_random_key(&mut self, client: usize, answers: &mut [Incoming]) -> Result<()> {
        let [Incoming::Value(Value::Bulk(key))] = &*answers else {
            return Ok(());
        };
        let exists = Command::new("EXISTS").arg(key);
        self.backend.send(client, &exists)?;
        let is_there = match self.backend.receive(client)? {
            Incoming::Value(Value::Integer(1)) => "some key",
            Incoming::Value(_) | Incoming::Closed => "a key that is not there",
        };
        answers[0] = Incoming::Value(Value::Status(is_there.into()));
        Ok(())
    }
}

impl<B: ServerBackend> Backend for Driver<B> {
    type Step = Step;
    type Connection = Name;
    type Answer = Incoming;

    fn perform(&mut self, step: &Step) -> Result<Observed> {
        self.turn += 1;
        let mut observed = Observed::new();
        let mut asked = None;
        match step {
            Step::Pass { .. } => {}
            Step::Renew { client } => {
                self.backend.connect(*client)?;
                self.waits[*client] = false;
                self.note_transaction(step, &observed);
                return Ok(observed);
            }
            Step::Send { client, command } => {
                self.backend.send(*client, command)?;
                self.waits[*client] = true;
            }
            Step::Hear { client } => {
                self.waits[*client] = false;
                observed.insert(Name(*client), vec![self.backend.receive(*client)?]);
                asked = Some(*client);
            }
            Step::Alone { client, command } => {
                self.backend.send(*client, command)?;
                observed.insert(Name(*client), vec![self.backend.receive(*client)?]);
            }
            Step::Ask { client, command } => {
                asked = Some(*client);
                self.backend.send(*client, command)?;
                let ends = ["EXEC", "DISCARD", "RESET", "MULTI", "QUIT"];
                let mut answers =
                    if self.in_transaction[*client] || ends.iter().any(|name| command.is(name)) {
                        // Here nothing else may be asked, and there is one answer.
                        vec![self.backend.receive(*client)?]
                    } else {
                        self.read_all(*client)?
                    };
                if command.is("RANDOMKEY") && !self.in_transaction[*client] {
                    self.look_for_random_key(*client, &mut answers)?;
                }
                observed.insert(Name(*client), answers);
            }
        }
        // A client may be asked alone, or only be sent something, because the others would get no answer.
        let all = !matches!(step, Step::Alone { .. } | Step::Send { .. });
        for other in 0..CLIENTS {
            let silent = self.in_transaction[other] || self.waits[other];
            if all && asked != Some(other) && !silent {
                observed.insert(Name(other), self.read_all(other)?);
            }
        }
        self.note_transaction(step, &observed);
        for answer in observed.values_mut().flatten() {
            *answer = plain(step, answer);
        }
        Ok(observed)
    }
}
