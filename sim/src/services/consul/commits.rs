//! What the servers have committed, as it bears on locks and on sessions.

use std::rc::Rc;

use picklock_algorithms::Owners;
use picklock_checker::service_event::ServiceEventKind as What;
use picklock_checker::{ContenderId, LockId, Mode, Token};
use picklock_clients::consul::SessionId;
use picklock_consul::{Command, Commit};

use super::SimulatedConsul;
use crate::network::{RequestId, ServerId};
use crate::ownership::Actor;
use crate::world::moment::{Moment, MomentKind};
use crate::world::{NO_CONTENDER, SessionFact, World};

/// A hold that the keys of a lock have.
pub(crate) struct Hold {
    /// The session, or another name of the holder.
    name: Rc<str>,
    token: Token,
}

impl World<SimulatedConsul> {
    /// A leader has applied an entry of the log. A new leader may report some again.
    pub(super) fn committed(&mut self, leader: ServerId, commit: Commit) {
        if commit.index <= self.service.last_commit {
            return;
        }
        self.service.last_commit = commit.index;
        let call = commit.entry.call;
        let request = call.map(|(connection, number)| RequestId { connection, number });
        let asker = request.map(|request| self.asker(request.connection));
        let by = asker.filter(|by| *by != NO_CONTENDER);
        if let (Command::CreateSession(session, _), Some(by)) = (&commit.entry.command, by) {
            self.service.sessions.insert(*session, by);
        }
        let actor = match (asker, by, commit.ended) {
            (None, _, _) | (_, _, Some(_)) => Actor::SessionEnd,
            (_, Some(by), None) => Actor::Contender(by),
            (Some(_), None, None) => Actor::Outsider,
        };
        for (key, pair) in commit.changes {
            match pair {
                Some(pair) => self.service.keys.insert(key, pair),
                None => self.service.keys.remove(&key),
            };
        }
        self.keys_changed(by, actor);
        if let (None, Some(session)) = (request, commit.ended) {
            self.session_expired(leader, session);
        }
        if let (Some(request), Some(by)) = (request, by)
            && self.watches_moments()
            && let Some(kind) = self.kind_of(request)
        {
            self.moment(Moment::new(by.0, MomentKind::Committed(kind)).about(request));
            if self.faults_armed > 0 {
                self.await_replication(leader, None, (by.0, kind), commit.index);
            }
        }
    }

    /// The leader has ended a session by its clock.
    fn session_expired(&mut self, leader: ServerId, session: SessionId) {
        let of = self.service.sessions.get(&session).copied();
        if let Some(by) = of {
            self.session_changed(by, SessionFact::Expired);
        }
        if self.records_service_events() {
            let session = session.to_string();
            self.record_service_event(leader, What::SessionExpired { session, of });
        }
    }

    /// Keys have changed, because of this contender, or because a session is over: looks who owns which lock.
    fn keys_changed(&mut self, by: Option<ContenderId>, actor: Actor) {
        let Owners::OfHeldKeys(holders) = self.plan.recipe.ownership.owners else {
            return;
        };
        for lock in 0..self.lock_names.len() {
            let keys = &self.service.keys;
            let now = holders(&|key| keys.get(key).cloned(), &self.lock_names[lock]);
            let lock = LockId(lock as u32);
            let known = &self.service.holds[lock.0 as usize];
            let is_new = |name: &&Rc<str>| known.iter().all(|hold| hold.name != **name);
            let new: Vec<Rc<str>> = now.iter().filter(is_new).map(Rc::clone).collect();
            let actor = match actor {
                Actor::Contender(by) if !new.is_empty() => Actor::Overwriter(by),
                actor => actor,
            };
            let known = &mut self.service.holds[lock.0 as usize];
            let gone: Vec<Hold> = known
                .extract_if(.., |hold| !now.contains(&hold.name))
                .collect();
            for hold in gone {
                self.key_gone(lock, hold.token, actor);
            }
            for name in new {
                if let Some(by) = self.holder_named(&name).or(by) {
                    let token = self.granted(lock, by, Mode::Exclusive);
                    self.service.holds[lock.0 as usize].push(Hold { name, token });
                }
            }
        }
    }

    /// The contender whose session has this name.
    fn holder_named(&self, name: &str) -> Option<ContenderId> {
        let mut sessions = self.service.sessions.iter();
        let found = sessions.find(|(session, _)| *session.to_string() == *name);
        found.map(|(_, by)| *by)
    }
}
