//! Redis servers that are the nodes of a cluster, and the bus between them.

use picklock_checker::ServerChange;
use picklock_machines::Chance;
use picklock_redis::{BusMessage, ClusterConfig, Input, NodeId};

use super::SimulatedRedis;
use super::event::RedisEvent;
use super::replication_links;
use crate::network::ServerId;
use crate::ownership::Actor;
use crate::plan::Cluster;
use crate::trace::MessageStep::{Received, Sent};
use crate::world::World;

/// So many streams of chance there are for each node.
const STREAMS: u32 = 1 << 16;

/// The primary of a node at first, if it is a replica.
pub(super) fn primary_of(cluster: &Cluster, node: ServerId) -> Option<ServerId> {
    let replica = node.0.checked_sub(cluster.primaries)?;
    Some(ServerId(replica % cluster.primaries))
}

/// How a node is set up.
pub(super) fn settings(
    cluster: &Cluster,
    node: ServerId,
    chance: &mut dyn Chance,
) -> ClusterConfig {
    let nodes = (0..cluster.nodes()).map(ServerId);
    // No two nodes have the same one, whatever chance says.
    let stream = u64::from(chance.choose(STREAMS)) << 8;
    ClusterConfig {
        nodes: nodes.map(replication_links::address).collect(),
        primaries: cluster.primaries,
        node_timeout: cluster.node_timeout,
        validity_factor: cluster.validity_factor,
        seed: stream | u64::from(node.0),
    }
}

impl World<SimulatedRedis> {
    /// A node has something to say to another. If that does not run when it arrives, it is lost.
    pub(super) fn send_to_node(&mut self, from: ServerId, to: NodeId, message: Box<BusMessage>) {
        let to = ServerId(to.0);
        self.trace_between((from, to), Sent, &*message, BusMessage::is_sign_of_life);
        let at = self.arrival_at_peer(from, to);
        let event = RedisEvent::ToNode { to, message };
        self.schedule(at, event);
    }

    pub(super) fn at_node(&mut self, to: ServerId, message: Box<BusMessage>) {
        let from = ServerId(message.from().0);
        self.trace_between((from, to), Received, &*message, BusMessage::is_sign_of_life);
        self.server_input(to, Input::FromNode { message });
    }

    /// A server that becomes the primary of others has been elected. A node of a cluster that becomes one, or ceases to
    /// be one or to serve, changes who owns the lock.
    pub(super) fn follow_role(&mut self, node: ServerId) {
        let in_cluster = self.service.deployment.cluster.is_some();
        if !in_cluster && self.service.deployment.replicas == 0 {
            return;
        }
        let slot = &mut self.host.servers[usize::from(node.0)];
        let is_primary = slot.machine.is_primary();
        match (
            std::mem::replace(&mut slot.state.is_primary, is_primary),
            is_primary,
        ) {
            (false, true) => {
                self.service.promotions += 1;
                slot.state.promotion = self.service.promotions;
                self.record_promotion(node);
                self.record_server_change(node, ServerChange::Promoted);
                // Leases go on as they did; only triggers that wait for it fire.
                if in_cluster || self.faults_armed > 0 {
                    self.elected();
                }
            }
            (true, false) => {
                self.record_demotion(node);
                self.record_server_change(node, ServerChange::Demoted);
            }
            (true, true) | (false, false) => {}
        }
        if !in_cluster {
            return;
        }
        self.record_failed_nodes(node);
        let slot = &mut self.host.servers[usize::from(node.0)];
        let leads = slot.machine.is_primary() && slot.machine.serves();
        if std::mem::replace(&mut slot.state.leads, leads) != leads {
            self.update_owners(Actor::Service);
        }
    }
}
