//! The simulated world: engine, services, network, faults.
//!
//! [`simulate`] runs a [`Plan`](plan::Plan) with the choices of a seed, and answers the history
//! of what happened. Nothing in here reads a clock, draws a number of its own, or starts a thread.

pub mod bare;
pub mod broken;
mod budget;
mod bystander;
pub mod choice_source;
mod clock;
mod collections;
mod contender;
pub mod engine;
mod event;
pub mod latency_samples;
mod link_ids;
pub mod network;
mod operator;
mod ownership;
pub mod plan;
pub mod process;
mod recorder;
pub mod redis;
pub mod resource;
mod simulated_handles;
pub mod simulation;
pub mod watch;
mod world;
pub mod zookeeper;

pub use recorder::RollingHash;
pub use simulation::{Simulated, simulate, simulate_seen, simulate_with};
pub use world::SeenMoment;
