//! [`bullmq_worker`](super::bullmq_worker) as Bull was before 3.22.11: `close()` clears all timers, and then waits for
//! jobs whose locks no timer renews any more.

use super::bullmq_worker::{self as sound, Close, Worker};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "bull-queue-timers-first",
    summary: "Bull's queue, whose close stops the renewal of locks before its jobs have ended.",
    source: "Bull 3.22.10, Queue#close; issues 1415 and 1615",
    flaw: Some("a queue that closes stops renewing first, and waits for its jobs then"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(Worker::new(redis, env, lease, Close::ClearsTimersFirst))
    }),
    ..sound::RECIPE
};
