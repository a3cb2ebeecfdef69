//! One connection of a client, and another after it: what was sent on it, and what waits to be.

use std::collections::VecDeque;

use picklock_checker::VirtualTime;
use picklock_clients::redis::{Command, Lane, RedisError, Value};
use picklock_machines::ConnectionId;

use super::in_flight::InFlight;
use super::pending::Pending;
use super::{Output, RedisClientConfig, ReplicaRotation};
use crate::Address;

/// Where a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// There is none.
    Idle,
    /// A Sentinel is asked where it is to go.
    Resolving,
    /// It is asked for.
    Connecting(ConnectionId),
    /// It stands.
    Open(ConnectionId),
}

impl Phase {
    /// The connection, standing or not.
    pub fn connection(self) -> Option<ConnectionId> {
        match self {
            Self::Idle | Self::Resolving => None,
            Self::Connecting(connection) | Self::Open(connection) => Some(connection),
        }
    }
}

/// What servers say that do not serve yet.
const NOT_YET: [&str; 2] = ["LOADING", "MASTERDOWN"];

/// The target of the commands of a lane. Each target has connections of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LaneTarget {
    /// The server of the lane, or the present primary.
    Lane,
    /// A node of the cluster.
    Node(Address),
    /// A replica, as whose turn it is: it is read from.
    Reader(u8),
}

/// A lane to a server.
pub(super) struct Wire {
    pub lane: Lane,
    pub target: LaneTarget,
    /// Which replica is to be read from, if one is.
    pub rotation: Option<ReplicaRotation>,
    pub phase: Phase,
    /// No connection is asked for before.
    pub not_before: VirtualTime,
    /// It is one of a pool, and a command has it.
    pub is_out: bool,
    /// As how manyth of its pool it was given back last.
    pub given_back: u64,
    /// How many tries in a row have failed.
    failures: u32,
    unsent: VecDeque<Pending>,
    sent: InFlight,
}

impl Wire {
    pub fn new(lane: Lane, target: LaneTarget) -> Self {
        let rotation = match target {
            LaneTarget::Lane | LaneTarget::Node(_) => None,
            LaneTarget::Reader(turn) => Some(ReplicaRotation::from(turn)),
        };
        Self {
            lane,
            target,
            rotation,
            phase: Phase::Idle,
            not_before: VirtualTime::ZERO,
            is_out: false,
            given_back: 0,
            failures: 0,
            unsent: VecDeque::new(),
            sent: InFlight::default(),
        }
    }

    /// How many commands have an awaited answer.
    pub fn in_flight(&self) -> usize {
        self.unsent.len() + self.sent.awaited()
    }

    /// Whether a command waits for the next answer.
    pub fn awaits_answer(&self) -> bool {
        self.sent.next_is_awaited()
    }

    /// Whether no command has it.
    pub fn is_free(&self) -> bool {
        self.unsent.is_empty() && self.sent.is_empty()
    }

    /// Whether something waits for a connection.
    pub fn wants_connection(&self) -> bool {
        self.phase == Phase::Idle && !self.unsent.is_empty()
    }

    pub fn submit(&mut self, pending: Pending, out: &mut Vec<Output>) {
        self.unsent.push_back(pending);
        self.send(out);
    }

    /// Whether it is to go to a replica, or does.
    pub fn is_of_replica(&self) -> bool {
        self.rotation.as_ref().is_some_and(|turn| !turn.falls_back)
    }

    /// The connection stands. Where the time-out is one of reading from it, what waited for it waits for its answer
    /// from now on: to find the server and to connect has limits of its own.
    pub fn opened(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        settings: &RedisClientConfig,
    ) {
        self.phase = Phase::Open(connection);
        if settings.closes_late() {
            for pending in &mut self.unsent {
                pending.wait_from(now, settings);
            }
        }
        if settings.replay {
            self.failures = 0;
        }
        if let Some(rotation) = &mut self.rotation {
            rotation.reached();
        }
    }

    /// There is no connection to a replica: what waits for it goes to the next one, and none of its tries is taken.
    pub fn pass_on(&mut self) {
        self.phase = Phase::Idle;
        if let Some(rotation) = &mut self.rotation {
            rotation.missed();
        }
    }

