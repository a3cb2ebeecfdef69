//! Redisson's `RFairLock`: `RLock` with a queue, in which the place of each waiter is kept for a while.
//!
//! # Source
//!
//! Redisson 4.7, `RedissonFairLock`.
//!
//! # Steps
//!
//! Those of [`redisson`](super::redisson), but for these:
//!
//! 1. A script, in which the time is that of the caller's wall clock:
//!    - a. As long as the time of the first in the queue is over, it is out.
//!    - b. If the key is missing, and the queue is empty or the caller first in it: leave the queue, take off the time
//!      for which we wait from the deadline of all in it, count one, and set the lease.
//!    - c. If the key has our field, count one up, and set the lease.
//!    - d. Otherwise, if we are in the queue, answer what is left of the lease, or zero if there is none. If not, join
//!      it, with a deadline as long after that of the last one, or after the end of the lease, as we wait, for five
//!      minutes if we wait for ever, and answer how long it is until then. A caller that does not wait joins no queue.
//! 2. Each waiter has a channel of its own.
//! 3. As there. But:
//!    - a. A waiter that gives up leaves the queue, and takes off the time for which it wanted to wait from the
//!      deadlines of those behind it.
//! 5. As there, after step 1 a; but a message is for the first in the queue alone, and if the key is missing, it is
//!    sent as well, and the release is done.
//!
//! # Guarantees
//!
//! - Waiters get the lock in the order in which they came, as long as clocks agree and none of them dies (scenario
//!   `redis/fair-lock-order`).
//!
//! # Hazards
//!
//! - Those of [`redisson`](super::redisson).
//! - One that dies in the queue keeps its place for five minutes: when it is the first, the lock is free, and those
//!   behind it ask in a loop and do not get it (scenario `redis/fair-lock-dead-head`).
//! - A client whose clock is fast puts all waiters out of the queue when it asks (scenario
//!   `redis/fair-lock-fast-clock`).
//! - One that joins the queue again, because its place was lost, sleeps until the deadline of the one ahead of it, for
//!   five minutes, unless it is told: if its place is lost once more, no message is for it (scenarios
//!   `redis/fair-lock-lost-place` and `redis/fair-lock-evicted-asleep`).
//! - A release of what has expired succeeds, if the lock is free by then (scenario
//!   `redis/fair-lock-late-release`).

use super::redisson::RedissonLock;
use super::redisson::fair_queue::FairQueue;
use crate::clients::redis::Redis;
use crate::{Build, Env, Lease, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-fair-lock",
    summary: "Redisson's RFairLock: RLock with a queue, in which a place is kept for five minutes.",
    source: "Redisson 4.7, RedissonFairLock",
    build: Build::Redis(&|redis, env, lease| Box::new(fair_lock(redis, env, lease, false))),
    ..super::redisson::RECIPE
};

/// The lock, whose callers leave their places behind when they give up, or not.
pub(super) fn fair_lock(redis: Redis, env: Env, lease: Lease, keeps_place: bool) -> RedissonLock {
    let mut queue = FairQueue::of(&lease.key);
    queue.keeps_place = keeps_place;
    RedissonLock::new(redis, env, lease).fair(queue)
}
