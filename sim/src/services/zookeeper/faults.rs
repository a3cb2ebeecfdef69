//! Faults that only ZooKeeper can have.

use std::time::Duration;

use picklock_checker::ContenderId;
use picklock_clients::zookeeper::Path;

use super::{SimulatedZooKeeper, operator};
use crate::ownership::Ownership;
use crate::plan::{ContenderName, Fault, ServerName};
use crate::world::World;

impl World<SimulatedZooKeeper> {
    /// Breaks something that only an ensemble has; answers how long it lasts, if it has to be healed.
    pub(super) fn inject_at_ensemble(&mut self, fault: &Fault) -> Option<Duration> {
        match *fault {
            Fault::BlockEvents { target, length } => {
                self.block_events(target, self.until(length));
                length.duration()
            }
            Fault::ExpireSession { target } => {
                self.expire_session(target);
                None
            }
            Fault::DeleteStale { think, compare } => {
                let seen = self.first_nodes();
                self.operate(Box::new(move |shared| {
                    Box::pin(operator::delete_stale(shared, seen, think, compare))
                }));
                Some(think)
            }
            Fault::DeleteNode { of } => {
                if let Some(node) = self.node_of(of) {
                    self.operate(Box::new(|shared| {
                        Box::pin(operator::delete_node(shared, node))
                    }));
                }
                None
            }
            Fault::Revoke { of } => {
                if let Some(node) = self.node_of(of)
                    && let Some(message) = self.plan.recipe.revoke_message()
                {
                    self.operate(Box::new(move |shared| {
                        Box::pin(operator::revoke(shared, node, message))
                    }));
                }
                None
            }
            Fault::RecreateLock => {
                self.operate(Box::new(|shared| Box::pin(operator::recreate_lock(shared))));
                None
            }
            Fault::LagServer { target, length, .. } | Fault::SlowDisk { target, length, .. } => {
                let server = self.server(target)?;
                self.strikes_server(server, length);
                self.slow_as_struck(server);
                length.duration()
            }
            _ => None,
        }
    }

    fn expire_session(&mut self, target: ContenderName) {
        let Some(client) = self.contenders[target.0 as usize].client else {
            return;
        };
        let session = self.host.clients[client.0 as usize].machine.session();
        let Some(leader) = self.server(ServerName::Leader) else {
            return;
        };
        let machine = &mut self.host.servers[leader.0 as usize].machine;
        let out = &mut self.host.server_outputs;
        machine.expire_session(self.now, session, &mut self.tape, out);
        self.apply_server_outputs(leader);
    }

    /// The node of each lock that all others wait for, if there is one.
    fn first_nodes(&self) -> Vec<Path> {
        let heads = self.ownerships.iter().filter_map(Ownership::head);
        let paths = heads.map(|(name, _)| self.recorder.text_of(name).into());
        paths.collect()
    }

    /// The node of a contender: the first that it has in any of the locks.
    fn node_of(&self, of: ContenderName) -> Option<Path> {
        let by = ContenderId(of.0);
        let locks = self.lock_names.iter().zip(&self.ownerships);
        let found = { locks }.find_map(|(lock, of)| Some((lock, of.node_of(by)?)));
        found.map(|(lock, name)| Path::from(format!("{lock}/{name}")))
    }
}
