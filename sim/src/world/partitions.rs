//! What is in the way between clients and servers: obstacles on the link of one client, and partitions, which leave
//! some clients on each side.

use picklock_checker::VirtualTime;

use super::World;
use crate::network::{ClientLink, Obstacle};
use crate::plan::{ContenderName, ServerName};
use crate::process::ProcessId;
use crate::zookeeper::messages::ServerId;

/// Some servers and contenders that have each other, and for a while nobody else.
pub(super) struct Partition {
    servers: Vec<ServerId>,
    contenders: Vec<ContenderName>,
    pub(super) until: VirtualTime,
}

impl Partition {
    /// Whether a client and a server are on different sides.
    pub(super) fn parts(&self, process: ProcessId, server: ServerId) -> bool {
        let inside = self.contenders.contains(&ContenderName(process.0));
        inside != self.servers.contains(&server)
    }
}

impl World {
    /// The network falls into two parts.
    pub(super) fn partition(
        &mut self,
        servers: &[ServerName],
        contenders: &[ContenderName],
        until: VirtualTime,
    ) {
        let named = servers.iter().filter_map(|name| self.server(*name));
        let inside: Vec<ServerId> = named.collect();
        let machines = (0..self.plan.service.machines()).map(ServerId);
        for outside in machines.filter(|machine| !inside.contains(machine)) {
            for server in &inside {
                self.hold_link(*server, outside, until);
                self.hold_link(outside, *server, until);
            }
        }
        self.links_clear = false;
        self.partitions.push(Partition {
            servers: inside,
            contenders: contenders.to_vec(),
            until,
        });
    }

    /// What is in the way between a process and a server, one way; `None` if nothing is.
    pub(super) fn in_the_way(
        &self,
        (process, server): (ProcessId, ServerId),
        way: impl Fn(&ClientLink) -> Obstacle,
    ) -> Option<Obstacle> {
        if self.links_clear {
            return None;
        }
        let contender = self.contenders.get(process.0 as usize);
        let mut obstacle = contender.map(|contender| way(&contender.link));
        for partition in &self.partitions {
            if partition.parts(process, server) {
                obstacle.get_or_insert_default().hold(partition.until);
            }
        }
        obstacle
    }
}
