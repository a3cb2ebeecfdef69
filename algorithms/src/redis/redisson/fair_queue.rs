//! The queue of a `RFairLock`: a list of the waiters, and until when the place of each is kept.

use super::RedissonLock;
use super::waits::Waits;
use crate::clients::redis::Script;

/// Step 1 a: the first in the queue, if its time is over by the clock of the caller, is out.
const DROP_STALE: &str = "\
while true do
  local first = redis.call('LINDEX', queue, 0)
  local deadline = first and redis.call('ZSCORE', deadlines, first)
  if not deadline or tonumber(deadline) > tonumber(now) then
    break
  end
  redis.call('LPOP', queue)
  redis.call('ZREM', deadlines, first)
end
";

/// Steps 1 b and 1 c.
const ENTER: &str = "\
local first = redis.call('LINDEX', queue, 0)
if redis.call('EXISTS', KEYS[1]) == 0 and (not first or first == me) then
  redis.call('LPOP', queue)
  redis.call('ZREM', deadlines, me)
  for _, other in ipairs(redis.call('ZRANGE', deadlines, 0, -1)) do
    redis.call('ZINCRBY', deadlines, -ARGV[4], other)
  end
  redis.call('HSET', KEYS[1], me, 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return nil
end
if redis.call('HEXISTS', KEYS[1], me) == 1 then
  redis.call('HINCRBY', KEYS[1], me, 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return nil
end
";

/// Step 1 d.
const JOIN: &str = "\
local ttl = redis.call('PTTL', KEYS[1])
if redis.call('ZSCORE', deadlines, me) then
  return math.max(0, ttl)
end
local last = redis.call('LINDEX', queue, -1)
if last and last ~= me then
  ttl = redis.call('ZSCORE', deadlines, last) - now
end
if redis.call('ZADD', deadlines, ttl + ARGV[4] + now, me) == 1 then
  redis.call('RPUSH', queue, me)
end
return ttl";

/// Step 5.
const UNLOCK: &str = "\
local there = redis.call('EXISTS', KEYS[1]) == 1
if there and redis.call('HEXISTS', KEYS[1], me) == 0 then
  return nil
end
if there and redis.call('HINCRBY', KEYS[1], me, -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  redis.call('SET', KEYS[3], 0, 'PX', ARGV[3])
  return 0
end
redis.call('DEL', KEYS[1])
local first = redis.call('LINDEX', queue, 0)
if first then
  redis.call('PUBLISH', KEYS[2] .. ':' .. first, 'unlock')
end
redis.call('SET', KEYS[3], 1, 'PX', ARGV[3])
return 1";

/// Step 3 a.
const ACQUIRE_FAILED: &str = "\
local behind = false
for _, waiter in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if behind then
    redis.call('ZINCRBY', KEYS[2], -ARGV[2], waiter)
  end
  behind = behind or waiter == ARGV[1]
end
redis.call('LREM', KEYS[1], 0, ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])";

/// The keys of a queue, and the scripts that know of it.
#[derive(Clone)]
pub struct FairQueue {
    /// The list of those who wait, and until when the place of each is kept.
    pub names: [String; 2],
    /// Step 1 of a caller that does not wait, and so joins no queue.
    pub try_lock_once: Script,
    /// Whether a caller that gives up leaves its place behind.
    pub keeps_place: bool,
    /// Whether a wait in seconds is handed on as so many milliseconds.
    pub wait_in_seconds: bool,
    acquire_failed: Script,
}

impl FairQueue {
    /// The queue of the lock with this key.
    pub fn of(key: &str) -> Self {
        let named = |what: &str| format!("redisson_lock_{what}:{{{key}}}");
        let enter = [BEGIN_TRY_LOCK, DROP_STALE, ENTER].concat();
        Self {
            names: [named("queue"), named("timeout")],
            try_lock_once: Script::new(&(enter + "return 1")),
            keeps_place: false,
            wait_in_seconds: false,
            acquire_failed: Script::new(ACQUIRE_FAILED),
        }
    }

    /// Those that take the lock and give it back.
    pub fn scripts(&self) -> (Script, Script) {
        let try_lock = [BEGIN_TRY_LOCK, DROP_STALE, ENTER, JOIN].concat();
        let unlock = [BEGIN_UNLOCK, DROP_STALE, UNLOCK].concat();
        (Script::new(&try_lock), Script::new(&unlock))
    }
}

/// What the parts of a script that takes the lock go by.
const BEGIN_TRY_LOCK: &str =
    "local queue, deadlines, me, now = KEYS[2], KEYS[3], ARGV[2], ARGV[3]\n";

/// The same of one that gives it back, which counts once, however often it is sent.
const BEGIN_UNLOCK: &str = "\
local queue, deadlines, me, now = KEYS[4], KEYS[5], ARGV[2], ARGV[4]
local done = redis.call('GET', KEYS[3])
if done then
  return tonumber(done)
end
";

impl RedissonLock {
    /// Where a waiter is told that the lock is free: each has a channel of its own in a queue.
    pub(super) fn channel_to_wait_at(&self) -> String {
        match &self.queue {
            Some(_) => format!("{}:{}", self.channel_name, self.lock_name),
            None => self.channel_name.clone(),
        }
    }

    /// Step 3 a: a caller that gives up, for whatever reason, leaves the queue, and does not look whether it has.
    pub(super) async fn acquire_failed(&self, waits: Waits) {
        let Some(queue) = self.queue.as_ref().filter(|queue| !queue.keeps_place) else {
            return;
        };
        let [places, deadlines] = &queue.names;
        let waited = waits.in_queue().as_millis().to_string();
        let (keys, args) = ([&**places, &**deadlines], [&*self.lock_name, &*waited]);
        let _left = self
            .eval_write_synced(&queue.acquire_failed, &keys, &args)
            .await;
    }
}
