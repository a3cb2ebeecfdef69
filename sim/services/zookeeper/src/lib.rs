//! ZooKeeper: an ensemble of servers, and the client handle.
//!
//! Both are sans-IO state machines: they are told what arrived and what time it is, and answer with what is to be
//! sent. The simulated world moves their messages, and breaks them.

mod acl;
pub mod client;
pub mod client_profile;
mod clients;
mod commit_processor;
mod election;
mod follower;
mod input_output;
pub mod inspection;
mod leader;
mod learner_sync;
mod log;
mod machine;
mod message_text;
pub mod messages;
pub mod node;
mod paths;
mod persistent_watches;
mod prep_request_processor;
mod proposals;
pub mod quorum_messages;
mod quorum_text;
mod quota;
mod read_only;
mod reads;
mod request_dispatch;
mod session_tracker;
pub mod settings;
pub mod state;
#[cfg(any(test, feature = "testkit"))]
pub mod test_ensemble;
mod throttle;
pub mod tree;
pub mod txn;
pub mod version;
mod watches;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
