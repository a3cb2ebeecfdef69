//! What the state machines of every service are built on: chance that is asked, ids, and containers.

mod chance;
pub mod collections;
mod ids;
mod machine;

pub use chance::{Boring, Chance, Link, Message};
pub use ids::{ConnectionId, ServerId};
pub use machine::{Alarm, Machine, Now};
