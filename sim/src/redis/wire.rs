//! One connection of a client, and another after it: what was sent on it, and what waits to be.

use std::collections::VecDeque;

use picklock_algorithms::clients::completion::Completion;
use picklock_algorithms::clients::redis::{Command, Lane, RedisError, RedisResult, Value};
use picklock_checker::VirtualTime;

use super::client::{Output, Settings};
use crate::network::ConnectionId;

/// Where a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// There is none.
    Idle,
    /// A Sentinel is asked where it is to go.
    Looking,
    /// It is asked for.
    Connecting(ConnectionId),
    /// It stands.
    Open(ConnectionId),
}

impl Phase {
    /// The connection, standing or not.
    pub fn connection(self) -> Option<ConnectionId> {
        match self {
            Self::Idle | Self::Looking => None,
            Self::Connecting(connection) | Self::Open(connection) => Some(connection),
        }
    }
}

/// A command that somebody waits for the answer of.
struct Pending {
    command: Command,
    completion: Completion<RedisResult<Value>>,
    /// When nobody waits for it any longer.
    deadline: VirtualTime,
    tries_left: u32,
    /// It was sent before, by a connection that broke: it may have been executed.
    sent_before: bool,
}

/// A lane to a server.
pub(super) struct Wire {
    pub lane: Lane,
    pub phase: Phase,
    /// No connection is asked for before.
    pub not_before: VirtualTime,
    unsent: VecDeque<Pending>,
    /// Sent and not answered, in order. `None` where nobody waits for the answer any more.
    sent: VecDeque<Option<Pending>>,
}

impl Wire {
    pub fn new(lane: Lane) -> Self {
        Self {
            lane,
            phase: Phase::Idle,
            not_before: VirtualTime::ZERO,
            unsent: VecDeque::new(),
            sent: VecDeque::new(),
        }
    }

    /// How many commands somebody waits for.
    pub fn in_flight(&self) -> usize {
        self.unsent.len() + self.sent.iter().flatten().count()
    }

    /// Whether something waits for a connection.
    pub fn wants_connection(&self) -> bool {
        self.phase == Phase::Idle && !self.unsent.is_empty()
    }

    pub fn submit(
        &mut self,
        now: VirtualTime,
        command: Command,
        completion: Completion<RedisResult<Value>>,
        settings: &Settings,
        out: &mut Vec<Output>,
    ) {
        self.unsent.push_back(Pending {
            command,
            completion,
            deadline: now + settings.timeout,
            tries_left: settings.retries,
            sent_before: false,
        });
        self.send(out);
    }

    /// Sends what waits, if there is a connection.
    pub fn send(&mut self, out: &mut Vec<Output>) {
        let Phase::Open(connection) = self.phase else {
            return;
        };
        for pending in self.unsent.drain(..) {
            out.push(Output::Send {
                connection,
                command: pending.command.clone(),
            });
            self.sent.push_back(Some(pending));
        }
    }

    /// The answer to the oldest command without one.
    pub fn answer(&mut self, value: Value) {
        if let Some(Some(pending)) = self.sent.pop_front() {
            pending.completion.complete(Ok(value));
        }
    }

    /// There is no connection, or no longer: what has tries left is tried again, and all else has failed.
    pub fn broken(&mut self, now: VirtualTime, settings: &Settings) {
        self.phase = Phase::Idle;
        self.not_before = now + settings.retry_pause;
        let sent = std::mem::take(&mut self.sent).into_iter().flatten();
        let sent = sent.map(|pending| Pending {
            sent_before: true,
            ..pending
        });
        let all = sent.chain(std::mem::take(&mut self.unsent));
        let (again, failed): (Vec<_>, Vec<_>) = all.partition(|it| it.tries_left > 0);
        self.unsent = again.into();
        for pending in &mut self.unsent {
            pending.tries_left -= 1;
            pending.deadline = now + settings.retry_pause + settings.timeout;
        }
        for pending in failed {
            let error = if pending.sent_before {
                RedisError::ConnectionLoss
            } else {
                RedisError::NotConnected
            };
            pending.completion.complete(Err(error));
        }
    }

    /// Gives up on what has waited long enough, unless it was sent and may be sent again. Answers whether an answer is
    /// late.
    pub fn give_up(&mut self, now: VirtualTime) -> bool {
        let mut late = false;
        for slot in &mut self.sent {
            let over = slot.take_if(|pending| {
                let is_late = pending.deadline <= now;
                late |= is_late;
                is_late && pending.tries_left == 0
            });
            if let Some(pending) = over {
                pending.completion.complete(Err(RedisError::TimedOut));
            }
        }
        let (over, waits): (Vec<_>, Vec<_>) = std::mem::take(&mut self.unsent)
            .into_iter()
            .partition(|pending| pending.deadline <= now);
        self.unsent = waits.into();
        for pending in over {
            let error = if pending.sent_before {
                RedisError::TimedOut
            } else {
                RedisError::NotConnected
            };
            pending.completion.complete(Err(error));
        }
        late
    }

    /// When it wants to look at the clock.
    pub fn next_wake(&self) -> VirtualTime {
        let sent = self.sent.iter().flatten();
        let deadlines = sent.chain(&self.unsent).map(|pending| pending.deadline);
        let retry = self.wants_connection().then_some(self.not_before);
        let all = deadlines.chain(retry);
        all.min().unwrap_or(VirtualTime::NEVER)
    }
}
