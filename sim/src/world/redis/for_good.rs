//! Whether what is left of Redis can serve, when servers or Sentinels are gone for good.

use picklock_algorithms::clients::RequestKind;

use crate::network::ServerId;
use crate::plan::{Cluster, Deployment, Sentinels};
use crate::world::World;

impl World {
    /// Why what is left of Redis can serve nobody, if so, whatever else heals.
    pub(in crate::world) fn why_redis_does_not_serve(
        &self,
        deployment: &Deployment,
    ) -> Option<String> {
        if let Some(cluster) = &deployment.cluster {
            return self
                .why_cluster_does_not_serve(cluster)
                .or_else(|| self.too_few_copies(self.shard_of_lock(cluster), 0));
        }
        if deployment.replicas == 0 {
            return self.too_few_of(deployment.servers, "what is left is no majority");
        }
        let all = (0..=deployment.replicas).map(ServerId);
        let dead = self.dead_of(all.clone());
        if dead.len() > usize::from(deployment.replicas) {
            return Some(format!(
                "{} for good: no server is left",
                self.are_dead(&dead)
            ));
        }
        let heard = deployment.min_replicas_to_write;
        let too_few = self.too_few_copies(all.collect(), heard.into());
        too_few.or_else(|| match &deployment.sentinels {
            Some(sentinels) => self.why_nobody_is_promoted(sentinels),
            None => self.is_dead_for_good(self.redis.primary).then(|| {
                let dead = self.are_dead(&[self.redis.primary]);
                format!("{dead} for good, and nobody makes a replica the primary")
            }),
        })
    }

    /// Says so if a primary of what is left has fewer replicas than must hear of a write: so many, or the one that a
    /// recipe waits for.
    fn too_few_copies(&self, all: Vec<ServerId>, heard: usize) -> Option<String> {
        let waits = self.plan.recipe.asks.contains(&RequestKind::Wait);
        let dead = self.dead_of(all.iter().copied());
        let replicas = (all.len() - dead.len()).saturating_sub(1);
        (!dead.is_empty() && replicas < heard.max(waits.into())).then(|| {
            let dead = self.are_dead(&dead);
            format!("{dead} for good: too few replicas are left to hear of a write")
        })
    }

    /// Says so if the primary is dead for good, and the Sentinels that are left cannot replace it.
    fn why_nobody_is_promoted(&self, sentinels: &Sentinels) -> Option<String> {
        let machines = (0..sentinels.number).map(|place| self.redis.sentinel(place));
        let dead = self.dead_of(machines.clone());
        let living = usize::from(sentinels.number) - dead.len();
        if living == 0 {
            let dead = self.are_dead(&dead);
            return Some(format!("{dead} for good: nobody says who the primary is"));
        }
        let known = (0..sentinels.number)
            .filter(|place| !self.is_dead_for_good(self.redis.sentinel(*place)))
            .filter_map(|place| {
                let machine = &self.redis.sentinels[usize::from(place)].machine;
                self.server_at(machine.primary())
            });
        let known: Vec<ServerId> = known.collect();
        let agree = living >= usize::from(sentinels.quorum);
        let elect = living * 2 > usize::from(sentinels.number);
        if (agree && elect) || known.iter().any(|server| !self.is_dead_for_good(*server)) {
            return None;
        }
        let gone: Vec<ServerId> = known.into_iter().take(1).chain(dead).collect();
        let gone = self.are_dead(&gone);
        Some(format!(
            "{gone} for good: the Sentinels that are left are too few to make a replica the primary"
        ))
    }

    /// Says so if slots have nobody left who could serve them, or too few primaries are left to elect others.
    fn why_cluster_does_not_serve(&self, cluster: &Cluster) -> Option<String> {
        for primary in 0..cluster.primaries {
            let shard = shard(cluster, primary);
            let dead = self.dead_of(shard.iter().copied());
            if dead.len() == shard.len() {
                let dead = self.are_dead(&dead);
                return Some(format!(
                    "{dead} for good: nobody serves their slots, and a cluster serves all or none"
                ));
            }
        }
        let nodes = (0..cluster.nodes()).map(ServerId);
        let dead = self.dead_of(nodes.clone());
        let votes = |node: &ServerId| {
            let slot = &self.redis.servers[usize::from(node.0)];
            slot.machine.is_primary() && !dead.contains(node)
        };
        let voters = nodes.filter(votes).count();
        (voters * 2 <= usize::from(cluster.primaries)).then(|| {
            let dead = self.are_dead(&dead);
            format!("{dead} for good: the primaries that are left are no majority")
        })
    }

    /// The nodes that can have the lock's key, as long as its slot stays where it was.
    fn shard_of_lock(&self, cluster: &Cluster) -> Vec<ServerId> {
        shard(cluster, self.redis.deployment.first_primary())
    }
}

/// A primary and its replicas.
fn shard(cluster: &Cluster, primary: u8) -> Vec<ServerId> {
    let nodes = (0..=cluster.replicas).map(|nth| primary + nth * cluster.primaries);
    nodes.map(ServerId).collect()
}
