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
                if self.connection.take_if(|own| *own == connection).is_some()
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use picklock_clients::completion::{Answer, completion};
    use picklock_machines::Boring;

    use super::*;

    type Answered = Answer<Result<Reply, Unanswered>>;

    const FIRST: ConnectionId = ConnectionId(0);
    const SECOND: ConnectionId = ConnectionId(1);

    fn handle(client: &mut Client, input: Input) -> Vec<Output> {
        let now = Now {
            monotonic: VirtualTime::ZERO,
            wall_micros: 0,
        };
        let mut out = Vec::new();
        client.handle(now, input, &mut Boring, &mut out);
        out
    }

    /// A client with a connection.
    fn connected() -> Client {
        let mut client = Client::default();
        handle(&mut client, Input::Opened { connection: FIRST });
        client
    }

    /// Claims; answers what goes out, and what its caller waits by.
    fn claim(client: &mut Client) -> (Vec<Output>, Answered) {
        let (completion, answer) = completion();
        let lease = Duration::from_secs(1);
        let claim = Claim { by: 1, lease };
        let sent = handle(client, Input::Claim { claim, completion });
        (sent, answer)
    }

    fn receive(client: &mut Client, connection: ConnectionId, number: u32) {
        let reply = Numbered::of(number, Reply::Refused);
        handle(client, Input::Received { connection, reply });
    }

    #[test]
    fn a_late_answer_to_an_earlier_claim_is_not_taken() {
        let mut client = connected();
        let (first, _given_up) = claim(&mut client);
        let (second, _waits) = claim(&mut client);
        assert_eq!([first[0].claim.number, second[0].claim.number], [1, 2]);
        receive(&mut client, FIRST, 1);
        assert!(client.awaits(2) && client.unanswered() == 2);
        receive(&mut client, FIRST, 2);
        assert!(!client.is_asking() && client.unanswered() == 1);
    }

    #[test]
    fn a_broken_connection_ends_the_claim_that_waits_by_it() {
        let mut client = connected();
        let (_, _waits) = claim(&mut client);
        let other = Input::Broken { connection: SECOND };
        handle(&mut client, other);
        assert!(client.is_asking(), "it has another connection");
        handle(&mut client, Input::Broken { connection: FIRST });
        assert!(!client.is_asking() && client.connection().is_none());
        assert_eq!(client.unanswered(), 1);
    }

    #[test]
    fn an_answer_by_a_connection_that_is_gone_is_not_taken() {
        let mut client = connected();
        handle(&mut client, Input::Broken { connection: FIRST });
        handle(&mut client, Input::Opened { connection: SECOND });
        let (sent, _waits) = claim(&mut client);
        assert_eq!(sent[0].connection, SECOND);
        receive(&mut client, FIRST, 1);
        assert!(client.awaits(1));
    }
}
