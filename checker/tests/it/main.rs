//! All integration tests of this crate, in one program.

mod all_or_none;
mod barrier;
mod brute_force;
mod histories;
mod plain;
