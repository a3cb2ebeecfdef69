//! [`sidekiq_unique_jobs`](super::sidekiq_unique_jobs) before 7.0.5: its reaper looks for `NAME:RUN` in tables that
//! list jobs by `NAME`, and takes the lock of each job that has run for long for an orphan.

use super::sidekiq_unique_jobs::{self as sound, Reaper, UniqueJob};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "sidekiq-unique-jobs-run-names",
    summary: "sidekiq-unique-jobs, whose reaper compares names of locks with names of jobs as they are.",
    source: "sidekiq-unique-jobs 7.0.4, RubyReaper#active?; issue 580",
    flaw: Some(
        "the reaper compares `NAME:RUN` with `NAME`, and takes locks of running jobs for orphans",
    ),
    build: Build::Redis(&|redis, env, lease| {
        let reaper = Reaper {
            strips_run: false,
            looks_at_young: true,
        };
        Box::new(UniqueJob::new(redis, env, lease, reaper))
    }),
    ..sound::RECIPE
};
