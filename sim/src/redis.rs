//! Redis: the client handle, and what a deployment is. The server is `picklock-redis`.

pub mod client;
mod pending;
mod sent;
mod subscriptions;
mod wire;
