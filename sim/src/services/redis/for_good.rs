//! Whether what is left of Redis can serve, when something is gone for good.

use picklock_clients::RequestKind;

use super::SimulatedRedis;
use crate::network::{ServerId, Side};
use crate::plan::{Cluster, Fault, Sentinels};
use crate::world::World;

/// What a side lacks.
type Lacks = &'static str;

const NO_COPIES: Lacks = "too few replicas are left to hear of a write";
const NO_WRITES: Lacks = "no server that is left takes a write";

impl World<SimulatedRedis> {
    /// Whether a side can serve, whatever else heals; if not, what it lacks.
    pub(super) fn side_can_serve(&self, side: &Side) -> Result<(), Lacks> {
        let deployment = &self.service.deployment;
        if let Some(cluster) = &deployment.cluster {
            return self.can_cluster_serve(cluster, side);
        }
        if deployment.replicas == 0 {
            let servers = side.iter().filter(|server| self.takes_writes(**server));
            return match servers.count() * 2 > usize::from(deployment.servers) {
                true => Ok(()),
                false if deployment.servers == 1 => Err(NO_WRITES),
                false => Err("what is left is no majority"),
            };
        }
        let servers: Side = { side.iter().copied() }
            .filter(|machine| !self.service.is_sentinel(*machine))
            .collect();
        if servers.is_empty() {
            return Err("no server is left");
        }
        self.has_copies(&servers, deployment.min_replicas_to_write.into())?;
        match &deployment.sentinels {
            Some(sentinels) => self.is_led(sentinels, side, &servers),
            None if !servers.contains(&self.service.primary) => {
                Err("no Sentinel makes a replica the primary")
            }
            None if !self.takes_writes(self.service.primary) => Err(NO_WRITES),
            None => Ok(()),
        }
    }

    /// Whether a client that reaches only these finds a server that can serve it.
    pub(super) fn side_serves_client_reaching(&self, reached: &Side) -> bool {
        let deployment = &self.service.deployment;
        if deployment.replicas == 0 && deployment.cluster.is_none() {
            return self.side_can_serve(reached).is_ok();
        }
        let leads = |server: &&ServerId| {
            let slot = self.host.servers.get(usize::from(server.0));
            slot.is_some_and(|slot| slot.machine.is_primary()) && self.takes_writes(**server)
        };
        let asks = deployment.sentinels.is_none()
            || reached
                .iter()
                .any(|machine| self.service.is_sentinel(*machine));
        asks && match &deployment.cluster {
            // Which node has the slot of the lock's key can be another tomorrow.
            Some(cluster) => reached.iter().filter(leads).count() >= usize::from(cluster.primaries),
            None => reached.iter().any(|server| leads(&server)),
        }
    }

    /// Whether there are as many replicas beside a primary as must hear of a write: so many, or the one that a recipe
    /// waits for.
    fn has_copies(&self, servers: &Side, heard: usize) -> Result<(), Lacks> {
        let waits = self.plan.recipe.requests.contains(&RequestKind::Wait);
        let needed = heard.max(waits.into());
        // Where there never were enough, nothing is gone that could be missed.
        let had = self.service.deployment.first_replicas().len() >= needed;
        match had && servers.len() <= needed {
            true => Err(NO_COPIES),
            false => Ok(()),
        }
    }

    /// Whether Sentinels of a side lead clients to a primary, or can make one.
    fn is_led(&self, sentinels: &Sentinels, side: &Side, servers: &Side) -> Result<(), Lacks> {
        let machines = side.iter().filter(|id| self.service.is_sentinel(**id));
        let known: Vec<Option<ServerId>> = machines
            .map(|id| {
                let index = usize::from(id.0) - self.host.servers.len();
                self.server_at(self.service.sentinels[index].machine.primary())
            })
            .collect();
        if known.is_empty() {
            return Err("no Sentinel is left to name the primary");
        }
        let leads = |server: &ServerId| servers.contains(server) && !self.refuses_pings(*server);
        let led = known.iter().flatten().find(|server| leads(server));
        if let Some(led) = led {
            return match self.takes_writes(*led) {
                true => Ok(()),
                false => Err(NO_WRITES),
            };
        }
        let agree = known.len() >= usize::from(sentinels.quorum);
        let elect = known.len() * 2 > usize::from(sentinels.number);
        match agree && elect {
            true if servers.iter().all(|server| !self.takes_writes(*server)) => Err(NO_WRITES),
            true => Ok(()),
            false => Err("the Sentinels that are left are too few to make a replica the primary"),
        }
    }

    /// Whether nodes of a side can serve all slots, and elect.
    fn can_cluster_serve(&self, cluster: &Cluster, side: &Side) -> Result<(), Lacks> {
        let of_shard = |primary| {
            let nodes = (0..=cluster.replicas).map(move |nth| primary + nth * cluster.primaries);
            let nodes = nodes.map(ServerId).filter(|node| side.contains(node));
            nodes.collect::<Side>()
        };
        if (0..cluster.primaries).any(|primary| of_shard(primary).is_empty()) {
            return Err("no server serves their slots, and a cluster serves all or none");
        }
        let votes = |node: &&ServerId| {
            let slot = &self.host.servers[usize::from(node.0)];
            slot.machine.is_primary()
        };
        if side.iter().filter(votes).count() * 2 <= usize::from(cluster.primaries) {
            return Err("the primaries that are left are no majority");
        }
        let nodes = of_shard(self.service.deployment.first_primary());
        let writers = nodes.iter().filter(|node| self.takes_writes(**node));
        match writers.count() {
            0 => Err(NO_WRITES),
            _ => self.has_copies(&nodes, 0),
        }
    }

    /// Whether nothing keeps a server from writing for good.
    fn takes_writes(&self, server: ServerId) -> bool {
        !self
            .for_good_at(server)
            .any(|fault| matches!(fault, Fault::FullMemory { .. } | Fault::FullDisk { .. }))
    }

    /// Whether a server answers pings with an error that Sentinels take for none.
    fn refuses_pings(&self, server: ServerId) -> bool {
        self.for_good_at(server)
            .any(|fault| matches!(fault, Fault::FullDisk { .. }))
    }

    /// A server that was started again still has what fills it.
    pub(super) fn fill_again(&mut self, server: ServerId) {
        let struck = self.struck.servers.iter();
        let struck = struck.filter(|struck| struck.server == server);
        let full: Vec<Fault> = { struck.map(|struck| &self.plan.faults[struck.fault].inject) }
            .filter(|fault| matches!(fault, Fault::FullMemory { .. } | Fault::FullDisk { .. }))
            .cloned()
            .collect();
        for fault in full {
            self.fill(&fault, server, true);
        }
    }
}
