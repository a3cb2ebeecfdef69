//! The engine: a timeline of events, an executor for the contenders' code, and one tape of choices.

pub mod executor;
pub mod sandbox;
pub mod strategy;
pub mod tape;
pub mod timeline;
mod uniform;
mod wakers;

pub use executor::{Executor, TaskId};
pub use strategy::Strategy;
pub use tape::Tape;
pub use timeline::Timeline;
