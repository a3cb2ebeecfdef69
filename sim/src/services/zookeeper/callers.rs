//! Handles that several tasks of a process share: which task made a request, and which tasks an event is for.

use std::collections::BTreeSet;

use picklock_checker::ContenderId;
use picklock_clients::zookeeper::{Path, Request, SessionId};
use picklock_zookeeper::messages::Xid;
use rustc_hash::FxHashMap;

use super::SimulatedZooKeeper;
use crate::event::ClientId;
use crate::process::Thread;
use crate::world::World;

/// Which task has asked what. Nothing is kept where every task has a handle of its own.
#[derive(Default)]
pub(super) struct Callers {
    of_requests: FxHashMap<(u32, u32), ContenderId>,
    /// Which task has asked for a watch on which node, and has no answer yet.
    asked_watches: FxHashMap<(u32, u32), (ContenderId, Path)>,
    /// Which task has left a watch on which node, and on which ones that stay and heed all that is below.
    watches: BTreeSet<(u32, ContenderId, Path)>,
    persistent_watches: Vec<(u32, ContenderId, Path)>,
    /// The handle of a session.
    of_sessions: FxHashMap<SessionId, ClientId>,
}

impl World<SimulatedZooKeeper> {
    /// A thread has given up a handle, and wants another session: the tasks that shared the old one share the new one.
    pub(super) fn replace_client(&mut self, old: ClientId, thread: Thread) -> ClientId {
        let shared = self.shares_clients();
        let users = self.users(old);
        let new = self.client_for(thread);
        for by in users.into_iter().filter(|_| shared) {
            self.contenders[by.0 as usize].client = Some(new);
        }
        new
    }

    /// Whether a contender that stands on a handle believes in a lock that is not its own any more.
    #[inline(always)]
    pub(super) fn a_user_believes_without_owning(&self, client: ClientId) -> bool {
        match self.shares_clients() {
            true => (self.users(client).into_iter()).any(|by| self.believes_without_owning(by)),
            false => self.believes_without_owning(self.host.clients[client.0 as usize].by),
        }
    }

    /// A request is sent by a handle that tasks share: it is noted which of them has asked.
    #[cold]
    pub(super) fn note_caller(&mut self, client: usize, xid: Xid, request: &Request) {
        let slot = &self.host.clients[client];
        let by = slot.machine.asked_by(xid).unwrap_or(slot.by);
        self.service
            .callers
            .of_requests
            .insert((client as u32, xid.0), by);
        let callers = &mut self.service.callers;
        let watch = |path: &Path| (client as u32, by, Path::clone(path));
        if let Request::Exists { path, watch: true } | Request::GetData { path, watch: true } =
            request
        {
            let asked = (client as u32, xid.0);
            callers.asked_watches.insert(asked, (by, Path::clone(path)));
        } else if let Request::AddWatch { path, .. } = request {
            callers.persistent_watches.push(watch(path));
        }
    }

    /// An answer reaches a handle that tasks share: a watch that was asked for is there from now on.
    #[cold]
    pub(super) fn watch_answered(&mut self, client: ClientId, xid: Xid) {
        let callers = &mut self.service.callers;
        if let Some((by, path)) = callers.asked_watches.remove(&(client.0, xid.0)) {
            callers.watches.insert((client.0, by, path));
        }
    }

    /// A node is gone, and a watch on it has fired: whether this task has left one. Other tasks that share the handle
    /// are not notified.
    pub(super) fn hears_of_node(&self, client: ClientId, by: ContenderId, path: &Path) -> bool {
        let callers = &self.service.callers;
        let of_task = |watch: &&(u32, ContenderId, Path)| (watch.0, watch.1) == (client.0, by);
        let mut persistent = callers.persistent_watches.iter().filter(of_task);
        !self.shares_clients()
            || callers.watches.contains(&(client.0, by, Path::clone(path)))
            || persistent.any(|(_, _, above)| path.starts_with(&**above))
    }

    /// Which task has asked for something by a handle.
    #[inline]
    pub(super) fn caller(&self, client: usize, xid: Xid) -> ContenderId {
        let by = self.host.clients[client].by;
        match self.shares_clients() {
            true => {
                let known = self
                    .service
                    .callers
                    .of_requests
                    .get(&(client as u32, xid.0));
                known.copied().unwrap_or(by)
            }
            false => by,
        }
    }

    /// A handle has a session. Answers whether it is a new one.
    pub(super) fn note_session(
        &mut self,
        session: SessionId,
        client: ClientId,
        by: ContenderId,
    ) -> bool {
        let is_new = self.service.sessions.insert(session, by).is_none();
        if self.shares_clients() {
            self.service.callers.of_sessions.insert(session, client);
        }
        is_new
    }

    /// Which contender has asked for something in a session; of what it has not asked for itself, whose session it is.
    #[inline]
    pub(super) fn author(&self, session: SessionId, xid: Option<Xid>) -> Option<ContenderId> {
        let by = *self.service.sessions.get(&session)?;
        let Some(xid) = xid.filter(|_| self.shares_clients()) else {
            return Some(by);
        };
        let client = self.service.callers.of_sessions.get(&session)?;
        Some(self.caller(client.0 as usize, xid))
    }

    /// The contenders of a session: several tasks, if they share it.
    pub(super) fn users_of_session(&self, session: SessionId) -> Vec<ContenderId> {
        let by = self.service.sessions.get(&session).copied();
        match self.service.callers.of_sessions.get(&session) {
            Some(client) => self.users(*client),
            None => by.into_iter().collect(),
        }
    }
}
