//! [`sidekiq_unique_jobs`](super::sidekiq_unique_jobs) from 7.0.5 to 8.0.9: its reaper also looks at locks that are
//! younger than a heartbeat, whose jobs no table lists yet.

use super::sidekiq_unique_jobs::{self as sound, Reaper, UniqueJob};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "sidekiq-unique-jobs-young-locks",
    summary: "sidekiq-unique-jobs, whose reaper looks at locks as soon as they are taken.",
    source: "sidekiq-unique-jobs 7.0.5, RubyReaper#orphans; issues 559 and 830",
    flaw: Some("the reaper takes a lock for an orphan whose job no process has listed yet"),
    build: Build::Redis(&|redis, env, lease| {
        let reaper = Reaper {
            looks_at_young: true,
            ..Reaper::SOUND
        };
        Box::new(UniqueJob::new(redis, env, lease, reaper))
    }),
    ..sound::RECIPE
};
