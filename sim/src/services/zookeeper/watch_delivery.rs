//! Events of watches, and the clients that they are sent to.

use picklock_clients::zookeeper::{EventType, Path};
use picklock_zookeeper::messages::notifications;

use super::SimulatedZooKeeper;
use crate::network::{ConnectionId, ServerId};
use crate::world::World;

impl World<SimulatedZooKeeper> {
    /// Tells several clients that a watch has fired.
    #[inline(never)]
    pub(super) fn notify(
        &mut self,
        server: ServerId,
        (connections, own): (Vec<ConnectionId>, Option<ConnectionId>),
        kind: EventType,
        path: Path,
    ) {
        for (connection, message) in notifications(connections, kind, path) {
            self.send_to_client(server, connection, message, own == Some(connection));
        }
    }
}
