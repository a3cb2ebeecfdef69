//! The slot map, as `CLUSTER SLOTS` reports it.

use std::collections::BTreeMap;

use picklock_clients::redis::Value;

use super::super::primary_discovery::address;
use crate::Address;

/// Which nodes serve which slots.
#[derive(Debug, Default)]
pub(super) struct Map {
    /// By the first slot of each run: the last one, and its nodes, the primary first.
    runs: BTreeMap<u16, (u16, Vec<Address>)>,
    /// What single redirections have said since.
    corrections: BTreeMap<u16, Address>,
}

/// What a node has to say to a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// The answer.
    Answer,
    /// Another node serves the slot from now on.
    Moved(u16, Address),
    /// Another node has the key, although the slot is not its yet.
    Ask(Address),
    /// No node can do it at the moment.
    NotNow,
}

impl Map {
    /// The answer to `CLUSTER SLOTS`; `None` if it is none, or if no node serves any slot.
    pub fn from_cluster_slots(value: &Value) -> Option<Self> {
        let mut runs = BTreeMap::new();
        for row in value.values()? {
            let [first, last, nodes @ ..] = row.values()? else {
                return None;
            };
            let slot = |value: &Value| u16::try_from(value.integer()?).ok();
            let nodes: Vec<Address> = nodes.iter().map(address).collect::<Option<_>>()?;
            if nodes.is_empty() {
                return None;
            }
            runs.insert(slot(first)?, (slot(last)?, nodes));
        }
        let corrections = BTreeMap::new();
        (!runs.is_empty()).then_some(Self { runs, corrections })
    }

    /// The nodes of a slot: the primary that was named last alone, or the primary and then its replicas.
    pub fn nodes(&self, slot: u16) -> &[Address] {
        if let Some(corrected) = self.corrections.get(&slot) {
            return std::slice::from_ref(corrected);
        }
        match self.runs.range(..=slot).next_back() {
            Some((_, (last, nodes))) if slot <= *last => nodes,
            _ => &[],
        }
    }

    /// The primary that serves a slot.
    pub fn owner(&self, slot: u16) -> Option<Address> {
        self.nodes(slot).first().cloned()
    }

    /// A node that serves a slot.
    pub fn any_node(&self) -> Option<Address> {
        let (_, nodes) = self.runs.values().next()?;
        nodes.first().cloned()
    }

    /// A redirection says who serves a slot.
    pub fn correct(&mut self, slot: u16, owner: Address) {
        self.corrections.insert(slot, owner);
    }
}

/// What an answer means to the client library.
pub(super) fn read(value: &Value) -> Reply {
    let Value::Error(error) = value else {
        return Reply::Answer;
    };
    let mut words = error.text().split(' ').skip(1);
    let mut elsewhere = || {
        let slot = words.next()?.parse().ok()?;
        let (host, port) = words.next()?.rsplit_once(':')?;
        let (host, port) = (host.into(), port.parse().ok()?);
        Some((slot, Address { host, port }))
    };
    match error.code() {
        "MOVED" => elsewhere().map_or(Reply::Answer, |(slot, to)| Reply::Moved(slot, to)),
        "ASK" => elsewhere().map_or(Reply::Answer, |(_, to)| Reply::Ask(to)),
        "CLUSTERDOWN" | "TRYAGAIN" | "MASTERDOWN" => Reply::NotNow,
        _ => Reply::Answer,
    }
}
