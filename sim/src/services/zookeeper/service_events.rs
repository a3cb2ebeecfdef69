//! What the servers of an ensemble do and find, as service events: in the words of Zab.

use picklock_checker::ContenderId;
use picklock_checker::service_event::{DataFound, KeyHolders, ServiceEventKind as What, SyncMode};
use picklock_clients::zookeeper::{SessionId, Zxid};
use picklock_zookeeper::inspection::LearnerSync;
use picklock_zookeeper::messages::ServerMessage;
use picklock_zookeeper::quorum_messages::PeerMessage;
use picklock_zookeeper::state::Server;

use super::SimulatedZooKeeper;
use crate::network::{ConnectionId, ServerId};
use crate::world::World;
use crate::world::service_events::named;

impl World<SimulatedZooKeeper> {
    fn machine(&self, server: ServerId) -> &Server {
        &self.host.servers[server.0 as usize].machine
    }

    /// It begins to serve clients, or has ceased to.
    pub(super) fn record_role(&mut self, server: ServerId) {
        if !self.records_service_events() {
            return;
        }
        let machine = self.machine(server);
        let epoch = machine.epoch();
        let what = match machine.leader() {
            Some(leader) if machine.is_serving() => What::Following {
                leader: named(leader),
                epoch,
            },
            None if machine.is_serving() => return,
            Some(_) | None => What::Looking,
        };
        self.record_service_event(server, what);
    }

    /// A message of its leader says what a server lacks, and what it has too much.
    #[cold]
    pub(super) fn record_sync(&mut self, from: ServerId, to: ServerId, message: &PeerMessage) {
        let Some(order) = self.machine(to).sync_order(from, message) else {
            return;
        };
        let how = match order.how {
            LearnerSync::Diff => SyncMode::Diff,
            LearnerSync::Trunc => SyncMode::Trunc,
            LearnerSync::Snap => SyncMode::Snap,
        };
        let truncated = order.truncated.iter().map(ToString::to_string).collect();
        let synced = What::Synced {
            leader: named(from),
            how,
            up_to: order.up_to.0,
            truncated,
        };
        self.record_service_event(to, synced);
    }

    /// The process of a server is about to die. Answers how much it has logged.
    pub(super) fn logged_by(&self, server: ServerId) -> usize {
        match self.records_service_events() {
            true => self.machine(server).logged_after(Zxid(0)),
            false => 0,
        }
    }

    /// The process of a server has died, which had logged so much.
    pub(super) fn record_death(&mut self, server: ServerId, logged: usize) {
        if self.records_service_events() {
            let machine = self.machine(server);
            let left = machine.logged_after(Zxid(0));
            let died = What::Died {
                log: machine.last_logged().0,
                lost: logged.saturating_sub(left) as u64,
            };
            self.record_service_event(server, died);
        }
    }

    /// The process of a server runs again.
    pub(super) fn record_restart(&mut self, server: ServerId) {
        if self.records_service_events() {
            let up_to = self.machine(server).last_logged().0;
            let restarted = What::Restarted {
                data: DataFound::Log { up_to },
                without_key_of: None,
                left: KeyHolders::default(),
            };
            self.record_service_event(server, restarted);
        }
    }

    /// A client learns that it has a session, which it had not before.
    #[inline]
    pub(super) fn record_new_session(
        &mut self,
        server: ServerId,
        session: SessionId,
        by: ContenderId,
    ) {
        if self.records_service_events() {
            let session = session.to_string();
            self.record_service_event(server, What::SessionEstablished { session, by });
        }
    }

    /// A server answers a contender's request, perhaps with an error.
    #[inline]
    pub(super) fn record_error(&mut self, connection: ConnectionId, message: &ServerMessage) {
        self.record_error_reply(connection, || match message {
            ServerMessage::Reply {
                reply: Err(error), ..
            } => Some(format!("{error:?}")),
            _ => None,
        });
    }

    /// The leader has ended a session.
    pub(super) fn record_expiry(&mut self, leader: ServerId, session: SessionId) {
        if self.records_service_events() {
            let of = self.service.sessions.get(&session).copied();
            let session = session.to_string();
            self.record_service_event(leader, What::SessionExpired { session, of });
        }
    }

    /// A server sends a client the event of a watch.
    #[inline]
    pub(super) fn record_watch(&mut self, connection: ConnectionId, message: &ServerMessage) {
        self.record_notification(connection, message, |event, path, to| What::WatchFired {
            event,
            path,
            to,
        });
    }

    /// The event of a watch does not come to its client: the connection is gone.
    #[inline]
    pub(super) fn record_lost_watch(&mut self, connection: ConnectionId, message: &ServerMessage) {
        self.record_notification(connection, message, |event, path, to| What::WatchLost {
            event,
            path,
            to,
        });
    }

    #[inline]
    fn record_notification(
        &mut self,
        connection: ConnectionId,
        message: &ServerMessage,
        what: impl FnOnce(String, String, Option<ContenderId>) -> What,
    ) {
        if self.records_service_events()
            && let ServerMessage::Notification { kind, path } = message
        {
            let to = self.contender_of(self.process_of(connection));
            let what = what(format!("{kind:?}"), path.to_string(), to);
            self.record_service_event(self.server_of(connection), what);
        }
    }
}
