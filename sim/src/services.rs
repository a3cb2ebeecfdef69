//! The services, each behind the door that the world has for them: one adapter a service.
//!
//! A service is a crate of state machines (`sim/services/NAME`), and what lets them live in the world: it sends their
//! messages, wakes them, breaks them, and says who owns the lock. The door is
//! [`SimulatedService`](crate::world::SimulatedService).

pub(crate) mod lease_server;
pub(crate) mod redis;
pub(crate) mod zookeeper;
