//! The simulated world: engine, services, network, faults.
