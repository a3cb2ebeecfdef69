//! What happens to a lock of Curator, or of kazoo, when something breaks, against what was measured with real ones on
//! ZooKeeper 3.8.0.

mod killed_servers;
mod lost_create_reply;
mod paused_holder;
mod world;
