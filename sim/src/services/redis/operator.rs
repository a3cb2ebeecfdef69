//! What somebody with a shell on a server's machine does.

use std::rc::Rc;

use picklock_clients::redis::Command;
use picklock_redis::{ConnectionId as At, Input};

use super::SimulatedRedis;
use crate::network::ServerId;
use crate::world::World;

/// The connection of somebody with a shell on the server's machine.
pub(super) const OPERATOR: At = At(u32::MAX);

impl World<SimulatedRedis> {
    /// The lock's key goes from a server, as if an operator had deleted it; of several locks that of each.
    pub(super) fn evict_key_from(&mut self, server: ServerId) {
        for index in 0..self.lock_names.len() {
            let key = Rc::clone(&self.lock_names[index]);
            self.run_as_operator(server, Command::new("DEL").arg(&*key));
        }
    }

    /// Somebody with a shell on the server's machine runs a command.
    pub(super) fn run_as_operator(&mut self, server: ServerId, command: Command) {
        let connection = OPERATOR;
        self.server_input(server, Input::Connected { connection });
        let received = Input::Received {
            connection,
            command,
        };
        self.server_input(server, received);
        self.server_input(server, Input::Gone { connection });
        self.apply_server_outputs(server);
    }
}
