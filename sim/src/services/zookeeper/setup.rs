//! How an ensemble begins: it has formed, and nothing has happened yet.

use std::collections::BTreeMap;
use std::rc::Rc;

use picklock_clients::zookeeper::Path;
use picklock_zookeeper::state::{QuorumPeerConfig, Server};
use picklock_zookeeper::txn::ReapRule;

use super::servers::ServiceTimes;
use super::{BYSTANDER_PATH, LOCKS_PATH, ServerState, SimulatedZooKeeper};
use crate::plan::{LockNode, Plan, Service};
use crate::world::{HostedServer, SimulatedService as _};

/// The ensemble of a plan, which has formed, with the locks' own nodes unless these are to be missing.
pub(super) fn formed(plan: &Plan) -> (SimulatedZooKeeper, Vec<HostedServer<SimulatedZooKeeper>>) {
    let Service::ZooKeeper(ensemble) = &plan.service else {
        unreachable!("a plan is run over its own service");
    };
    let settings = Rc::new(QuorumPeerConfig::from(ensemble));
    let own = match ensemble.lock_node {
        LockNode::Persistent => Some(ReapRule::Never),
        LockNode::Container => Some(ReapRule::Childless),
        LockNode::Missing => None,
    };
    let lasting = |path| (Path::from(path), ReapRule::Never);
    let locks = SimulatedZooKeeper::lock_names(plan);
    let locks = locks.into_iter().filter_map(|lock| Some((lock, own?)));
    let nodes: Vec<(Path, ReapRule)> = std::iter::once(lasting(LOCKS_PATH))
        .chain(locks)
        .chain([lasting(BYSTANDER_PATH)])
        .collect();
    let machines = Server::formed(&settings, &nodes).into_iter();
    let servers = machines.map(|machine| HostedServer::of(machine, ServerState::default()));
    let service = SimulatedZooKeeper {
        ensemble: ensemble.clone(),
        pace: ServiceTimes::from(ensemble),
        sessions: BTreeMap::new(),
        callers: Default::default(),
        last_commit: 0,
        list_retries: Default::default(),
        pending_loss_news: Default::default(),
    };
    (service, servers.collect())
}
