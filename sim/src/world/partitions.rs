//! What is in the way between clients and servers: obstacles on the link of one client, and partitions, which leave
//! some clients on each side.

use picklock_checker::VirtualTime;

use super::SimulatedService;
use super::World;
use crate::network::{ClientLink, Latency, Obstacle, ServerId};
use crate::plan::{ContenderName, ServerName};
use crate::process::ProcessId;
use picklock_machines::{Link, Message};

/// Some servers and processes that reach each other, and for a while no others.
pub(crate) struct Partition {
    servers: Vec<ServerId>,
    processes: Vec<ProcessId>,
    pub until: VirtualTime,
}

impl Partition {
    /// Whether a client and a server are on different sides.
    pub(crate) fn parts(&self, process: ProcessId, server: ServerId) -> bool {
        let inside = self.processes.contains(&process);
        inside != self.servers.contains(&server)
    }
}

impl<S: SimulatedService> World<S> {
    /// The network falls into two parts.
    pub(crate) fn partition(
        &mut self,
        servers: &[ServerName],
        contenders: &[ContenderName],
        until: VirtualTime,
    ) {
        let named = servers.iter().filter_map(|name| S::server(self, *name));
        let inside: Vec<ServerId> = named.collect();
        let machines = (0..self.plan.service.machines()).map(ServerId);
        for outside in machines.filter(|machine| !inside.contains(machine)) {
            for server in &inside {
                self.hold_link(*server, outside, until);
                self.hold_link(outside, *server, until);
            }
        }
        self.links_clear = false;
        let named = contenders.iter();
        let processes = named.map(|name| self.process_named(*name)).collect();
        self.partitions.push(Partition {
            servers: inside,
            processes,
            until,
        });
    }

    /// What is in the way between a process and a server, one way; `None` if nothing is.
    pub(crate) fn obstacle_between(
        &self,
        (process, server): (ProcessId, ServerId),
        way: impl Fn(&ClientLink) -> Obstacle,
    ) -> Option<Obstacle> {
        if self.links_clear {
            return None;
        }
        let link = self.client_links.get(&process);
        let mut obstacle = link.map(way);
        for partition in &self.partitions {
            if partition.parts(process, server) {
                obstacle.get_or_insert_default().hold(partition.until);
            }
        }
        obstacle
    }

    /// When a message between a process and a server that leaves at `departs` by the link of this number gets through.
    #[inline]
    pub(crate) fn travels(
        &mut self,
        latency: Latency,
        link: Link,
        obstacle: Option<Obstacle>,
        departs: VirtualTime,
        extra: u64,
    ) -> VirtualTime {
        let latency = latency.draw_of(Message { link, departs }, &mut self.tape) + extra;
        match obstacle {
            None => VirtualTime::from_micros(departs.micros() + latency),
            Some(obstacle) => obstacle.arrival(departs, latency),
        }
    }
}
