//! Throttling: a server with too much to do reads no more of the clients that wait for it.
//!
//! # Source
//!
//! ZooKeeper 3.8: `ZooKeeperServer.shouldThrottle`, `NIOServerCnxn.sendResponse`. What is not read counts as no sign of
//! life, pings included.

use super::clients::Clients;
use super::messages::{ClientMessage, ConnectionId};
use super::state::{Server, Turn};

impl Clients {
    /// Reads no more of a connection whose request has just come, if there are too many already.
    pub(super) fn throttle(&mut self, id: ConnectionId, limit: usize) {
        if self.waiting() > limit
            && let Some(connection) = self.connections.get_mut(id)
        {
            connection.throttled = true;
            self.throttles = true;
        }
    }

    /// Whether what a connection sends is not read.
    #[inline]
    pub(super) fn is_throttled(&self, id: ConnectionId) -> bool {
        self.throttles && self.connections.get(id).is_some_and(|one| one.throttled)
    }

    /// What a connection has sent that is to be read now: something was answered.
    fn take_unread(&mut self, id: ConnectionId, limit: usize) -> Option<Vec<ClientMessage>> {
        let session = self.connections.get(id)?.session;
        if self.waiting() > limit && self.is_waiting(session) {
            return None;
        }
        self.connections.get_mut(id)?.throttled = false;
        self.unread.swap_remove(&id)
    }
}

impl Server {
    /// Something was answered: reads what a connection has sent meanwhile.
    pub(super) fn read_again(&mut self, turn: &mut Turn, id: ConnectionId) {
        if !self.clients.is_throttled(id) {
            return;
        }
        let limit = self.settings.outstanding_limit;
        for message in self.clients.take_unread(id, limit).into_iter().flatten() {
            self.client(turn, id, message);
        }
    }
}
