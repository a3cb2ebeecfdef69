//! The scripts of `RLock` and `RFencedLock`, and what they answer.

use std::time::Duration;

use crate::clients::redis::{Script, Value};

const TRY_LOCK: &str = "\
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return nil
end
return redis.call('PTTL', KEYS[1])";

/// The same, which counts a number up with every entry, and answers it. Redisson's FencedLock.
pub(super) const FENCED_TRY_LOCK: &str = "\
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
  local token = redis.call('INCR', KEYS[2])
  redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return {-1, token}
end
return {redis.call('PTTL', KEYS[1]), -1}";

const RENEW_EXPIRATION: &str = "\
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
  return redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return 0";

pub const UNLOCK: &str = "\
local done = redis.call('GET', KEYS[3])
if done ~= false then
  return tonumber(done)
end
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return nil
end
if redis.call('HINCRBY', KEYS[1], ARGV[2], -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  redis.call('SET', KEYS[3], 0, 'PX', ARGV[3])
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[2], 'unlock')
redis.call('SET', KEYS[3], 1, 'PX', ARGV[3])
return 1";

/// As it was before 3.24: a release that is sent twice counts twice.
pub const UNLOCK_WITHOUT_LATCH: &str = "\
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return nil
end
if redis.call('HINCRBY', KEYS[1], ARGV[2], -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[2], 'unlock')
return 1";

/// Deletes the key of any contender.
pub(super) const FORCE_UNLOCK: &str = "\
if redis.call('DEL', KEYS[1]) == 1 then
  redis.call('PUBLISH', KEYS[2], 'unlock')
  return 1
end
return 0";

#[derive(Clone)]
pub struct Scripts {
    pub try_lock: Script,
    pub renew_expiration: Script,
    pub unlock: Script,
}

/// A script of a release that publishes no message (`RSpinLock`).
pub fn without_message(unlock: &str) -> String {
    unlock.replace("redis.call('PUBLISH', KEYS[2], 'unlock')\n", "")
}

impl Scripts {
    /// Those of `RLock`, of which each object sends the source once.
    pub fn sent_once() -> Self {
        Self {
            try_lock: Script::sent_once(TRY_LOCK),
            renew_expiration: Script::sent_once(RENEW_EXPIRATION),
            unlock: Script::sent_once(UNLOCK),
        }
    }

    /// Those of `RLock`.
    pub fn new() -> Self {
        Self {
            try_lock: Script::new(TRY_LOCK),
            renew_expiration: Script::new(RENEW_EXPIRATION),
            unlock: Script::new(UNLOCK),
        }
    }
}

/// What came of an attempt.
pub enum TryAcquire {
    /// It is ours, with this number if it has one.
    Acquired(Option<u64>),
    /// Another's, for this much longer, or for ever.
    Ttl(Option<Duration>),
}

impl From<&Value> for TryAcquire {
    /// Nothing, or what is left of the lease; of a `RFencedLock` both, with the number behind it.
    fn from(answer: &Value) -> Self {
        let number = |value: Option<&Value>| match value {
            Some(Value::Integer(number)) => u64::try_from(*number).ok(),
            _ => None,
        };
        match answer {
            Value::Integer(_) => Self::Ttl(number(Some(answer)).map(Duration::from_millis)),
            Value::Array(both) => match number(both.get(1)) {
                Some(token) => Self::Acquired(Some(token)),
                None => Self::Ttl(number(both.first()).map(Duration::from_millis)),
            },
            _ => Self::Acquired(None),
        }
    }
}
