//! How a deployment begins: all servers in place, and nothing has happened yet.

use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_machines::Chance;
use picklock_redis::{Server, ServerConfig};

use super::lock_key::LockKey;
use super::redis_server::{RedisServer, ServerState};
use super::{SimulatedRedis, cluster, replication_links, sentinels};
use crate::network::ServerId;
use crate::plan::{Deployment, Plan, Service};
use crate::world::SimulatedService as _;

/// The servers of a plan. The nodes of a cluster have chances of their own, which this one decides.
pub(super) fn deployed(plan: &Plan, chance: &mut dyn Chance) -> (SimulatedRedis, Vec<RedisServer>) {
    let Service::Redis(deployment) = &plan.service else {
        unreachable!("a plan is run over its own service");
    };
    let service = &plan.service;
    let keys = SimulatedRedis::lock_names(plan);
    let mut server = |number: u8| {
        let mut machine = machine(deployment, ServerId(number), chance);
        for key in &keys {
            machine.follow_key(key.as_bytes());
        }
        let is_primary = machine.is_primary();
        let state = ServerState {
            power_lost: None,
            lease_check: VirtualTime::NEVER,
            keys: vec![LockKey::default(); keys.len()],
            leads: true,
            is_primary,
            promotion: 0,
            failed_nodes: Vec::new(),
        };
        RedisServer::of(machine, state)
    };
    let servers = (0..service.servers()).map(&mut server).collect();
    let redis = SimulatedRedis {
        deployment: deployment.clone(),
        servers: service.servers(),
        sentinels: sentinels::of(deployment),
        owners: keys.iter().map(|_| Vec::new()).collect(),
        grants: keys.iter().map(|_| Default::default()).collect(),
        ..SimulatedRedis::default()
    };
    (redis, servers)
}

/// A server of a deployment that has not begun to run.
fn machine(deployment: &Deployment, server: ServerId, chance: &mut dyn Chance) -> Server {
    let follows = deployment.replicas > 0 && server.0 > 0;
    let primary = match &deployment.cluster {
        Some(cluster) => cluster::primary_of(cluster, server),
        None => follows.then_some(ServerId(0)),
    };
    let in_cluster = deployment.cluster.as_ref();
    Server::new(Rc::new(ServerConfig {
        version: deployment.version,
        number: server.0.into(),
        address: Some(replication_links::address(server)),
        primary: primary.map(replication_links::address),
        cluster: in_cluster.map(|cluster| cluster::settings(cluster, server, chance)),
        persistence: deployment.persistence.clone(),
        serve_stale_data: deployment.serve_stale_data,
        load_time: deployment.load_time,
        notify_keyspace_events: deployment.notify_keyspace_events,
        busy_reply_threshold: deployment.busy_reply_threshold,
        min_replicas_to_write: deployment.min_replicas_to_write.into(),
        min_replicas_max_lag: deployment.min_replicas_max_lag,
        ..ServerConfig::default()
    }))
}
