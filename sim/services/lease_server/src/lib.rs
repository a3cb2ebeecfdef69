//! A lock server with leases of its own, as a state machine: one request, and one expiry.
//!
//! What it has granted is on its disk before it answers, so a restart forgets nothing.

pub mod client;

use std::fmt;

use picklock_checker::VirtualTime;
use picklock_clients::lease_server::{Claim, Reply};
use picklock_machines::{Alarm, Chance, ConnectionId, Machine, Now};

/// A claim, or the reply to it, and the number of the claim: a client counts its claims from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbered<M> {
    /// The number.
    pub number: u32,
    /// The claim, or the reply.
    pub what: M,
}

impl<M> Numbered<M> {
    /// A claim, or a reply, of this number.
    pub fn of(number: u32, what: M) -> Self {
        Self { number, what }
    }
}

impl<M: fmt::Display> fmt::Display for Numbered<M> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.what.fmt(out)
    }
}

/// The server.
#[derive(Clone, Debug, Default)]
pub struct Server {
    /// Who holds the lock, and until when.
    holder: Option<(u64, VirtualTime)>,
    /// The token of the latest grant.
    token: u64,
}

/// What happens to it.
#[derive(Clone, Copy, Debug)]
pub enum Input {
    /// A claim has come.
    Claim {
        /// By this connection.
        connection: ConnectionId,
        /// The claim.
        claim: Numbered<Claim>,
    },
    /// It is time to look at the clock.
    Wake,
}

/// What it wants done, or has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// An answer goes out.
    Reply {
        /// By this connection.
        connection: ConnectionId,
        /// The answer.
        reply: Numbered<Reply>,
    },
    /// The claimant by this connection has come to own the lock.
    Granted {
        /// The connection.
        connection: ConnectionId,
    },
    /// The claimant by this connection has given it back.
    Released {
        /// The connection.
        connection: ConnectionId,
    },
    /// The owner's lease is over.
    Expired,
}

impl Machine for Server {
    type Input = Input;
    type Output = Output;
    const WAKE: Input = Input::Wake;

    fn handle(
        &mut self,
        now: Now,
        input: Input,
        _chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) -> Alarm {
        let now = now.monotonic;
        if self.holder.is_some_and(|(_, until)| until <= now) {
            self.holder = None;
            out.push(Output::Expired);
        }
        if let Input::Claim { connection, claim } = input {
            let reply = self.reply(now, connection, claim.what, out);
            let reply = Numbered::of(claim.number, reply);
            out.push(Output::Reply { connection, reply });
        }
        Alarm::Unchanged
    }

    /// It looks whether a lease is over when a claim comes.
    fn next_wake(&self) -> VirtualTime {
        VirtualTime::NEVER
    }
}

impl Server {
    fn reply(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        claim: Claim,
        out: &mut Vec<Output>,
    ) -> Reply {
        let until = now + claim.lease;
        match &mut self.holder {
            Some((by, _)) if *by != claim.by => return Reply::Refused,
            Some(_) if claim.lease.is_zero() => {
                self.holder = None;
                out.push(Output::Released { connection });
            }
            Some((_, held_until)) => *held_until = until,
            None if claim.lease.is_zero() => return Reply::Refused,
            None => {
                self.token += 1;
                self.holder = Some((claim.by, until));
                out.push(Output::Granted { connection });
            }
        }
        Reply::Granted { token: self.token }
    }

    /// When the lease of the holder is over, if there is one.
    pub fn lease_ends(&self) -> VirtualTime {
        self.holder.map_or(VirtualTime::NEVER, |(_, until)| until)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use picklock_machines::Boring;

    use super::*;

    /// What a server says to claims, each at this second, by this claimant, for so many seconds.
    fn replies(claims: &[(u64, u64, u64)]) -> Vec<Reply> {
        let (mut server, mut out) = (Server::default(), Vec::new());
        for (at, by, lease) in claims {
            let lease = Duration::from_secs(*lease);
            let claim = Claim { by: *by, lease };
            let connection = ConnectionId(0);
            let now = Now {
                monotonic: VirtualTime::ZERO + Duration::from_secs(*at),
                wall_micros: 0,
            };
            let claim = Numbered::of(1, claim);
            server.handle(
                now,
                Input::Claim { connection, claim },
                &mut Boring,
                &mut out,
            );
        }
        let replies = out.into_iter().filter_map(|output| match output {
            Output::Reply { reply, .. } => Some(reply.what),
            _ => None,
        });
        replies.collect()
    }

    const fn granted(token: u64) -> Reply {
        Reply::Granted { token }
    }

    #[test]
    fn it_is_the_first_claimants_until_the_lease_is_over() {
        let found = replies(&[(0, 1, 5), (1, 2, 5), (5, 2, 5)]);
        assert_eq!(found, [granted(1), Reply::Refused, granted(2)]);
    }

    #[test]
    fn a_holder_renews_its_lease_or_gives_it_back() {
        let found = replies(&[(0, 1, 5), (4, 1, 5), (6, 2, 5), (7, 1, 0), (7, 2, 5)]);
        let expected = [
            granted(1),
            granted(1),
            Reply::Refused,
            granted(1),
            granted(2),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_client_cannot_give_back_anothers_lease() {
        let found = replies(&[(0, 1, 5), (1, 2, 0), (6, 1, 0)]);
        assert_eq!(found, [granted(1), Reply::Refused, Reply::Refused]);
    }
}
