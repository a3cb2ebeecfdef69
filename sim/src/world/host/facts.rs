//! Facts: what the servers of a service have done to the locks and to the sessions of contenders.
//!
//! A service says them; the host makes of each what the history records, the moments that faults wait for, and who owns
//! which lock.

use picklock_checker::service_event::{DataFound, KeyHolders, ServiceEventKind};
use picklock_checker::{ContenderId, EventKind, LockId, Mode, NameId, ServerChange, Token};

use super::SimulatedService;
use crate::network::ServerId;
use crate::ownership::{Actor, CommittedNode};
use crate::world::World;
use crate::world::moment::{Moment, MomentKind};

/// What has become of a contender's session.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SessionFact {
    /// The service has ended it.
    Expired,
    /// Its client has lost the connection.
    Disconnected,
    /// Its client is connected again.
    Reconnected,
    /// Its client has learned that it is over.
    Lost,
}

impl<S: SimulatedService> World<S> {
    /// A contender has come to own a lock by a key of the lock's own name.
    pub(crate) fn granted(&mut self, lock: LockId, by: ContenderId, mode: Mode) -> Token {
        let index = lock.0 as usize;
        let name: NameId = self.recorder.name(&self.lock_names[index]);
        let (now, recorder) = (self.now, &mut self.recorder);
        self.ownerships[index].key_set(now, by, mode, name, recorder)
    }

    /// The key is gone by which a contender owned a lock with this token.
    pub(crate) fn key_gone(&mut self, lock: LockId, token: Token, actor: Actor) {
        self.count_departure();
        let (now, recorder) = (self.now, &mut self.recorder);
        self.ownerships[lock.0 as usize].key_gone(now, token, actor, recorder);
    }

    /// A contender's node of a lock is committed.
    pub(crate) fn node_created(&mut self, lock: LockId, by: ContenderId, node: CommittedNode<'_>) {
        let (now, recorder) = (self.now, &mut self.recorder);
        if self.ownerships[lock.0 as usize].created(now, node, by, recorder) {
            self.moment(Moment::new(by.0, MomentKind::Queued));
        }
    }

    /// The node of this name, which a lock had, is gone.
    pub(crate) fn node_deleted(&mut self, lock: LockId, name: &str, actor: Actor) {
        self.count_departure();
        let (now, recorder) = (self.now, &mut self.recorder);
        self.ownerships[lock.0 as usize].deleted(now, name, actor, recorder);
    }

    /// A node of a lock has other data.
    pub(crate) fn node_set(
        &mut self,
        lock: LockId,
        (path, data): (&str, &[u8]),
        actor: Actor,
        token: Token,
    ) {
        let (now, recorder) = (self.now, &mut self.recorder);
        self.ownerships[lock.0 as usize].data_set(now, path, data, actor, token, recorder);
    }

    /// A dead server has come back with these data: the history has it.
    pub(crate) fn record_restart_with(&mut self, server: ServerId, data: DataFound) {
        if self.records_service_events() {
            let restarted = ServiceEventKind::Restarted {
                data,
                without_key_of: None,
                left: KeyHolders::default(),
            };
            self.record_service_event(server, restarted);
        }
        self.record_server_change(server, ServerChange::Restarted);
    }

    /// Something has become of a contender's session.
    pub(crate) fn session_changed(&mut self, by: ContenderId, fact: SessionFact) {
        let (what, kind) = match fact {
            SessionFact::Expired => (EventKind::SessionExpired { by }, MomentKind::SessionExpired),
            SessionFact::Disconnected => (EventKind::Disconnected { by }, MomentKind::Disconnected),
            SessionFact::Reconnected => (EventKind::Reconnected { by }, MomentKind::Reconnected),
            SessionFact::Lost => (EventKind::SessionLost { by }, MomentKind::SessionLost),
        };
        self.record(what);
        self.moment(Moment::new(by.0, kind));
    }

    fn count_departure(&mut self) {
        self.recorder.counts.departures += u64::from(self.draining);
    }
}
