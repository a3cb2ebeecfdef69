//! What the state machines of every service are built on: chance that is asked, ids, and containers.

mod chance;
pub mod collections;
mod ids;

pub use chance::{Boring, Chance, Link, Message};
pub use ids::{ConnectionId, ServerId};
