//! Searches: where to aim, and how soon something is found.

pub mod aim;
mod blow;
pub mod candidate;
mod chains;
mod failovers;
pub(crate) mod fits;
mod follow;
pub mod hunt;
mod lesson;
pub(crate) mod moment_class;
mod nearer;
mod parts;
pub mod portfolio;
pub(crate) mod roles;
mod scouts;
mod spans;
mod strikes;
pub mod throughput;
mod variant;
pub mod yields;

#[cfg(test)]
pub(crate) mod knowledge;
#[cfg(test)]
mod tests;
