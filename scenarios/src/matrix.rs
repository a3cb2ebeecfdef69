//! The lock matrix: each algorithm under each class of faults.
//!
//! A class has a scenario, `matrix/CLASS`, that no file holds: a case for each algorithm, in the world that the swarm
//! of the library draws for it, with faults of this class and of no other. So a cell is a case of many seeds, and every
//! command that takes a scenario, a case, and a seed shows a run of it: `replay`, `why`, `shrink`, `plan`.

mod measure;
mod word;
mod worlds;

pub use measure::{Cell, Finding, Standing, measure};
pub use word::Word;
pub use worlds::{case, list, names, scenario, scenarios, swarms};

/// The group of the scenarios of the matrix.
pub const GROUP: &str = "matrix";

#[cfg(test)]
mod tests;
