//! The simulated world: engine, services, network, faults.

pub mod chance;
pub mod plan;
pub mod zookeeper;
