//! `go_zookeeper_lock_events`, except that a lost connection does not end the section, but only `StateExpired` does.
//! Must be caught by `zookeeper/go-session-renewed`.

use super::go_zookeeper_lock_events::{Listens, WithEvents};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "go-zookeeper-lock-expired-only",
    summary: "go-zookeeper's Lock whose holder waits for StateExpired.",
    source: "go-zookeeper/zk 1.0, conn.go: authenticate",
    flaw: Some(
        "StateExpired comes when there is a server again to say so: long after the session was given up",
    ),
    build: Build::ZooKeeper(&|zk, env, path| {
        let listens = Listens::ToExpirations;
        Box::new(WithEvents::new(zk, &env, path, listens))
    }),
    ..super::go_zookeeper_lock_events::RECIPE
};
