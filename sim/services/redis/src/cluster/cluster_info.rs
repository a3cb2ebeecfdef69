//! The replies to `CLUSTER INFO`, `CLUSTER SLOTS`, and their like.

use picklock_clients::redis::Value;

use super::{Cluster, NodeId, SLOTS};
use crate::scripts::sha_of;

impl Cluster {
    /// The name of a node: 40 hexadecimal digits.
    pub(crate) fn name(&self, id: NodeId) -> String {
        let address = self.address(id);
        sha_of(format!("{}:{}", address.host, address.port).as_bytes()).to_string()
    }

    /// The node of this name.
    pub(crate) fn named(&self, name: &[u8]) -> Option<NodeId> {
        self.ids().find(|id| self.name(*id).as_bytes() == name)
    }

    /// Whether a node is a primary.
    pub(crate) fn leads(&self, id: NodeId) -> bool {
        self.node(id).primary.is_none()
    }

    /// Whether this node serves a slot.
    pub(crate) fn serves_slot(&self, slot: u16) -> bool {
        self.owner(slot) == Some(self.me)
    }

    /// A slot is on its way to a node.
    pub(crate) fn migrate(&mut self, slot: u16, to: NodeId) {
        self.migrating.insert(slot, to);
    }

    /// A slot is on its way from a node.
    pub(crate) fn import(&mut self, slot: u16, from: NodeId) {
        self.importing.insert(slot, from);
    }

    /// Whether a slot is on its way from here, or to here.
    pub(crate) fn moves(&self, slot: u16) -> bool {
        self.migrating.contains_key(&slot) || self.importing.contains_key(&slot)
    }

    /// A slot stays where it is.
    pub(crate) fn settle(&mut self, slot: u16) {
        self.migrating.remove(&slot);
        self.importing.remove(&slot);
    }

    /// `CLUSTER INFO`, without the statistics of messages.
    pub(crate) fn info(&self) -> String {
        let slots = |which: &dyn Fn(&super::Node) -> bool| {
            let nodes = self.nodes.iter().filter(|node| which(node));
            nodes.map(|node| u32::from(node.slots.len())).sum::<u32>()
        };
        let state = if self.serves { "ok" } else { "fail" };
        let mine = self.node(self.primary().unwrap_or(self.me)).config_epoch;
        let size = self.nodes.iter().filter(|node| node.counts()).count();
        let lines = [
            ("state", state.to_owned()),
            ("slots_assigned", slots(&|_| true).to_string()),
            ("slots_ok", slots(&|node| !node.is_down()).to_string()),
            ("slots_pfail", slots(&|node| node.suspected).to_string()),
            (
                "slots_fail",
                slots(&|node| node.failed.is_some()).to_string(),
            ),
            ("known_nodes", self.nodes.len().to_string()),
            ("size", size.to_string()),
            ("current_epoch", self.epoch.to_string()),
            ("my_epoch", mine.to_string()),
        ];
        let lines = lines.map(|(name, value)| format!("cluster_{name}:{value}\r\n"));
        lines.concat()
    }

    /// `CLUSTER SLOTS`: which primary serves which run of slots, and which replicas of it are alive.
    pub(crate) fn table(&self) -> Value {
        let mut rows: Vec<(u16, u16, NodeId)> = Vec::new();
        for id in self.ids() {
            let ranges = self.node(id).slots.ranges().into_iter();
            rows.extend(ranges.map(|range| (*range.start(), *range.end(), id)));
        }
        rows.sort_unstable_by_key(|(first, _, _)| *first);
        debug_assert!(rows.iter().all(|(_, last, _)| *last < SLOTS));
        let rows = rows.into_iter().map(|(first, last, owner)| {
            let replicas = self.ids().filter(|id| {
                let node = self.node(*id);
                node.primary == Some(owner) && node.failed.is_none()
            });
            let nodes = std::iter::once(owner).chain(replicas);
            let nodes = nodes.map(|id| self.described(id));
            let range = [Value::Integer(first.into()), Value::Integer(last.into())];
            Value::array(range.into_iter().chain(nodes))
        });
        Value::array(rows)
    }

    fn described(&self, id: NodeId) -> Value {
        let address = self.address(id);
        Value::array([
            Value::bulk(&*address.host),
            Value::Integer(address.port.into()),
            Value::bulk(self.name(id)),
            Value::array([]),
        ])
    }
}
