//! `compare_and_delete`, except that a `SET` that was not answered counts as one that was refused. Must be caught by
//! `incidents/simstudio-6864`.

use super::unanswered_set::{Unanswered, UnansweredSet};
use crate::clients::RequestKind;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-error-is-refusal",
    summary: "SET NX PX with a token and a deadline, but no answer counts as a refusal.",
    source: "simstudioai/sim #6864: acquireLock before it",
    flaw: Some("an unanswered SET may have taken the lock, and the lock is not given back"),
    requests: &[RequestKind::Set, RequestKind::Script],
    build: Build::Redis(&|redis, env, lease| {
        Box::new(UnansweredSet::new(redis, env, lease, Unanswered::Refused))
    }),
    ..super::compare_and_delete::RECIPE
};
