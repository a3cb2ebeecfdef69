//! Recipes over the lease server.

pub mod lease_lock;
pub mod lease_lock_by_pid;
pub mod lease_lock_from_answer;
pub mod lease_lock_unchecked;
