//! Searches: where to aim, and how soon something is found.

pub mod aim;
pub(crate) mod fits;
pub mod hunt;
mod roles;
pub mod yields;
