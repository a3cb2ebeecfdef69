//! Differential testing of the simulated services: the same steps, scripted and random, are performed on a simulated
//! service, which is the system under test, and on a real one, which is the reference. Every answer must be the same.
//!
//! [`harness`] is what all comparisons share; [`zookeeper`], [`redis`], and [`etcd`] each have a model backend and a
//! real one.

pub mod etcd;
pub mod harness;
pub mod memcached;
pub mod redis;
pub mod sql;
pub mod zookeeper;

pub use harness::error::VerifyError;
