//! Histories in one line, for tests: `history("a:0-10 b:10-20")`.
//!
//! Words are separated by white space; times are in seconds. A name stands for a contender.
//!
//! | word | means |
//! |---|---|
//! | `a:0-10` | a believes from 0 s until it starts its release at 10 s |
//! | `a:0-` | a believes, and no word `a:…` says until when |
//! | `a=0-10` | the service has a as the owner; `a=0-` likewise |
//! | `a*9-12` | a sends a write at 9 s, which arrives at 12 s |
//! | `a*9` | a write that arrives at once; `a*9-` is one that never does |
//! | `a.paused:5` | something else happens to a: see below |
//! | `fault1.fired:5`, `fault1.healed:6` | the plan |
//! | `calm:20`, `end:30`, `bound-reached:30`, `out-of-budget:30` | the run |
//! | `leftover:30`, `final:30/value=7` | what is left |
//!
//! What can happen to a: `acquire`, `failed`, `indefinite` (failed, and may have happened), `cancelled`,
//! `says-cancelled` (its acquire says so, and was not), `reenters` (calls `acquire` again while it holds the lock),
//! `reentered` (that call returns), `entry-left` (it gives that entry back), `asks-to-convert`, `does-not-convert`,
//! `converts` (to that mode, as in `/shared`), `leaves`, `released`, `release-failed`, `release-cancelled`, `lost`,
//! `finished`, `paused`, `resumed`, `crashed`, `restarted`, `disconnected`, `reconnected`, `read-only`, `session-lost`,
//! `session-expired`, `queued`, `unqueued`, `read`, `waiting`, `could-know` (that it has lost the lock, from then on;
//! `/how=told|timed-out|gone|refused|over`); and what the service has answered it: `granted` (by a majority, never all
//! at once), `denied` (by one primary of two), `entries/value=2`, `unanswered` (a release).
//!
//! Options follow a word, each behind a slash: `/on=x` (the lock), `/token=7`, `/name=n1`,
//! `/place=3`, `/how=released|expired|outside|b|over-b` (how an ownership ended; `b` removed it, or
//! overwrote it),
//! `/value=5>6` (a write that found 5 and left 6) or `/value=5` (a read), `/based=4` (a write that
//! had read 4; else what it found), `/blind` (a write that had read nothing), `/rejected`,
//! `/behind=n1`, `/owner=b`, `/shared` (of what is asked for, queued for, owned, or believed in shared mode).
//!
//! Of events at the same time, those that end something come first, then those that ask, then the
//! service's grants, then beliefs, then writes, then the end of the run; else they stand as they
//! are written.

mod read;
mod word;

pub use read::parse;
pub use word::NotationError;

use crate::{Counts, Facts, ForGood, History, Run};

/// The history that the text describes.
///
/// # Panics
///
/// If the text is not in the notation: it stands in a test, where that is a slip of the pen.
pub fn history(text: &str) -> History {
    parse(text).unwrap_or_else(|error| panic!("{error}"))
}

/// A run with that history and the default facts.
///
/// # Panics
///
/// As [`history`].
pub fn run(text: &str) -> Run {
    Run {
        history: history(text),
        facts: Facts::default(),
        counts: Counts::default(),
        lease_resets: Vec::new(),
        late_extensions: Vec::new(),
        for_good: ForGood::default(),
        awaited: Vec::new(),
        permits_left: Vec::new(),
    }
}
