//! Resolves the names of a plan (`leader`, `follower-2`) to servers.

use super::SimulatedZooKeeper;
use crate::network::{ConnectionId, ServerId};
use crate::plan::{ContenderName, ServerName};
use crate::world::World;

impl World<SimulatedZooKeeper> {
    /// The connection that a contender's client has at the moment.
    pub(super) fn connection_of(&self, target: ContenderName) -> Option<ConnectionId> {
        let client = self.contenders.get(target.0 as usize)?.client?;
        self.host.clients[client.0 as usize].state.connection
    }

    /// The server that a name means at the moment; `None` if there is none.
    pub(super) fn server(&self, name: ServerName) -> Option<ServerId> {
        let leader = (self.host.servers.iter())
            .position(|slot| slot.process.is_up() && slot.machine.is_leader());
        let index = match name {
            ServerName::Leader => leader,
            ServerName::Number(number) => Some(number as usize),
            // There are primaries and Sentinels in Redis alone.
            ServerName::Primary | ServerName::Sentinel(_) => None,
            ServerName::Observer(nth) => {
                Some((u32::from(self.service.ensemble.servers) + nth) as usize)
            }
            ServerName::Follower(nth) => (0..usize::from(self.service.ensemble.servers))
                .filter(|index| Some(*index) != leader)
                .nth(nth as usize),
            ServerName::Of(contender) => {
                let connection = self.connection_of(contender)?;
                Some(self.connections.get(connection).server.0 as usize)
            }
        };
        index
            .filter(|index| *index < self.host.servers.len())
            .map(|index| ServerId(index as u8))
    }
}
