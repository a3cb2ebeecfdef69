//! What depends on whether a server is a primary or a replica.

use picklock_clients::redis::Value;

use crate::ConnectionId;
use crate::Server;
use crate::clients::Blocked;
use crate::db::Expired;

impl Server {
    /// Sets what depends on the role, and on whether clients are paused.
    pub(crate) fn set_role(&mut self) {
        let is_replica = self.replication.primary.is_some();
        self.core.is_replica = is_replica;
        self.core.expired = if is_replica || self.pause.is_some() {
            Expired::Hidden
        } else {
            Expired::Deleted
        };
        self.core.effects.wanted = self.replication.is_wanted();
    }

    /// Sets what may be written at this moment.
    pub(crate) fn set_writable(&mut self) {
        self.core.degraded.stale = self.is_stale();
        self.core.lacks_replicas = !self.replication.has_good(self.core.min_replicas);
        self.core.effects.wanted = self.replication.is_wanted();
    }

    /// Clients that wait for replicas or for keys wait in vain: they get an error, and their connections are closed.
    pub(super) fn unblock_waiting(&mut self) {
        let waits = |blocked: &Blocked| !matches!(blocked, Blocked::Paused | Blocked::Script);
        let blocked = self.clients.blocked();
        let waiting: Vec<ConnectionId> = blocked
            .filter(|(_, _, blocked)| waits(blocked))
            .map(|(id, _, _)| id)
            .collect();
        for connection in waiting {
            let text = "UNBLOCKED force unblock from blocking operation, instance state changed \
                        (master -> replica?)";
            self.answer(connection, Value::error(text));
            self.close(connection);
        }
    }

    /// Replicas are to say how far they are.
    pub(crate) fn request_acks(&mut self) {
        self.replication.ack_wanted = true;
    }
}
