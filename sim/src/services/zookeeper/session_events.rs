//! What becomes of sessions and of the requests in them: moments that faults wait for, and events of the history.

use picklock_checker::{ContenderId, EventKind};
use picklock_clients::RequestKind;
use picklock_clients::zookeeper::{SessionId, SessionState};
use picklock_zookeeper::messages::Xid;

use super::SimulatedZooKeeper;
use crate::event::ClientId;
use crate::network::{RequestId, ServerId};
use crate::world::moment::{Moment, MomentKind};
use crate::world::{SessionFact, World};

impl World<SimulatedZooKeeper> {
    pub(super) fn proposed(&mut self, session: SessionId, xid: Option<Xid>, kind: RequestKind) {
        self.request_moment(session, xid, MomentKind::Proposed(kind));
    }

    #[inline]
    pub(super) fn request_moment(
        &mut self,
        session: SessionId,
        xid: Option<Xid>,
        kind: MomentKind,
    ) {
        if self.watches_moments() {
            self.fire_request_moment(session, xid, kind);
        }
    }

    /// What a request of a session is that is known to be of such a kind, as long as its answer has not been sent.
    pub(super) fn exact_kind(
        &self,
        session: SessionId,
        xid: Option<Xid>,
        kind: RequestKind,
    ) -> RequestKind {
        let exact = || {
            let by = self.service.sessions.get(&session)?;
            let client = self.contenders.get(by.0 as usize)?.client?;
            let sent = self.host.clients[client.0 as usize].state.sent.iter();
            let mut known = sent.filter(|(known, _)| Some(*known) == xid);
            known.next().map(|(_, exact)| *exact)
        };
        exact().filter(|exact| kind.covers(*exact)).unwrap_or(kind)
    }

    #[inline(never)]
    fn fire_request_moment(&mut self, session: SessionId, xid: Option<Xid>, kind: MomentKind) {
        let Some(ContenderId(by)) = self.author(session, xid) else {
            return;
        };
        let client = self.contenders[by as usize].client;
        let connection =
            client.and_then(|client| self.host.clients[client.0 as usize].state.connection);
        let request = connection.zip(xid).map(|(connection, xid)| RequestId {
            connection,
            number: xid.0,
        });
        let moment = Moment::new(by, kind);
        self.moment(match request {
            Some(request) => moment.about(request),
            None => moment,
        });
    }

    /// A client sees its session in another state, and so do the contenders that use it.
    #[cold]
    pub(super) fn client_state(&mut self, client: ClientId, state: SessionState) {
        let users = self.users(client).into_iter();
        let current = |by: &ContenderId| {
            let contender = self.contenders.get(by.0 as usize);
            contender.is_some_and(|contender| contender.client == Some(client))
        };
        let users: Vec<ContenderId> = users.filter(current).collect();
        if users.is_empty() {
            return;
        }
        for by in &users {
            self.note_session_state(*by);
        }
        let slot = &mut self.host.clients[client.0 as usize];
        let session = slot.machine.session();
        let resumed = session.0 != 0 && self.service.sessions.contains_key(&session);
        let was_connected = match state {
            SessionState::Connecting | SessionState::Closed => slot.state.was_connected,
            SessionState::Connected | SessionState::ConnectedReadOnly => {
                std::mem::replace(&mut slot.state.was_connected, true)
            }
        };
        for by in users {
            let fact = match state {
                SessionState::Connecting => SessionFact::Disconnected,
                SessionState::Connected if resumed && was_connected => SessionFact::Reconnected,
                SessionState::Connected => continue,
                SessionState::ConnectedReadOnly => {
                    self.record(EventKind::ConnectedReadOnly { by });
                    continue;
                }
                SessionState::Closed => SessionFact::Lost,
            };
            self.session_changed(by, fact);
        }
    }

    #[cold]
    pub(super) fn session_expired(&mut self, leader: ServerId, session: SessionId) {
        self.record_expiry(leader, session);
        for by in self.users_of_session(session) {
            self.session_changed(by, SessionFact::Expired);
        }
    }
}
