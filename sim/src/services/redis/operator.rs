//! What an operator does in a shell on a server's machine.

use std::rc::Rc;

use picklock_clients::redis::{Command, Value};
use picklock_redis::Input;

use super::SimulatedRedis;
use crate::network::{ConnectionId, ServerId};
use crate::world::World;

/// The connection of an operator with a shell on the server's machine.
pub(super) const OPERATOR: ConnectionId = ConnectionId(u32::MAX);

/// A lock that a clean-up script has found, and takes for stale.
pub(super) struct SeenKey {
    /// The fault that the script is.
    fault: usize,
    /// Where it was, if servers know nothing of each other.
    server: ServerId,
    lock: usize,
    value: Value,
}

impl World<SimulatedRedis> {
    /// A clean-up script looks at the locks.
    pub(super) fn look_for_stale(&mut self) {
        for server in self.servers_with_keys() {
            for lock in 0..self.lock_names.len() {
                if let Some(value) = self.value_at(server, lock) {
                    self.service.stale.push(SeenKey {
                        fault: self.striking,
                        server,
                        lock,
                        value,
                    });
                }
            }
        }
    }

    /// It has thought, and deletes what it has seen, even if it is another's by now; or only if it is as it was.
    pub(super) fn delete_stale(&mut self, fault: usize, compare: bool) {
        let seen = self.service.stale.extract_if(.., |key| key.fault == fault);
        for SeenKey {
            server,
            lock,
            value,
            ..
        } in seen.collect::<Vec<_>>()
        {
            let there = self.servers_with_keys();
            let alone = there.len() == 1;
            let server = there.iter().find(|id| alone || **id == server).copied();
            let found = server.and_then(|server| Some((server, self.value_at(server, lock)?)));
            if let Some((server, found)) = found
                && (!compare || found == value)
            {
                let key = Rc::clone(&self.lock_names[lock]);
                self.run_as_operator(server, Command::new("DEL").arg(&*key));
            }
        }
    }

    /// The servers that an operator asks: those that serve as primaries, in a cluster the one with the key.
    fn servers_with_keys(&self) -> Vec<ServerId> {
        let in_cluster = self.service.deployment.cluster.is_some();
        let servers = self.host.servers.iter().enumerate();
        let serving = servers.filter(|(_, slot)| {
            slot.process.runs() && slot.answers_for_all(in_cluster, &self.lock_names[0])
        });
        serving.map(|(index, _)| ServerId(index as u8)).collect()
    }

    fn value_at(&self, server: ServerId, lock: usize) -> Option<Value> {
        let slot = &self.host.servers[server.0 as usize];
        let wall = slot.clock.wall(self.now);
        slot.machine
            .keys()
            .read(wall, self.lock_names[lock].as_bytes())
    }

    /// The lock's key goes from a server, as if an operator had deleted it; of several locks that of each.
    pub(super) fn evict_key_from(&mut self, server: ServerId) {
        for index in 0..self.lock_names.len() {
            let key = Rc::clone(&self.lock_names[index]);
            self.run_as_operator(server, Command::new("DEL").arg(&*key));
        }
    }

    /// An operator runs a command in a shell on the server's machine.
    pub(super) fn run_as_operator(&mut self, server: ServerId, command: Command) {
        let connection = OPERATOR;
        self.handle_at(server, Input::Connected { connection });
        let received = Input::Received {
            connection,
            command,
        };
        self.handle_at(server, received);
        self.handle_at(server, Input::Gone { connection });
        self.apply_server_outputs(server);
    }
}
