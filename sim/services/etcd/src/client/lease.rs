//! Signs of life for leases: they are sent every third of a lease's time, and a lease without an answer is given up.

use std::time::Duration;

use picklock_checker::VirtualTime;

use super::state::{Client, KeepAlive, Output, Stream, Turn};
use crate::rpc::{ClientBody, LeaseId};

/// How often the loop looks whether a sign of life is to be sent; a broken stream is opened once more after the same.
const SEND_PERIOD: Duration = Duration::from_millis(500);
/// How often another looks whether a lease has had no answer for too long.
const DEADLINE_PERIOD: Duration = Duration::from_secs(1);
/// How long a new lease waits for its first answer, if the client has no `DialTimeout`.
const FIRST_TIMEOUT: Duration = Duration::from_secs(5);

impl Client {
    pub(super) fn keep_alive(&mut self, turn: &mut Turn, lease: LeaseId) {
        let dial = self.settings.dial_timeout;
        let first = dial.map_or(FIRST_TIMEOUT, |dial| dial + Duration::from_secs(1));
        let keep_alive = KeepAlive {
            next: turn.now,
            deadline: turn.now + first,
        };
        let tasks = &mut self.keep_alives;
        tasks.leases.insert(lease, keep_alive);
        if tasks.next_check == VirtualTime::NEVER {
            tasks.next_check = turn.now + DEADLINE_PERIOD;
            tasks.next_send = turn.now;
            self.keep_alives_due(turn);
        }
    }

    /// A sign of life is answered.
    pub(super) fn kept_alive(&mut self, turn: &mut Turn, lease: LeaseId, ttl: i64) {
        let Some(keep_alive) = self.keep_alives.leases.get_mut(&lease) else {
            return;
        };
        let Some(ttl_seconds) = u64::try_from(ttl).ok().filter(|ttl| *ttl > 0) else {
            self.keep_alives.leases.remove(&lease);
            return turn.out.push(Output::LeaseLost(lease));
        };
        let whole = Duration::from_secs(ttl_seconds);
        keep_alive.next = turn.now + whole / 3;
        keep_alive.deadline = turn.now + whole;
        turn.out.push(Output::KeptAlive(lease, ttl));
    }

    /// The stream is gone.
    pub(super) fn keep_alive_stream_broken(&mut self, now: VirtualTime) {
        self.keep_alives.stream = Stream::OpensAt(now + SEND_PERIOD);
    }

    /// What the two loops do.
    pub(super) fn keep_alives_due(&mut self, turn: &mut Turn) {
        if turn.now >= self.keep_alives.next_check {
            self.keep_alives.next_check = turn.now + DEADLINE_PERIOD;
            let leases = &mut self.keep_alives.leases;
            let late = leases.iter().filter(|(_, lease)| lease.deadline < turn.now);
            for lease in late.map(|(id, _)| *id).collect::<Vec<_>>() {
                leases.remove(&lease);
                turn.out.push(Output::LeaseLost(lease));
            }
        }
        if turn.now < self.keep_alives.next_send {
            return;
        }
        if let Stream::OpensAt(at) = self.keep_alives.stream
            && at <= turn.now
            && !self.keep_alives.leases.is_empty()
        {
            match self.pick() {
                Some((connection, call)) => {
                    self.keep_alives.stream = Stream::Open(connection, call);
                }
                None => self.keep_alive_stream_broken(turn.now),
            }
        }
        self.keep_alives.next_send = turn.now + SEND_PERIOD;
        if let Stream::Open(connection, call) = self.keep_alives.stream {
            let leases = self.keep_alives.leases.iter();
            let due = leases
                .filter(|(_, lease)| lease.next <= turn.now)
                .map(|(id, _)| *id);
            for lease in due.collect::<Vec<_>>() {
                self.send(turn, (connection, call), ClientBody::LeaseKeepAlive(lease));
            }
        }
    }
}
