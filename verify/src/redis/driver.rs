//! Performs steps on a server, and reads all that comes of them.

use std::fmt;

use picklock_clients::redis::{Command, Value};

use super::backend::{CONNECTIONS, Incoming, ServerBackend};
use super::normalize::plain;
use super::step::Step;
use crate::harness::error::VerifyError;
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
    pub(super) in_transaction: [bool; CONNECTIONS],
    /// How many steps there were.
    pub(super) turn: u64,
}

impl<B: ServerBackend> Driver<B> {
    /// Nobody is connected yet.
    pub(super) fn new(backend: B) -> Self {
        Self {
            backend,
            in_transaction: [false; CONNECTIONS],
            turn: 0,
        }
    }

    fn note_transaction(&mut self, step: &Step, observed: &Observed) {
        match step {
            Step::Renew { connection } => self.in_transaction[*connection] = false,
            Step::Pass { .. } => {}
            Step::Ask {
                connection,
                command,
            } => {
                let answers = observed.get(&Name(*connection));
                let first = answers.and_then(|answers| answers.first());
                if command.is("MULTI") && first == Some(&Incoming::Value(Value::OK)) {
                    self.in_transaction[*connection] = true;
                } else if ["EXEC", "DISCARD", "RESET"]
                    .iter()
                    .any(|name| command.is(name))
                {
                    self.in_transaction[*connection] = false;
                }
            }
        }
    }

    /// Reads until the answer to a question that nobody else asks: then all that was on its way has arrived.
    fn read_all(&mut self, connection: usize) -> Result<Vec<Incoming>, VerifyError> {
        let mark = format!("mark-{}", self.turn);
        let ping = Command::new("PING").arg(&mark);
        self.backend.send(connection, &ping)?;
        let is_mark = |value: &Value| {
            let last = value
                .values()
                .and_then(|values| values.last())
                .unwrap_or(value);
            last.bytes() == Some(mark.as_bytes())
        };
        let mut read = Vec::new();
        loop {
            match self.backend.receive(connection)? {
                Incoming::Value(value) if is_mark(&value) => return Ok(read),
                Incoming::Closed => {
                    read.push(Incoming::Closed);
                    self.backend.connect(connection)?;
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
}

impl<B: ServerBackend> Backend for Driver<B> {
    type Step = Step;
    type Connection = Name;
    type Answer = Incoming;

    fn perform(&mut self, step: &Step) -> Result<Observed, VerifyError> {
        self.turn += 1;
        let mut observed = Observed::new();
        let mut asked = None;
        match step {
            Step::Pass { .. } => {}
            Step::Renew { connection } => {
                self.backend.connect(*connection)?;
                self.note_transaction(step, &observed);
                return Ok(observed);
            }
            Step::Ask {
                connection,
                command,
            } => {
                asked = Some(*connection);
                self.backend.send(*connection, command)?;
                let ends = ["EXEC", "DISCARD", "RESET", "MULTI", "QUIT"];
                let answers = if self.in_transaction[*connection]
                    || ends.iter().any(|name| command.is(name))
                {
                    // Here nothing else may be asked, and there is one answer.
                    vec![self.backend.receive(*connection)?]
                } else {
                    self.read_all(*connection)?
                };
                observed.insert(Name(*connection), answers);
            }
        }
        for other in 0..CONNECTIONS {
            if asked != Some(other) && !self.in_transaction[other] {
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
