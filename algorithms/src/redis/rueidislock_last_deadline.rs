//! `rueidislock`, except that a renewal asks for the last deadline and an interval. Must be caught by
//! `redis/renewal-adds-to-deadline`.

use super::rueidislock::{self, Deadline, RueidisLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "rueidislock-last-deadline",
    summary: "rueidislock whose renewals move the last deadline by the interval.",
    source: "rueidis before 1.0.70, rueidislock",
    flaw: Some(
        "what each renewal takes is lost of the validity, until the key is over between two of them",
    ),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RueidisLock::new(redis, env, lease, Deadline::FromLast))
    }),
    ..rueidislock::RECIPE
};
