//! When a client pings, and when it gives up on a server that does not answer.

use picklock_checker::VirtualTime;
use picklock_machines::Chance;

use super::connection::{Phase, after};
use super::{Client, Output};
use crate::client_profile::Library;
use crate::messages::ClientMessage;

/// A Java client that wakes up anyway sends a ping that is due within this.
const EARLY: u64 = 1_000_000;
/// A Java client that wakes up anyway sends a ping if it has sent nothing for longer than this.
const IDLE: u64 = 10_000_000;
/// kazoo pings earlier than due by one to forty of these.
const JITTER: u64 = 10_000;

/// What libraries other than Java's remember of their pings.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pings {
    /// One is not answered.
    pub(super) unanswered: bool,
    /// By how much the next is early (kazoo).
    early: u64,
    /// Since when it looks at its clock at regular intervals (Rust), or its ticker has ticked last (Go).
    since: VirtualTime,
}

impl Client {
    /// There is a new connection.
    pub(super) fn begin_pings(&mut self, now: VirtualTime) {
        self.pings = Pings {
            since: now,
            ..Pings::default()
        };
    }

    /// Sends a ping if one is due.
    #[inline(never)]
    pub(super) fn settle(
        &mut self,
        now: VirtualTime,
        chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) {
        self.last_awake = now;
        let Phase::Connected { .. } = self.phase else {
            self.quiet_until = VirtualTime::ZERO;
            return;
        };
        if self.settings.library != Library::Java {
            self.quiet_until = VirtualTime::ZERO;
            return self.settle_otherwise(now, chance, out);
        }
        // An idle client pings after half the read timeout, and earlier if it is awake anyway.
        let interval = self.ping_interval();
        let idle = now.micros().saturating_sub(self.last_sent.micros());
        if idle + early(idle) >= interval || idle > IDLE {
            self.ping(now, out);
        }
        if self.settings.request_timeout.is_some() {
            self.quiet_until = VirtualTime::ZERO;
            return;
        }
        let quiet = after(self.last_sent, interval.min(EARLY));
        self.quiet_until = quiet.min(self.timers_end_at());
    }

    /// When something besides pings is to be done at the latest, whatever is sent and heard before.
    fn timers_end_at(&self) -> VirtualTime {
        self.phase_ends_at().min(self.search_at())
    }

    /// It is told that it will be woken then, not after [`next_wake`](Self::next_wake). Mostly that is so early that
    /// nothing that comes meanwhile can ask for an earlier alarm. Then it need not look at its clock before a ping can
    /// be due, and that spares each message the way to what all this stands in.
    pub fn set_alarm(&mut self, at: VirtualTime) {
        if self.quiet_until == VirtualTime::ZERO {
            return;
        }
        let interval = self.ping_interval();
        let timers = self.timers_end_at();
        let earliest = after(self.last_sent, interval.saturating_sub(EARLY)).min(timers);
        let idle = if at <= earliest && interval > EARLY {
            (interval - EARLY).clamp(EARLY + 1, IDLE)
        } else {
            interval.min(EARLY)
        };
        self.quiet_until = after(self.last_sent, idle).min(timers);
    }

    /// As other libraries do it: no ping before the last is answered, but for Go, whose ticker asks nothing.
    #[cold]
    fn settle_otherwise(
        &mut self,
        now: VirtualTime,
        chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) {
        if self.settings.library == Library::Kazoo && self.pings.early == 0 {
            self.pings.early = (1 + u64::from(chance.choose(40))) * JITTER;
        }
        if !self.pings.unanswered && self.ping_due() <= now {
            self.ping(now, out);
            self.pings.unanswered = self.settings.library != Library::Go;
            // Ticks that were missed while the process stood still are one.
            let ticks = now.since(self.pings.since).as_micros() as u64 / self.ping_interval();
            if self.settings.library == Library::Go {
                self.pings.since = after(self.pings.since, ticks * self.ping_interval());
            }
            self.pings.early = 0;
            self.settle_otherwise(now, chance, out);
        }
    }

    fn ping(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        if let Some(connection) = self.phase.connection() {
            self.last_sent = now;
            out.push(Output::Send {
                connection,
                message: ClientMessage::Ping,
            });
        }
    }

    /// When it wants to wake for the sake of a ping.
    pub(super) fn ping_alarm(&self) -> VirtualTime {
        let Phase::Connected { .. } = self.phase else {
            return VirtualTime::NEVER;
        };
        match self.settings.library {
            Library::Java => {
                let idle = self.last_awake.since(self.last_sent).as_micros() as u64;
                let wait = self.ping_interval().saturating_sub(early(idle));
                after(self.last_sent, wait)
            }
            Library::Kazoo | Library::Rust if self.pings.unanswered => VirtualTime::NEVER,
            Library::Kazoo | Library::Rust | Library::Go => self.ping_due(),
        }
    }

    /// When the next ping is due.
    fn ping_due(&self) -> VirtualTime {
        let due = after(self.last_sent, self.ping_interval());
        match self.settings.library {
            Library::Java => due,
            Library::Kazoo => {
                VirtualTime::from_micros(due.micros().saturating_sub(self.pings.early))
                    .max(after(self.last_sent, JITTER))
            }
            Library::Rust => self.next_check(due),
            // Whatever it sends meanwhile.
            Library::Go => after(self.pings.since, self.ping_interval()),
        }
    }

    /// When it has waited for long enough for a sign of life from its server.
    pub(super) fn silent_until(&self) -> VirtualTime {
        match self.settings.library.read_timeout() {
            Some((above, below)) => {
                let silence = self.timeout.saturating_mul(above) / below;
                let until = after(self.last_heard, silence);
                match self.settings.library {
                    Library::Java | Library::Kazoo | Library::Go => until,
                    Library::Rust => self.next_check(until),
                }
            }
            // The next ping is due, and the last is not answered.
            None if self.pings.unanswered => self.ping_due(),
            None => VirtualTime::NEVER,
        }
    }

    /// A Rust client looks at its clock twenty times in a session timeout.
    fn next_check(&self, time: VirtualTime) -> VirtualTime {
        let between = (self.timeout / 20).max(1);
        let looks = time
            .micros()
            .saturating_sub(self.pings.since.micros())
            .div_ceil(between);
        after(self.pings.since, looks.saturating_mul(between))
    }

    fn ping_interval(&self) -> u64 {
        let interval = match self.settings.library {
            Library::Java | Library::Kazoo | Library::Go => self.timeout.saturating_mul(2) / 3 / 2,
            Library::Rust => self.timeout.saturating_mul(3) / 20,
        };
        interval.max(1)
    }
}

/// How much earlier than due a ping is sent by a Java client that was idle for so long.
fn early(idle: u64) -> u64 {
    if idle > EARLY { EARLY } else { 0 }
}
