//! Deterministic simulation and verification of distributed locks.
pub use picklock_algorithms as algorithms;
pub use picklock_checker as checker;
pub use picklock_reports as reports;
pub use picklock_scenarios as scenarios;
pub use picklock_sim as sim;
/// x
pub mod sources;
