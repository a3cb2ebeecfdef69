//! The simulated world: engine, services, network, faults.
//!
//! [`simulate`] runs a [`Plan`](plan::Plan) with the choices of a seed, and answers the history
//! of what happened. Nothing in here reads a clock, draws a number of its own, or starts a thread.

pub mod broken;
mod budget;
mod bystander;
mod clock;
mod contender;
pub mod engine;
pub mod engine_benches;
mod event;
pub mod latency_samples;
mod link_ids;
pub mod network;
mod ownership;
pub mod plan;
pub mod process;
mod recorder;
pub mod resource;
mod services;
mod simulated_environment;
pub mod simulation;
pub mod trace;
pub mod watchdog;
mod world;

pub use recorder::RollingHash;
pub use simulation::{
    Simulated, simulate, simulate_recorded, simulate_seen, simulate_traced, simulate_with,
};
pub use world::SeenMoment;
