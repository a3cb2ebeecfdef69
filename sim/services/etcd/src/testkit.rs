//! Members on a network that takes a millisecond, and records of what real ones have answered.
//!
//! It is for tests of this crate, and for `picklock verify`, which does the same steps with a real etcd.

pub mod cluster;
mod recorded;
pub mod replay;

/// What an etcd 3.4.23 has answered: lines of JSON, of which each is a `scenario`, which begins with a fresh store, or
/// a step of it.
pub const RECORDS: &str = include_str!("testkit/vectors.jsonl");
