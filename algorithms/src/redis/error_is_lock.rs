//! `compare_and_delete`, except that the caller goes on when `acquire` has failed, as if it held the lock. Must be
//! caught by `incidents/redbeat-208`.

use super::unanswered_set::{Unanswered, UnansweredSet};
use crate::clients::RequestKind;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-error-is-lock",
    summary: "SET NX PX with a token and a deadline, whose caller goes on when it fails.",
    source: "redbeat #208 and #238: an error in a signal handler of Celery is logged, and beat starts",
    flaw: Some("a contender whose request for the lock fails works as if it held the lock"),
    requests: &[RequestKind::Set, RequestKind::Script],
    build: Build::Redis(&|redis, env, lease| {
        Box::new(UnansweredSet::new(redis, env, lease, Unanswered::Granted))
    }),
    ..super::compare_and_delete::RECIPE
};
