//! Functions of the server: advisory locks (`lockfuncs.c`), user locks (`item_func.cc`), and what sessions do to
//! each other.

use std::rc::Rc;
use std::time::Duration;

use picklock_clients::sql::{AdvisoryKey, AdvisoryLock, ErrorCode, Expr, Function, Notice, Value};

use crate::expression::RowContext;
use crate::ids::{Advisory, Holder};
use crate::lock_manager::{EXCLUSIVE, SHARE, Scope, Tag};
use crate::session::{Done, Session, Stop, Wait};
use crate::state::Instance;

/// What a function answers that answers nothing.
fn void() -> Value {
    Value::Text("".into())
}

impl Instance {
    pub fn call(
        &mut self,
        s: &mut Session,
        context: &RowContext,
        function: &Function,
    ) -> Done<Value> {
        let me = s.me;
        Ok(match function {
            Function::AdvisoryLock(which, key) => match self.advisory(s, context, key)? {
                Some(key) => self.advisory_lock(s, *which, key)?,
                None => Value::Null,
            },
            Function::AdvisoryUnlock { shared, key } => {
                let Some(key) = self.advisory(s, context, key)? else {
                    return Ok(Value::Null);
                };
                let (mode, notice) = match shared {
                    true => (SHARE, Notice::NotOwnerShared),
                    false => (EXCLUSIVE, Notice::NotOwnerExclusive),
                };
                let was_held = self.release_one(me, &Tag::Advisory(key), &mode);
                if !was_held {
                    s.run.notices.push(notice);
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
                let name = self.user_lock(s, context, name)?;
                self.get_lock(s, name, *timeout)?
            }
            Function::ReleaseLock(name) => {
                let Some(tag) = self.user_lock(s, context, name)? else {
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
            Function::IsFreeLock(name) => match self.user_lock(s, context, name)? {
                Some(tag) => Value::Int(self.locks.holders(&tag).next().is_none().into()),
                None => Value::Null,
            },
            Function::IsUsedLock(name) => {
                let tag = self.user_lock(s, context, name)?;
                match tag.and_then(|tag| self.locks.holders(&tag).next()) {
                    Some(Holder::Session(session)) => Value::Int(session.0.into()),
                    Some(Holder::Prepared(_)) | None => Value::Null,
                }
            }
            Function::CancelBackend(pid) => Value::Bool(self.kill(*pid, true)),
            Function::TerminateBackend(pid) => Value::Bool(self.kill(*pid, false)),
            Function::Sleep(time) => {
                s.wait = Wait::Sleep(self.now + *time);
                return Err(Stop::Wait);
            }
        })
    }

    /// The key of an advisory lock; none if it is `NULL`.
    fn advisory(
        &mut self,
        s: &mut Session,
        context: &RowContext,
        key: &AdvisoryKey,
    ) -> Done<Option<Advisory>> {
        let of_32_bits = |number: i64| {
            i32::try_from(number).map_err(|_| Stop::Error(ErrorCode::UndefinedFunction))
        };
        Ok(match key {
            AdvisoryKey::One(key) => {
                let key = self.evaluate(s, context, key)?;
                key.as_int().map(Advisory::One)
            }
            AdvisoryKey::Two(high, low) => {
                let high = self.evaluate(s, context, high)?;
                let low = self.evaluate(s, context, low)?;
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
        s: &mut Session,
        which: AdvisoryLock,
        key: Advisory,
    ) -> Done<Value> {
        let mode = if which.shared { SHARE } else { EXCLUSIVE };
        let scope = match which.xact {
            true => Scope::Transaction(self.transaction(s).level()),
            false => Scope::Session,
        };
        s.run.on_grant = Some(void());
        let is_held = self.acquire(s, &Tag::Advisory(key), mode, scope, !which.tries)?;
        s.run.on_grant = None;
        Ok(match which.tries {
            true => Value::Bool(is_held),
            false => void(),
        })
    }

    /// The lock of a name; none if there is no such lock.
    fn user_lock(
        &mut self,
        s: &mut Session,
        context: &RowContext,
        name: &Expr,
    ) -> Done<Option<Tag>> {
        let name = self.evaluate(s, context, name)?;
        let name = name.as_text().filter(|name| !name.is_empty());
        Ok(name.map(|name| Tag::UserLock(Rc::clone(name))))
    }

    fn get_lock(
        &mut self,
        s: &mut Session,
        name: Option<Tag>,
        timeout: Option<i64>,
    ) -> Done<Value> {
        let Some(tag) = name else {
            return Ok(Value::Null);
        };
        let Some(timeout) = timeout.and_then(|timeout| u64::try_from(timeout).ok()) else {
            s.run.notices.push(Notice::IncorrectArgument);
            return Ok(Value::Null);
        };
        s.run.user_lock_until = self.now + Duration::from_millis(timeout);
        s.run.on_grant = Some(Value::Int(1));
        let is_held = self.acquire(s, &tag, EXCLUSIVE, Scope::Session, timeout > 0)?;
        s.run.on_grant = None;
        Ok(Value::Int(is_held.into()))
    }
}
