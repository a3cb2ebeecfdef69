//! Scenario files, the runner, and the seeds.

pub mod herd;
