//! How servers and agents are set.

use std::time::Duration;

use picklock_machines::ServerId;

/// The shortest and the longest time to live of a session.
pub(crate) const TTL: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(86_400)];
/// How many times its time to live a session lives without a renewal.
pub(crate) const TTL_MULTIPLIER: u32 = 2;
/// How long a call waits for a leader (`rpc_hold_timeout`).
pub(crate) const RPC_HOLD_TIMEOUT: Duration = Duration::from_secs(7);
/// How long a blocking query waits if it says nothing, and at most.
pub(crate) const WAIT_TIME: [Duration; 2] = [Duration::from_secs(300), Duration::from_secs(600)];
/// One part of so many comes on top of the wait of a blocking query, at most.
pub(crate) const JITTER_FRACTION: u32 = 16;

/// The settings of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How many servers there are.
    pub servers: u8,
    /// What the time-outs of raft are multiplied by (`raft_multiplier`): of a second for a heartbeat and an election.
    pub raft_multiplier: u32,
}

impl Settings {
    /// How long a follower hears nothing of a leader before it wants to be one, at least; at most twice as long.
    pub(crate) fn heartbeat_timeout(self) -> Duration {
        Duration::from_secs(1) * self.raft_multiplier
    }

    /// For how long a leader that hears nothing of a majority goes on.
    pub(crate) fn leader_lease_timeout(self) -> Duration {
        self.heartbeat_timeout() / 2
    }

    /// How many servers are a majority.
    pub(crate) fn quorum(self) -> usize {
        usize::from(self.servers) / 2 + 1
    }
}

/// The settings of a client's agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSettings {
    /// The servers, in the order in which they are tried.
    pub servers: Vec<ServerId>,
    /// How long it waits for the answer to a call (`rpc_client_timeout`); for that to a blocking query, as long as that
    /// may wait, too.
    pub rpc_client_timeout: Duration,
}
