//! What `[service.zookeeper]` says of nodes that go by themselves, and of the lock's own.

use std::time::Duration;

use picklock_sim::plan::{Ensemble, LockNode};

use super::choice::choose;
use super::reader::{Fields, Mistakes, Zero};

/// How a file sets nodes that go by themselves, and the lock's own.
pub(super) struct Nodes {
    /// `extended-types`.
    pub(super) extended_types: bool,
    /// `container-check-interval`.
    pub(super) check_interval: Duration,
    /// `lock-node`.
    pub(super) lock_node: LockNode,
}

impl Nodes {
    /// Reads what the file gives; what it leaves out is as by default.
    pub(super) fn read(fields: &mut Fields, mistakes: &mut Mistakes) -> Self {
        let default = Ensemble::default();
        let extended_types = fields.get("extended-types");
        let extended_types = extended_types.and_then(|item| item.boolean(mistakes));
        let interval = fields.duration("container-check-interval", Zero::Senseless, mistakes);
        let lock_node = fields.get("lock-node").and_then(|item| {
            let chosen = choose(&item, "kind of node", &LockNode::ALL, mistakes)?;
            chosen.bare(mistakes);
            Some(chosen.kind)
        });
        Self {
            extended_types: extended_types.unwrap_or(default.extended_types),
            check_interval: interval.unwrap_or(default.container_check_interval),
            lock_node: lock_node.unwrap_or_default(),
        }
    }
}
