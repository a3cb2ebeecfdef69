//! What becomes due: time limits, looks for deadlocks, and looks whether a client is there (PostgreSQL's
//! `timeout.c`).

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::sql::{ErrorCode, Setting, Value};
use picklock_machines::ConnectionId;

use crate::ids::Holder;
use crate::session::{Client, Fate, Session, Wait};
use crate::state::Instance;

/// How often a session that waits in `GET_LOCK`, or in `SLEEP`, looks whether its client is there (MariaDB).
const USER_LOCK_CHECK: Duration = Duration::from_secs(1);
const SLEEP_CHECK: Duration = Duration::from_secs(5);

/// What is due.
#[derive(Clone, Copy, Debug)]
pub enum Due {
    LookForDeadlock,
    LockTimeout,
    StatementTimeout,
    WakeUp,
    IdleTimeout(ErrorCode),
    /// A busy session looks whether its client is there.
    ClientCheck,
    /// The kernel gives the client up.
    Keepalive,
}

impl Instance {
    /// When a busy session finds out that its client is gone since then, if it looks.
    fn client_check(&self, s: &Session, gone: VirtualTime) -> VirtualTime {
        let (since, interval) = match s.wait {
            Wait::Sleep(_) if self.profile.locks_records => (s.run.started, SLEEP_CHECK),
            Wait::Lock if self.waits_for_user_lock(s.me) => (s.run.waiting_since, USER_LOCK_CHECK),
            _ => {
                let interval = s.settings.time(Setting::ClientConnectionCheckInterval);
                (s.run.started, interval)
            }
        };
        if interval.is_zero() {
            return VirtualTime::NEVER;
        }
        let looks = gone
            .since(since)
            .as_micros()
            .div_ceil(interval.as_micros())
            .max(1);
        since + interval * u32::try_from(looks).unwrap_or(u32::MAX)
    }

    /// What is due next of a session.
    pub fn due(&self, s: &Session) -> (VirtualTime, Due) {
        let profile = self.profile;
        let after = |since: VirtualTime, setting| match s.settings.time(setting) {
            Duration::ZERO => VirtualTime::NEVER,
            time => since + time,
        };
        let mut all = vec![(VirtualTime::NEVER, Due::WakeUp)];
        match s.client {
            Client::Unreachable(since) => {
                all.push((since + self.settings.keepalive, Due::Keepalive))
            }
            Client::Gone(at) if matches!(s.wait, Wait::Lock | Wait::Sleep(_)) => {
                all.push((self.client_check(s, at), Due::ClientCheck));
            }
            Client::Gone(_) | Client::Here => {}
        }
        match s.wait {
            Wait::Nothing | Wait::Flush(_) | Wait::Standby(_) => {}
            Wait::Client => {
                let in_transaction = s.transaction.is_some();
                let (setting, code) = profile.idle_in_transaction;
                if in_transaction {
                    all.push((after(s.idle_since, setting), Due::IdleTimeout(code)));
                }
                let (setting, code) = profile.idle;
                if !in_transaction || profile.locks_records {
                    all.push((after(s.idle_since, setting), Due::IdleTimeout(code)));
                }
            }
            Wait::Sleep(until) => all.push((until, Due::WakeUp)),
            Wait::Lock => {
                let until = match self.waits_for_user_lock(s.me) {
                    true => s.run.user_lock_until,
                    false => after(s.run.waiting_since, profile.lock_timeout_setting),
                };
                all.push((until, Due::LockTimeout));
                if !profile.looks_for_deadlocks_at_once && !s.run.looked {
                    let at = after(s.run.waiting_since, Setting::DeadlockTimeout);
                    all.push((at, Due::LookForDeadlock));
                }
            }
        }
        if matches!(s.wait, Wait::Lock | Wait::Sleep(_) | Wait::Standby(_)) {
            let at = after(s.run.started, profile.statement_timeout_setting);
            all.push((at, Due::StatementTimeout));
        }
        let first = all.into_iter().min_by_key(|(at, _)| *at);
        first.unwrap_or((VirtualTime::NEVER, Due::WakeUp))
    }

    /// Does what is due.
    pub fn do_due(&mut self, me: ConnectionId, due: Due) {
        match due {
            Due::IdleTimeout(code) => self.with(me, |_, _| Fate::Ends(Some(code))),
            Due::ClientCheck => self.with(me, |_, _| Fate::Ends(None)),
            Due::Keepalive => self.client_gone(me),
            Due::StatementTimeout => self.interrupt(me, self.profile.statement_timeout),
            Due::LookForDeadlock => {
                if let Some(s) = self.sessions.get_mut(&me) {
                    s.run.looked = true;
                }
                self.look_for_deadlock(me);
            }
            Due::LockTimeout if self.waits_for_user_lock(me) => {
                self.locks.cancel(Holder::Session(me));
                self.goes_on(me, Some(Value::Int(0)));
            }
            Due::LockTimeout => self.interrupt(me, self.profile.lock_timeout),
            Due::WakeUp => {
                let answer = match self.profile.locks_records {
                    true => Value::Int(0),
                    false => Value::Text("".into()),
                };
                self.goes_on(me, Some(answer));
            }
        }
    }
}
