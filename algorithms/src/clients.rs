//! The client handles that recipes speak to, one per service.

pub mod completion;
pub mod curator;
pub mod zookeeper;
