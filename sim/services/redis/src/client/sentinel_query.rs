//! What a client asks Sentinels: one after the other until one answers, when it has to know, and, if it polls, now and
//! then.

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::redis::{Command, Value};
use picklock_machines::ConnectionId;

use super::connection::Phase;
use super::sequential_query::SequentialQuery;
use super::{Destination, End, Output, RedisClientConfig};

/// A question to the Sentinels, how far the asking is, and what has come of it.
pub(super) struct SentinelQuery<T> {
    questions: SequentialQuery,
    /// What an answer says, if it says anything.
    read: fn(&Value) -> Option<T>,
    /// All Sentinels have failed to answer (`None`), or one has answered.
    outcome: Option<Option<T>>,
    /// How long after an answer the Sentinels are asked again, though no connection needs it.
    poll: Option<Duration>,
    poll_at: VirtualTime,
}

impl<T> SentinelQuery<T> {
    /// A query that has not begun.
    pub fn new(
        end: End,
        what: fn() -> Command,
        read: fn(&Value) -> Option<T>,
        settings: &RedisClientConfig,
    ) -> Self {
        let sentinels = settings.sentinels;
        Self {
            questions: SequentialQuery::new(
                end,
                sentinels,
                Destination::Sentinel,
                what,
                settings.timeout.min(settings.connect_timeout),
            ),
            read,
            outcome: None,
            poll: settings.poll,
            poll_at: VirtualTime::NEVER,
        }
    }

    pub fn phase(&self) -> Phase {
        self.questions.phase
    }

    pub fn phase_mut(&mut self) -> &mut Phase {
        &mut self.questions.phase
    }

    /// Begins to ask, if it does not ask already.
    pub fn ask(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        self.questions.ask(now, out);
    }

    /// What came of it, once: nothing if no Sentinel has answered.
    pub fn take_outcome(&mut self) -> Option<Option<T>> {
        self.outcome.take()
    }

    /// A connection stands. Answers whether it was the one to the Sentinel that is to be asked.
    pub fn opened(&mut self, connection: ConnectionId, out: &mut Vec<Output>) -> bool {
        self.questions.opened(connection, out)
    }

    /// A connection is gone. Answers whether it was the one to the Sentinel.
    pub fn broken(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        out: &mut Vec<Output>,
    ) -> bool {
        let is_it = self.questions.lost(connection);
        if is_it && self.questions.is_open() {
            self.next(now, out);
        }
        is_it
    }

    /// Something has come. Answers whether it was from the Sentinel.
    pub fn on_reply(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        value: &Value,
        out: &mut Vec<Output>,
    ) -> bool {
        let is_it = self.questions.phase.connection() == Some(connection);
        if is_it && self.questions.is_open() {
            match (self.read)(value) {
                Some(found) => self.settle(now, Some(found)),
                None => self.next(now, out),
            }
        }
        is_it
    }

    /// The Sentinel has failed to answer: the next one is asked, or, after the last, none.
    fn next(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        if !self.questions.next(now, out) {
            self.settle(now, None);
        }
    }

    fn settle(&mut self, now: VirtualTime, found: Option<T>) {
        self.questions.settle();
        self.outcome = Some(found);
        if let Some(every) = self.poll {
            self.poll_at = now + every;
        }
    }

    /// Gives up on a Sentinel that does not answer, and asks if it is time to.
    pub fn run_timers(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        if self.questions.deadline() <= now {
            self.next(now, out);
        }
        if self.poll_at <= now {
            self.poll_at = VirtualTime::NEVER;
            self.questions.ask(now, out);
        }
    }

    pub fn next_wake(&self) -> VirtualTime {
        self.questions.deadline().min(self.poll_at)
    }
}
