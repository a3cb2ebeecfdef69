//! `resque_scheduler_lock`, except that a script that the server has forgotten is not loaded again. Must be caught by
//! `redis/scripts-forgotten`.

use super::resque_scheduler_lock::{self, Resilient};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "resque-scheduler-lock-not-reloaded",
    summary: "resque-scheduler's resilient lock that calls its scripts by their hash alone.",
    source: "resque-scheduler 4.3.0, Lock::Resilient",
    flaw: Some("a server that was restarted refuses each call for good"),
    build: Build::Redis(&|redis, env, lease| Box::new(Resilient::new(redis, env, lease, false))),
    ..resque_scheduler_lock::RECIPE
};
