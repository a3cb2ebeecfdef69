//! What happens to a lock of Curator, or of kazoo, when something breaks, and what a release costs, against what was
//! measured with real ones on ZooKeeper 3.8.0.

mod killed_servers;
mod lost_create_reply;
mod one_release;
mod paused_holder;
mod world;
