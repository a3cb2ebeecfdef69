//! Sequences that chance would seldom come to: what clients of locks live on, step by step.

mod access;
mod build;
mod data;
mod faults;
mod nodes;
mod quotas;
mod read_only;
mod reconfig;
mod watches;

use crate::zookeeper::step::Step;
use build::Build;

/// A sequence with a name.
pub struct Case {
    /// Its name: what it is about.
    pub name: &'static str,
    /// How many servers it needs at least.
    pub servers: usize,
    /// Its steps, below this node; the first connections are one for each server.
    pub steps: fn(root: &str, first: usize, servers: usize) -> Vec<Step>,
}

/// Sequences for servers as they are.
pub const CASES: &[Case] = &[
    nodes::GRANTED,
    faults::EXPIRY,
    faults::SILENT_EXPIRY,
    faults::LEADER_KILLED,
    faults::FOLLOWER_KILLED,
    faults::NEW_EPOCH,
    faults::RESTARTED,
    nodes::TOO_LONG,
    data::NULL,
    data::WITH_STAT,
    data::COUNTED,
    access::KNOWN_AS,
    reconfig::DISABLED,
    watches::LASTING,
    watches::TAKEN_BACK,
    watches::BROUGHT_ALONG,
    watches::ASKED_FOR,
    watches::SEVERAL,
    watches::EPHEMERALS,
    access::CREATOR,
    access::PERMISSIONS,
    access::DISBELIEVED,
    quotas::QUOTAS,
];

/// Sequences for servers without nodes with a time to live.
pub const BY_DEFAULT: &[Case] = &[nodes::NO_TIME_TO_LIVE];

/// Sequences for servers that look often for nodes that go by themselves, and grant other session timeouts.
pub const REAPING: &[Case] = &[
    nodes::GRANTED,
    nodes::CONTAINERS,
    nodes::TIME_TO_LIVE,
    nodes::PARENTS,
];

/// Sequences for servers that answer reads when they find no leader.
pub const READ_ONLY: &[Case] = &[read_only::LEADER_ALONE, read_only::FOLLOWER_ALONE];

/// Sequences for servers of which the last does not vote.
pub const OBSERVED: &[Case] = &[
    nodes::GRANTED,
    faults::EXPIRY,
    faults::SILENT_EXPIRY,
    faults::LEADER_KILLED,
    faults::FOLLOWER_KILLED,
    faults::NEW_EPOCH,
    watches::BROUGHT_ALONG,
    watches::EPHEMERALS,
];

/// The same, where they answer reads when they find no leader.
pub const OBSERVED_READ_ONLY: &[Case] = &[read_only::OBSERVER_ALONE];
