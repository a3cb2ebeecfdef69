//! What the names of a plan mean at the moment.

use super::World;
use crate::plan::{ContenderName, ServerName};
use crate::zookeeper::messages::{ConnectionId, ServerId};

impl World {
    /// The connection that a contender's client has at the moment.
    pub(super) fn connection_of(&self, target: ContenderName) -> Option<ConnectionId> {
        let client = self.contenders.get(target.0 as usize)?.client?;
        self.clients[client.0 as usize].connection
    }

    /// The server that a name means at the moment; `None` if there is none.
    pub(super) fn server(&self, name: ServerName) -> Option<ServerId> {
        if self.redis.is_there() {
            return self.redis.server(name);
        }
        let leader = self
            .servers
            .iter()
            .position(|slot| slot.up && slot.machine.is_leader());
        let place = match name {
            ServerName::Leader => leader,
            ServerName::Number(number) => Some(number as usize),
            // There are Sentinels beside Redis alone.
            ServerName::Sentinel(_) => None,
            ServerName::Observer(nth) => Some((u32::from(self.ensemble.servers) + nth) as usize),
            ServerName::Follower(nth) => (0..usize::from(self.ensemble.servers))
                .filter(|place| Some(*place) != leader)
                .nth(nth as usize),
            ServerName::Of(contender) => {
                let connection = self.connection_of(contender)?;
                Some(self.connections.get(connection).server.0 as usize)
            }
        };
        place
            .filter(|place| *place < self.servers.len())
            .map(|place| ServerId(place as u8))
    }
}
