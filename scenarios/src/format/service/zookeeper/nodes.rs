//! What `[service.zookeeper]` says of nodes that go by themselves, and of the lock's own.

use picklock_sim::plan::{Ensemble, LockNode};

use crate::format::choice::choose;
use crate::format::reader::{Fields, Mistakes, Zero};

/// Reads what the file gives of them; all else of the ensemble is as by default.
pub(super) fn read(fields: &mut Fields, mistakes: &mut Mistakes) -> Ensemble {
    let default = Ensemble::default();
    let extended_types = fields.get("extended-types");
    let extended_types = extended_types.and_then(|item| item.boolean(mistakes));
    let interval = fields.duration("container-check-interval", Zero::Senseless, mistakes);
    let lock_node = fields.get("lock-node").and_then(|item| {
        let chosen = choose(&item, "kind of node", &LockNode::ALL, mistakes)?;
        chosen.bare(mistakes);
        Some(chosen.kind)
    });
    Ensemble {
        extended_types: extended_types.unwrap_or(default.extended_types),
        container_check_interval: interval.unwrap_or(default.container_check_interval),
        lock_node: lock_node.unwrap_or_default(),
        ..default
    }
}
