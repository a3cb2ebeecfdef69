//! The slot configuration: a node that claims a slot with a larger epoch gets it.

use std::rc::Rc;

use super::{Cluster, NodeId, SlotSet};
use crate::Output;

impl Cluster {
    /// A primary says that it serves these slots. What it claims by a larger epoch than the one that has it, it gets. A
    /// primary that loses its last slot so, and each of its replicas, follows the winner.
    pub(super) fn claim(&mut self, from: NodeId, config_epoch: u64, slots: &SlotSet) {
        let head = self.primary().unwrap_or(self.me);
        let mut won = (*self.node(from).slots).clone();
        let mut from_head = false;
        for slot in slots.iter() {
            if won.has(slot) || self.importing.contains_key(&slot) {
                continue;
            }
            let owner = self.owner(slot);
            if owner.is_some_and(|owner| self.node(owner).config_epoch >= config_epoch) {
                continue;
            }
            from_head |= owner == Some(head);
            if let Some(owner) = owner {
                Rc::make_mut(&mut self.node_mut(owner).slots).remove(slot);
            }
            won.insert(slot);
        }
        self.node_mut(from).slots = Rc::new(won);
        if from_head && from != self.me && self.node(head).slots.is_empty() {
            self.node_mut(self.me).primary = Some(from);
            self.migrating.clear();
            self.importing.clear();
        }
    }

    /// Another node says that this one is not up to date about a node.
    pub(super) fn apply_newer_config(&mut self, id: NodeId, config_epoch: u64, slots: &SlotSet) {
        if !self.has(id) || self.node(id).config_epoch >= config_epoch {
            return;
        }
        let node = self.node_mut(id);
        node.primary = None;
        node.config_epoch = config_epoch;
        self.claim(id, config_epoch, slots);
    }

    /// This node has been elected: it takes what its primary had.
    pub(super) fn take_over(&mut self) {
        let Some(primary) = self.primary() else {
            return;
        };
        let epoch = self.election.epoch;
        let slots = std::mem::replace(&mut self.node_mut(primary).slots, Rc::new(SlotSet::NONE));
        let mine = self.node_mut(self.me);
        mine.primary = None;
        mine.slots = slots;
        mine.config_epoch = mine.config_epoch.max(epoch);
        self.election = super::Election::default();
    }

    /// Gives a slot to a node (`CLUSTER SETSLOT slot NODE id`). One that takes a slot in takes the next epoch with it,
    /// unless it has the largest, and tells all nodes.
    pub(crate) fn set_slot_owner(&mut self, slot: u16, to: NodeId, out: &mut Vec<Output>) {
        if let Some(owner) = self.owner(slot) {
            Rc::make_mut(&mut self.node_mut(owner).slots).remove(slot);
        }
        Rc::make_mut(&mut self.node_mut(to).slots).insert(slot);
        self.migrating.remove(&slot);
        if to != self.me || self.importing.remove(&slot).is_none() {
            return;
        }
        let largest = self.nodes.iter().map(|node| node.config_epoch);
        let largest = largest.fold(self.epoch, u64::max);
        if self.node(to).config_epoch != largest {
            self.epoch += 1;
            self.node_mut(to).config_epoch = self.epoch;
        }
        self.broadcast_pong(out);
    }
}
