//! Searches: where to aim, and how soon something is found.

pub mod aim;
mod fits;
pub mod hunt;
pub mod yields;
