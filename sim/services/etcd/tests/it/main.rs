//! What the machines of etcd do, against what real members have answered, and against references.

mod client;
mod members;
mod store;
mod vectors;
