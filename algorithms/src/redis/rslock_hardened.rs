//! `rslock`, except that an extension without a majority deletes nothing, an acquisition that came too late is given
//! back, and the holder is told when the validity is over.

use super::rslock::{self, Rslock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "rslock-hardened",
    summary: "rslock whose extension deletes nothing, and whose holder is told when the validity is over.",
    source: "rslock 0.7.3, src/lock.rs, hardened",
    flaw: None,
    build: Build::Redis(&|redis, env, lease| Box::new(Rslock::new(redis, env, lease).hardened())),
    ..rslock::RECIPE
};
