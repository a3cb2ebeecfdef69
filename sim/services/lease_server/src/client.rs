//! A client of the lease server: it asks one thing at a time. A caller that asks again has given up waiting.

use picklock_checker::VirtualTime;
use picklock_clients::completion::Completion;
use picklock_clients::lease_server::{Claim, Reply, Unanswered};
use picklock_machines::{Alarm, Chance, ConnectionId, Machine, Now};

use crate::Numbered;

/// A client.
#[derive(Default)]
pub struct Client {
    connection: Option<ConnectionId>,
    /// The claim that has no answer yet, by its number, and its caller.
    waiting: Option<(u32, Completion<Result<Reply, Unanswered>>)>,
    sent: u32,
    answered: u32,
}

/// What happens to a client.
pub enum Input {
    /// It has a connection.
    Opened {
        /// The connection.
        connection: ConnectionId,
    },
    /// A caller claims the lock, or gives it back.
    Claim {
        /// The claim.
        claim: Claim,
        /// Filled with the answer.
        completion: Completion<Result<Reply, Unanswered>>,
    },
    /// An answer has come.
    Received {
        /// By this connection.
        connection: ConnectionId,
        /// The answer.
        reply: Numbered<Reply>,
    },
    /// A connection is gone.
    Broken {
        /// The connection.
        connection: ConnectionId,
    },
    /// It is time to look at the clock.
    Wake,
}

/// A claim goes out.
pub struct Output {
    /// By this connection.
    pub connection: ConnectionId,
    /// The claim.
    pub claim: Numbered<Claim>,
}

impl Client {
    /// The connection that it has.
    pub fn connection(&self) -> Option<ConnectionId> {
        self.connection
    }

    /// Whether a caller waits for the answer to the claim of this number.
    pub fn awaits(&self, number: u32) -> bool {
        self.waiting
            .as_ref()
            .is_some_and(|(waiting, _)| *waiting == number)
    }

    /// Whether a caller waits for an answer.
    pub fn is_asking(&self) -> bool {
        self.waiting.is_some()
    }

    /// How many of its claims have had no answer.
    pub fn unanswered(&self) -> u32 {
        self.sent - self.answered
    }
}

impl Machine for Client {
    type Input = Input;
    type Output = Output;
    const WAKE: Input = Input::Wake;

    fn handle(
        &mut self,
        _now: Now,
        input: Input,
        _chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) -> Alarm {
        match input {
            Input::Opened { connection } => self.connection = Some(connection),
            Input::Claim { claim, completion } => {
                self.sent += 1;
                self.waiting = Some((self.sent, completion));
                if let Some(connection) = self.connection {
                    let number = self.sent;
                    let claim = Numbered::of(number, claim);
                    out.push(Output { connection, claim });
                }
            }
            Input::Received { connection, reply } => {
                let waiting = &mut self.waiting;
                let is_waited_for = |(number, _): &mut (u32, _)| *number == reply.number;
                if self.connection == Some(connection)
                    && let Some((_, completion)) = waiting.take_if(is_waited_for)
                {
                    self.answered += 1;
                    completion.complete(Ok(reply.what));
                }
            }
            Input::Broken { connection } => {
                if self.connection.take_if(|it| *it == connection).is_some()
                    && let Some((_, completion)) = self.waiting.take()
                {
                    completion.complete(Err(Unanswered));
                }
            }
            Input::Wake => {}
        }
        Alarm::Unchanged
    }

    /// Its callers look at the clock themselves.
    fn next_wake(&self) -> VirtualTime {
        VirtualTime::NEVER
    }
}
