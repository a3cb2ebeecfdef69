//! The client handles that recipes speak to, one per service.

pub mod completion;
pub mod curator;
pub mod redis;
mod request_kind;
pub mod zookeeper;

pub use request_kind::{RequestKind, ServiceKind};
