//! Functions of the server: advisory locks (`lockfuncs.c`), user locks (`item_func.cc`), and what sessions do to each other.

use std::rc::Rc;
use std::time::Duration;

use picklock_clients::sql::{AdvisoryKey, AdvisoryLock, ErrorCode, Expr, Function, Notice, Value};
use picklock_machines::ConnectionId;

use crate::backend::{Running, Wait};
use crate::executor::Stop;
use crate::expression::RowContext;
use crate::io::Advisory;
use crate::lock_manager::{EXCLUSIVE, Holder, SHARE, Scope, Tag};
use crate::server::Server;

/// What a function answers that answers nothing.
fn void() -> Value {
    Value::Text("".into())
}

impl Server {
    pub(crate) fn call(
        &mut self,
        run: &mut Running,
        context: &RowContext,
        function: &Function,
    ) -> Result<Value, Stop> {
        let me = run.me;
        Ok(match function {
            Function::AdvisoryLock(which, key) => match self.advisory(run, context, key)? {
                Some(key) => self.advisory_lock(run, *which, key)?,
                None => Value::Null,
            },
            Function::AdvisoryUnlock { shared, key } => {
                let Some(key) = self.advisory(run, context, key)? else {
                    return Ok(Value::Null);
                };
                let (mode, notice) = match shared {
                    true => (SHARE, Notice::NotOwnerShared),
                    false => (EXCLUSIVE, Notice::NotOwnerExclusive),
                };
                let was_held = self.release_one(me, &Tag::Advisory(key), &mode);
                if !was_held {
                    run.notices.push(notice);
                }
                Value::Bool(was_held)
            }
            Function::AdvisoryUnlockAll => {
                self.release_where(me, |tag, held| {
                    matches!(tag, Tag::Advisory(_)) && held.scope == Scope::Session
                });
                void()
            }
            Function::GetLock(name, timeout) => {
                let name = self.user_lock(run, context, name)?;
                self.get_lock(run, name, *timeout)?
            }
            Function::ReleaseLock(name) => {
                let Some(tag) = self.user_lock(run, context, name)? else {
                    return Ok(Value::Null);
                };
                let is_held = self.locks.holders(&tag).next().is_some();
                match self.release_one(me, &tag, &EXCLUSIVE) {
                    true => Value::Int(1),
                    false if is_held => Value::Int(0),
                    false => Value::Null,
                }
            }
            Function::ReleaseAllLocks => {
                let takes = self.release_where(me, |tag, _| matches!(tag, Tag::UserLock(_)));
                Value::Int(i64::try_from(takes).unwrap_or(i64::MAX))
            }
            Function::IsFreeLock(name) => match self.user_lock(run, context, name)? {
                Some(tag) => Value::Int(self.locks.holders(&tag).next().is_none().into()),
                None => Value::Null,
            },
            Function::IsUsedLock(name) => {
                let tag = self.user_lock(run, context, name)?;
                match tag.and_then(|tag| self.locks.holders(&tag).next()) {
                    Some(Holder::Session(session)) => Value::Int(session.0.into()),
                    Some(Holder::Prepared(_)) | None => Value::Null,
                }
            }
            Function::CancelBackend(pid) => Value::Bool(self.kill(*pid, true).is_ok()),
            Function::TerminateBackend(pid) => Value::Bool(self.kill(*pid, false).is_ok()),
            Function::Sleep(time) => {
                self.sleeps(run, *time);
                return Err(Stop::Wait);
            }
        })
    }

    fn sleeps(&self, run: &mut Running, time: Duration) {
        run.wait = Wait::Sleep(self.now + time);
        run.waiting_since = self.now;
    }

    /// The key of an advisory lock; none if it is `NULL`.
    fn advisory(
        &mut self,
        run: &mut Running,
        context: &RowContext,
        key: &AdvisoryKey,
    ) -> Result<Option<Advisory>, Stop> {
        let of_32_bits = |number: i64| {
            i32::try_from(number).map_err(|_| Stop::Error(ErrorCode::UndefinedFunction))
        };
        Ok(match key {
            AdvisoryKey::One(key) => {
                let key = self.evaluate(run, context, key)?;
                key.as_int().map(Advisory::One)
            }
            AdvisoryKey::Two(high, low) => {
                let high = self.evaluate(run, context, high)?;
                let low = self.evaluate(run, context, low)?;
                match (high.as_int(), low.as_int()) {
                    (Some(high), Some(low)) => {
                        Some(Advisory::Two(of_32_bits(high)?, of_32_bits(low)?))
                    }
                    _ => None,
                }
            }
        })
    }

    fn advisory_lock(
        &mut self,
        run: &mut Running,
        which: AdvisoryLock,
        key: Advisory,
    ) -> Result<Value, Stop> {
        let mode = if which.shared { SHARE } else { EXCLUSIVE };
        let scope = match which.xact {
            true => Scope::Transaction(self.transaction(run.me).level()),
            false => Scope::Session,
        };
        run.on_grant = Some(void());
        let is_held = self.acquire(run, &Tag::Advisory(key), mode, scope, !which.tries)?;
        run.on_grant = None;
        Ok(match which.tries {
            true => Value::Bool(is_held),
            false => void(),
        })
    }

    /// The lock of a name; none if there is no such lock.
    fn user_lock(
        &mut self,
        run: &mut Running,
        context: &RowContext,
        name: &Expr,
    ) -> Result<Option<Tag>, Stop> {
        let name = self.evaluate(run, context, name)?;
        let name = name.as_text().filter(|name| !name.is_empty());
        Ok(name.map(|name| Tag::UserLock(Rc::clone(name))))
    }

    fn get_lock(
        &mut self,
        run: &mut Running,
        name: Option<Tag>,
        timeout: Option<i64>,
    ) -> Result<Value, Stop> {
        let Some(tag) = name else {
            return Ok(Value::Null);
        };
        let Some(timeout) = timeout.and_then(|timeout| u64::try_from(timeout).ok()) else {
            run.notices.push(Notice::IncorrectArgument);
            return Ok(Value::Null);
        };
        run.user_lock_until = self.now + Duration::from_millis(timeout);
        run.on_grant = Some(Value::Int(1));
        let is_held = self.acquire(run, &tag, EXCLUSIVE, Scope::Session, timeout > 0)?;
        run.on_grant = None;
        Ok(Value::Int(is_held.into()))
    }

    /// Whether a session waits for a lock, or would if there is no such session.
    pub fn is_waiting(&self, connection: ConnectionId) -> bool {
        self.locks
            .waiting
            .contains_key(&Holder::Session(connection))
    }
}
