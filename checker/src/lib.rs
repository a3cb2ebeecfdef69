//! Histories in, verdicts out.
//!
//! A [`History`] is what happened in one run; an `Invariant` is a promise about it and a
//! pure function that tells whether it was kept. Nothing here runs anything, draws anything, or reads a clock.

pub mod history;
pub mod outcome;
pub mod run;
pub mod time;
pub mod verdict;

pub use history::{
    ContenderId, Disowned, Ended, Event, Failure, FaultId, History, LockId, NameId, Token, What,
};
pub use run::{Counts, Facts, Run};
pub use time::VirtualTime;
pub use verdict::{Step, Verdict, Witness};
