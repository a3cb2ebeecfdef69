//! A lock server with leases of its own, as a state machine: one request, and one expiry.
//!
//! What it has granted is on its disk before it answers, so a restart forgets nothing.

use picklock_checker::VirtualTime;
use picklock_clients::lease_server::{Claim, Reply};
use picklock_machines::ConnectionId;

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
        claim: Claim,
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
        reply: Reply,
    },
    /// Whoever claims by this connection has come to own the lock.
    Granted {
        /// The connection.
        connection: ConnectionId,
    },
    /// Whoever claims by this connection has given it back.
    Released {
        /// The connection.
        connection: ConnectionId,
    },
    /// The owner's lease is over.
    Expired,
}

impl Server {
    /// Handles an input at this time, and says what is to be done.
    pub fn handle(&mut self, now: VirtualTime, input: Input, out: &mut Vec<Output>) {
        if self.holder.is_some_and(|(_, until)| until <= now) {
            self.holder = None;
            out.push(Output::Expired);
        }
        if let Input::Claim { connection, claim } = input {
            let reply = self.reply(now, connection, claim, out);
            out.push(Output::Reply { connection, reply });
        }
    }

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

    /// When it wants to look at the clock.
    pub fn next_wake(&self) -> VirtualTime {
        self.holder.map_or(VirtualTime::NEVER, |(_, until)| until)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// What a server says to claims, each at this second, by this claimant, for so many seconds.
    fn replies(claims: &[(u64, u64, u64)]) -> Vec<Reply> {
        let (mut server, mut out) = (Server::default(), Vec::new());
        for (at, by, lease) in claims {
            let lease = Duration::from_secs(*lease);
            let claim = Claim { by: *by, lease };
            let connection = ConnectionId(0);
            let at = VirtualTime::ZERO + Duration::from_secs(*at);
            server.handle(at, Input::Claim { connection, claim }, &mut out);
        }
        let replies = out.into_iter().filter_map(|output| match output {
            Output::Reply { reply, .. } => Some(reply),
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
    fn whoever_holds_it_holds_it_longer_or_gives_it_back() {
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
    fn nobody_gives_back_what_is_anothers() {
        let found = replies(&[(0, 1, 5), (1, 2, 0), (6, 1, 0)]);
        assert_eq!(found, [granted(1), Reply::Refused, Reply::Refused]);
    }
}
