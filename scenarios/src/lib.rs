//! Scenario files, the runner, and the seeds.
//!
//! A scenario file says what is claimed about a lock, why, in which world, and what breaks there.
//! [`load()`] reads a file or a folder, [`parse`] a text, and [`write()`] spells a case out as a file
//! again. Every mistake in a file is a [`Diagnostic`] that points at the place. The [`runner`] runs cases.

pub mod bench;
pub mod case_statistics;
mod causal_history;
pub mod clock;
pub mod compare;
pub mod cost;
pub mod coverage;
pub mod describe;
pub mod diagnostic;
mod digest;
pub mod envelope;
mod event_budget;
pub mod excuses;
mod fault_fields;
pub mod format;
pub mod generate;
pub mod herd;
pub mod keys;
pub mod library;
mod listed;
pub mod load;
pub mod matrix;
mod nearest;
pub mod program;
mod reduced_plan;
pub mod replay_command;
pub mod runner;
pub mod sampled_parameters;
pub mod scenario;
pub mod search;
pub mod services;
pub mod shard;
pub mod shard_file;
pub mod shrink;
pub mod units;
pub mod warnings;
pub mod why;
mod why_never_fired;
mod write;

pub use diagnostic::{Diagnostic, SourceLocation};
pub use format::parse;
pub use library::BUILT_IN;
pub use load::load;
pub use nearest::{nearest, nearest_few, what_there_is};
pub use scenario::{
    Case, Catalogue, Expectation, Measure, Recorded, RecordedRun, SavedPlan, Scenario, Want,
};
pub use write::write;
