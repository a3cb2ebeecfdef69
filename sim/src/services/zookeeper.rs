//! ZooKeeper in the world: an ensemble, its clients, and what they say to each other.

mod beliefs;
mod callers;
mod client_requests;
mod clients;
mod event;
mod event_threads;
mod faults;
mod for_good;
mod handle;
mod isro_probe;
mod list_too_long;
mod message_size;
mod operator;
mod ownership_events;
mod quorum_links;
mod resolve;
mod server_faults;
mod servers;
mod service;
mod service_events;
mod session_events;
mod setup;
mod waiting;
mod watch_delivery;

use std::collections::BTreeMap;

use picklock_checker::{ContenderId, VirtualTime};
use picklock_clients::zookeeper::SessionId;

use crate::plan::Ensemble;
pub(crate) use event::ZooKeeperEvent;

/// The locks' own nodes lie below this one.
const LOCKS_PATH: &str = "/locks";
/// What bystanders read.
const BYSTANDER_PATH: &str = "/elsewhere";

/// An ensemble and its clients as the world sees them.
pub(crate) struct SimulatedZooKeeper {
    ensemble: Ensemble,
    pace: servers::ServiceTimes,
    /// The contenders' sessions; of one that tasks share, the one that began it.
    sessions: BTreeMap<SessionId, ContenderId>,
    /// Of handles that tasks share, which task has asked what.
    callers: callers::Callers,
    /// The zxid of the last transaction that was seen to be committed.
    last_commit: u64,
    /// Whether clients still ask in vain for a list that is too long.
    list_retries: list_too_long::ListRetries,
    pending_loss_news: beliefs::PendingLossNews,
}

/// What is kept of a server beside its machine.
#[derive(Default)]
pub(crate) struct ServerState {
    /// When it has died so far.
    deaths: Vec<VirtualTime>,
    lag: u64,
    lag_until: VirtualTime,
}
