//! Redis: the client handle, and what a deployment is. The server is `picklock-redis`.

pub mod client;
mod connection;
mod in_flight;
mod pending;
mod subscriptions;
