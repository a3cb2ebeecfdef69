//! What the cluster has committed, as it bears on locks and on sessions.

use picklock_checker::service_event::ServiceEventKind as What;
use picklock_checker::{ContenderId, LockId, Token};
use picklock_clients::etcd::{Event, EventType, Request};
use picklock_clients::zookeeper::Path;
use picklock_etcd::Commit;

use super::{LOCKS, SimulatedEtcd, handle};
use crate::network::{RequestId, ServerId};
use crate::ownership::{Actor, CommittedNode};
use crate::plan::{ContenderName, LockName};
use crate::world::moment::{Moment, MomentKind};
use crate::world::{NO_CONTENDER, SessionFact, World};

impl World<SimulatedEtcd> {
    /// A leader has applied an entry of the log. A new leader may report some again.
    pub(super) fn committed(&mut self, leader: ServerId, commit: &Commit) {
        if commit.index <= self.service.last_commit {
            return;
        }
        self.service.last_commit = commit.index;
        let proposal = &commit.proposal;
        let request = proposal
            .origin
            .map(|(connection, number)| RequestId { connection, number });
        let asker = request.map(|request| self.asker(request.connection));
        let by = asker.filter(|by| *by != NO_CONTENDER);
        if commit.is_done {
            match (&proposal.request, by) {
                (Request::LeaseGrant(lease, _), Some(by)) => {
                    self.service.leases.insert(*lease, by);
                }
                (Request::LeaseRevoke(lease), None) if asker.is_none() => {
                    let of = self.service.leases.get(lease).copied();
                    if let Some(by) = of {
                        self.session_changed(by, SessionFact::Expired);
                    }
                    if self.records_service_events() {
                        let session = lease.to_string();
                        self.record_service_event(leader, What::SessionExpired { session, of });
                    }
                }
                _ => {}
            }
        }
        for event in &commit.events {
            let actor = match (asker, by) {
                (_, Some(by)) => Actor::Contender(by),
                (Some(_), None) => Actor::Outsider,
                (None, None) => Actor::SessionEnd,
            };
            self.follow(event, by, actor);
        }
        if let (Some(request), Some(by)) = (request, by)
            && self.watches_moments()
        {
            let kind = self.kind_sent(request);
            let kind = kind.unwrap_or_else(|| proposal.request.kind());
            self.moment(Moment::new(by.0, MomentKind::Committed(kind)).about(request));
            if self.faults_armed > 0 {
                self.await_replication(leader, None, (by.0, kind), commit.index as u64);
            }
        }
    }

    /// An operator deletes the first key that a contender has in any of the locks.
    pub(super) fn delete_key_of(&mut self, of: ContenderName) {
        let by = ContenderId(of.0);
        let locks = self.lock_names.iter().zip(&self.ownerships);
        let found = { locks }.find_map(|(lock, of)| Some(format!("{lock}/{}", of.node_of(by)?)));
        if let Some(key) = found {
            self.operate(Box::new(|shared| {
                Box::pin(async move {
                    let thread = shared.world.borrow().operator();
                    // What is not answered was done, or was not: an operator looks no further.
                    let _ = handle::client(&shared, thread).delete(key.as_bytes()).await;
                })
            }));
        }
    }

    /// A key has changed, because of this contender, or because a lease is over.
    fn follow(&mut self, Event { kind, kv, .. }: &Event, by: Option<ContenderId>, actor: Actor) {
        let path = String::from_utf8_lossy(&kv.key);
        let Some((lock, name)) = name_in_lock(&path) else {
            return;
        };
        if lock.0 as usize >= self.ownerships.len() {
            return;
        }
        let owner = self.service.leases.get(&kv.lease).copied();
        match kind {
            EventType::Put if kv.version == 1 => {
                if let Some(by) = owner.or(by) {
                    let path = Path::from(&*path);
                    let node = CommittedNode {
                        path: &path,
                        name,
                        number: kv.create_revision,
                        token: Token(kv.create_revision.unsigned_abs()),
                    };
                    self.node_created(lock, by, node);
                }
            }
            EventType::Put => {}
            EventType::Delete => {
                self.node_deleted(lock, name, actor);
            }
        }
    }
}

/// The lock that a key is of, and what comes behind its name.
fn name_in_lock(key: &str) -> Option<(LockId, &str)> {
    let (lock, name) = key
        .strip_prefix(LOCKS)?
        .strip_prefix('/')?
        .split_once('/')?;
    let mut letters = lock.chars();
    let letter = letters.next().filter(|_| letters.next().is_none())?;
    let LockName(index) = LockName::of_letter(letter)?;
    Some((LockId(index), name))
}
