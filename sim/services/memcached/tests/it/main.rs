//! Tests of the machines of memcached and Tair.

mod client;
mod driver;
mod memcached;
mod tair;