    /// Says that what a replica has is good enough (`READONLY`), before anything else is sent.
    pub fn settle_for_replicas(&mut self, out: &mut Vec<Output>) {
        if let Phase::Open(connection) = self.phase {
            send_untracked(connection, "READONLY", &mut self.sent, out);
        }
    }

    /// Sends what waits, if there is a connection.
    pub fn send(&mut self, out: &mut Vec<Output>) {
        let Phase::Open(connection) = self.phase else {
            return;
        };
        while let Some(mut pending) = self.unsent.pop_front() {
            if std::mem::take(&mut pending.asking) {
                send_untracked(connection, "ASKING", &mut self.sent, out);
            }
            out.push(Output::Send {
                connection,
                command: pending.command.clone(),
                again: pending.sent_before,
                caller: pending.caller,
            });
            pending.is_sent();
            self.sent.push(pending);
        }
    }

    /// The answer to the oldest command without one. If the server does not serve yet, and the command may be sent
    /// again, it is, by the next connection, as redis-py does it: answers whether this one is to be closed.
    pub fn answer(&mut self, now: VirtualTime, value: Value, settings: &RedisClientConfig) -> bool {
        let Some(mut pending) = self.answered() else {
            return false;
        };
        let not_yet = matches!(&value, Value::Error(error) if NOT_YET.contains(&error.code()));
        let pause = settings.pause_after(self.failures);
        if !not_yet || settings.replay || !pending.try_again(now, pause, settings) {
            self.failures = 0;
            pending.answer(value);
            return false;
        }
        self.broken(now, settings);
        self.unsent.push_front(pending);
        true
    }

    /// The oldest command without an answer has one: the command, if its answer is still awaited.
    pub fn answered(&mut self) -> Option<Pending> {
        self.sent.pop()
    }

    /// There is no connection, or no longer: what has tries left is tried again, and all else has failed.
    pub fn broken(&mut self, now: VirtualTime, settings: &RedisClientConfig) {
        self.unsent = self.lose(now, settings).into();
    }

    /// The same, but what has tries left is handed back.
    pub fn lose(&mut self, now: VirtualTime, settings: &RedisClientConfig) -> Vec<Pending> {
        self.phase = Phase::Idle;
        let pause = settings.pause_after(self.failures);
        self.failures = self.failures.saturating_add(1);
        self.not_before = now + pause;
        if let Some(rotation) = &mut self.rotation {
            rotation.lost();
        }
        let sent = self.sent.take().map(Pending::broken_off);
        let all = sent.chain(std::mem::take(&mut self.unsent));
        let mut again = Vec::new();
        for mut pending in all {
            if pending.try_again(now, pause, settings) {
                again.push(pending);
            } else {
                pending.fail();
            }
        }
        if again.is_empty() && settings.counts_tries_of_commands() {
            // The next command is another one, and has not been tried yet.
            self.failures = 0;
            self.not_before = now;
        }
        again
    }

    /// Gives up on what has waited long enough, unless it was sent, and may be sent again because its connection is
    /// closed. Answers whether an answer is late.
    pub fn give_up(&mut self, now: VirtualTime, settings: &RedisClientConfig) -> bool {
        let (over, late) = self.sent.take_late(now, settings.closes_late());
        for pending in over {
            pending.completion.complete(Err(RedisError::TimedOut));
        }
        let (over, waits): (Vec<_>, Vec<_>) = std::mem::take(&mut self.unsent)
            .into_iter()
            .partition(|pending| pending.deadline <= now);
        self.unsent = waits.into();
        for pending in over {
            pending.give_up();
        }
        late
    }

    /// When it wants to look at the clock.
    pub fn next_wake(&self) -> VirtualTime {
        let mut first = match self.wants_connection() {
            true => self.not_before,
            false => VirtualTime::NEVER,
        };
        first = first.min(self.sent.deadline());
        for pending in &self.unsent {
            first = first.min(pending.deadline);
        }
        first
    }
}

/// Sends a word whose answer is not awaited.
fn send_untracked(
    connection: ConnectionId,
    word: &str,
    sent: &mut InFlight,
    out: &mut Vec<Output>,
) {
    out.push(Output::Send {
        connection,
        command: Command::new(word),
        again: false,
        caller: None,
    });
    sent.push_untracked();
}
