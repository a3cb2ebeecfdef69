//! Runs that a hunt has found: they break a promise, or break off.

use picklock_checker::Broken;
use picklock_sim::Simulated;

use super::cause::Cause;
use super::portfolio::SearchStrategy;
use crate::scenario::Case;

/// A run that breaks a promise.
pub struct Counterexample {
    /// The promise.
    pub invariant: &'static str,
    /// The case with the plan that ran, and without what no lock can keep under it.
    pub case: Case,
    /// What chance decided.
    pub choices: Vec<u32>,
    /// How many runs it took to find.
    pub after: u64,
    /// How it was found.
    pub way: SearchStrategy,
    /// How it breaks the promise.
    pub cause: Cause,
    /// How many other runs break it alike.
    pub more: u64,
}

/// A run that broke off.
pub struct BrokenRun {
    /// The case with the plan that ran.
    pub case: Case,
    /// The seed that filled the tape.
    pub seed: u64,
    /// The run.
    pub simulated: Simulated,
    /// Why it broke off.
    pub why: Broken,
    /// How many runs it took to find.
    pub after: u64,
    /// How it was found.
    pub way: SearchStrategy,
    /// How many runs broke off, this one included.
    pub runs: u64,
}
