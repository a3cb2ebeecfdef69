//! Regions in which servers, contenders, and the resource lie, and how far they are from each other.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{ContenderName, ServerName};

/// One-way latency: from, to (both inclusive).
type Range = (Duration, Duration);

/// A region and its machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Its name.
    pub name: String,
    /// Servers, observers, and Sentinels, each by the name of its machine.
    pub servers: Vec<ServerName>,
    /// Contenders.
    pub contenders: Vec<ContenderName>,
    /// Whether the resource lies there.
    pub resource: bool,
}

impl Region {
    /// Whether the region is empty.
    pub fn is_deserted(&self) -> bool {
        self.servers.is_empty() && self.contenders.is_empty() && !self.resource
    }
}

/// Regions, and the latencies between them. A machine in no region is as far from all others as the network says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Regions {
    /// In the order of the file.
    pub all: Vec<Region>,
    /// Between two regions, the name that comes first in the alphabet first; or within one, under its name twice. Who
    /// lie in one region of which nothing is said are as far from each other as the network says otherwise.
    pub between: BTreeMap<(String, String), Range>,
}

impl Regions {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Two regions, as `between` has them.
    pub fn pair(one: &str, other: &str) -> (String, String) {
        let (first, second) = (one.min(other), one.max(other));
        (first.to_owned(), second.to_owned())
    }

    /// Keeps these contenders, by their new names, and these machines; deserted regions go.
    pub fn keep(
        &mut self,
        contender: &dyn Fn(ContenderName) -> Option<ContenderName>,
        machine: &dyn Fn(ServerName) -> bool,
    ) {
        for region in &mut self.all {
            let staying = region.contenders.iter().copied().filter_map(contender);
            region.contenders = staying.collect();
            region.servers.retain(|name| machine(*name));
        }
        self.all.retain(|region| !region.is_deserted());
        let there = |name: &String| self.all.iter().any(|region| region.name == *name);
        self.between
            .retain(|(one, other), _| there(one) && there(other));
        if self.between.is_empty() {
            self.all.clear();
        }
    }

    /// The longest latency that any two regions have, or that there is within one.
    pub fn latency_at_most(&self) -> Duration {
        let longest = self.between.values().map(|(_, most)| *most);
        longest.max().unwrap_or_default()
    }
}
