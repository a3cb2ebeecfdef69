//! What tells a contender that it has lost the lock: the state of its session, and what it hears of its node.

use picklock_checker::{ContenderId, Knowledge, LockId};
use picklock_clients::zookeeper::{EventType, Request, SessionState, ZkError};
use picklock_zookeeper::messages::{ServerMessage, Xid};

use super::SimulatedZooKeeper;
use crate::event::ClientId;
use crate::network::ConnectionId;
use crate::world::World;

/// What is on its way to contenders that believe in a node that is gone.
#[derive(Default)]
pub(super) struct PendingLossNews {
    /// Requests about the node.
    requests: Vec<(ConnectionId, Xid, (ContenderId, LockId))>,
    /// Contenders whose event threads have not come to say so, of which lock, and whether a watcher waits for it.
    untold: Vec<(ContenderId, LockId, bool)>,
}

impl World<SimulatedZooKeeper> {
    /// A contender has come to believe that it holds a lock.
    pub(super) fn note_new_belief(&mut self, by: ContenderId, lock: LockId) {
        let untold = &mut self.service.pending_loss_news.untold;
        untold.retain(|news| (news.0, news.1) != (by, lock));
        self.note_session_state(by);
    }

    /// The state of a contender's session has changed, or its event thread goes on and can say so.
    pub(super) fn note_session_state(&mut self, by: ContenderId) {
        let client = (self.contenders.get(by.0 as usize)).and_then(|contender| contender.client);
        let Some(client) = client.filter(|_| self.believes(by)) else {
            return;
        };
        let machine = &self.host.clients[client.0 as usize].machine;
        if machine.events_are_blocked() {
            return;
        }
        match machine.state() {
            SessionState::Connected => self.is_connected(by, true),
            SessionState::Connecting | SessionState::ConnectedReadOnly => {
                self.is_connected(by, false);
            }
            SessionState::Closed => self.could_know_from_now(by, Knowledge::SessionLost),
        }
    }

    /// A contender's event thread goes on after a callback that did not return.
    pub(super) fn resume_event_thread(&mut self, by: ContenderId) {
        self.note_session_state(by);
        let untold = &mut self.service.pending_loss_news.untold;
        let (told, left) = std::mem::take(untold)
            .into_iter()
            .partition(|news| news.0 == by);
        *untold = left;
        let told: Vec<(ContenderId, LockId, bool)> = told;
        for (by, lock, is_heard) in told {
            self.could_know_of(by, lock, Knowledge::NodeGone, is_heard);
        }
    }

    /// A contender asks an ensemble for something: if it is about a node of its own that is gone, the answer will say
    /// so.
    #[inline]
    pub(super) fn follow_lock_request(
        &mut self,
        by: ContenderId,
        connection: ConnectionId,
        (xid, request): (Xid, &Request),
    ) {
        if self.believes_without_owning(by)
            && let Some(node) = node_of(request)
            && let Some(lock) = self.lock_lost_with(by, node)
        {
            let requests = &mut self.service.pending_loss_news.requests;
            requests.push((connection, xid, (by, lock)));
        }
    }

    /// A message of an ensemble has been delivered to the client of a contender that believes in vain.
    #[cold]
    pub(super) fn loss_delivered(
        &mut self,
        client: ClientId,
        connection: ConnectionId,
        message: &ServerMessage,
    ) {
        match message {
            ServerMessage::Reply { xid, reply, .. } => {
                let asked = (connection, *xid);
                let looks = &mut self.service.pending_loss_news.requests;
                let look = looks.iter().position(|look| (look.0, look.1) == asked);
                if let Some((_, _, (by, lock))) = look.map(|place| looks.swap_remove(place))
                    && reply.as_ref().err() == Some(&ZkError::NoNode)
                    && self.believes_in_vain(by, lock)
                {
                    let machine = &self.host.clients[client.0 as usize].machine;
                    let is_passed_on = machine.awaits_reply(*xid);
                    self.could_know_of(by, lock, Knowledge::NodeGone, is_passed_on);
                }
            }
            ServerMessage::Notification { kind, path } if *kind == EventType::NodeDeleted => {
                let machine = &self.host.clients[client.0 as usize].machine;
                let blocked = machine.events_are_blocked();
                let is_heard = machine.listens_for(*kind, path);
                for by in self.users(client) {
                    let Some(lock) = self.lock_lost_with(by, path) else {
                        continue;
                    };
                    match self.hears_of_node(client, by, path) {
                        true if blocked => {
                            let untold = &mut self.service.pending_loss_news.untold;
                            untold.push((by, lock, is_heard));
                        }
                        true => self.could_know_of(by, lock, Knowledge::NodeGone, is_heard),
                        false => {}
                    }
                }
            }
            ServerMessage::Notification { .. }
            | ServerMessage::Connected { .. }
            | ServerMessage::Expired
            | ServerMessage::Authenticated
            | ServerMessage::AuthFailed
            | ServerMessage::Pong
            | ServerMessage::WatchesSet { .. } => {}
        }
    }
}

/// The one node that a request is about, if it says whether that is there.
fn node_of(request: &Request) -> Option<&str> {
    match request {
        Request::Delete { path, .. }
        | Request::Exists { path, .. }
        | Request::GetData { path, .. }
        | Request::SetData { path, .. }
        | Request::GetAcl { path }
        | Request::SetAcl { path, .. } => Some(path),
        Request::Create(_)
        | Request::GetChildren { .. }
        | Request::Sync { .. }
        | Request::Multi(_)
        | Request::MultiRead(_)
        | Request::AddWatch { .. }
        | Request::RemoveWatches { .. }
        | Request::CheckWatches { .. }
        | Request::GetEphemerals { .. }
        | Request::GetAllChildrenNumber { .. }
        | Request::WhoAmI
        | Request::Reconfig(_) => None,
    }
}
