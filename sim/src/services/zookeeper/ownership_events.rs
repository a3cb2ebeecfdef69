//! What the ensemble has committed, as it bears on the lock: who comes to own it, and who ceases to.

use picklock_checker::{ContenderId, Event, EventKind, LockId};
use picklock_clients::RequestKind;
use picklock_zookeeper::txn::{Txn, TxnChange};

use super::{LOCKS_PATH, SimulatedZooKeeper};
use crate::network::ServerId;
use crate::ownership::Actor;
use crate::plan::LockName;
use crate::world::World;
use crate::world::moment::{Moment, Occasion};

impl World<SimulatedZooKeeper> {
    /// A transaction is committed. A new leader may tell of some again.
    pub(super) fn committed(&mut self, leader: ServerId, txn: &Txn) {
        if txn.zxid.0 <= self.service.last_commit {
            return;
        }
        self.service.last_commit = txn.zxid.0;
        let before = self.recorder.history.events.len();
        let session = txn.session.unwrap_or_default();
        let by = self.author(session, txn.xid);
        self.follow(txn, by, &txn.change);
        self.queued_since(before);
        if self.watches_moments()
            && let Some(kind) = kind(&txn.change)
        {
            let kind = self.exact_kind(session, txn.xid, kind);
            self.request_moment(session, txn.xid, Occasion::Committed(kind));
            if self.faults_armed > 0
                && let Some(by) = by
            {
                self.await_replication(leader, None, (by.0, kind), txn.zxid.0);
            }
        }
    }

    fn follow(&mut self, txn: &Txn, by: Option<ContenderId>, change: &TxnChange) {
        match change {
            TxnChange::Create(created) => {
                let index = self.place_of(&created.path);
                if let (Some((lock, name)), Some(by)) = (index, by) {
                    let zxid = txn.zxid.0;
                    self.ownerships[lock].created(
                        self.now,
                        name,
                        created,
                        by,
                        zxid,
                        &mut self.recorder,
                    );
                }
            }
            TxnChange::Delete { path, .. } => {
                if let Some((lock, name)) = self.place_of(path) {
                    let actor = actor(by);
                    self.departed();
                    self.ownerships[lock].deleted(self.now, name, actor, &mut self.recorder);
                }
            }
            TxnChange::CloseSession { paths } => {
                for path in paths.iter() {
                    if let Some((lock, name)) = self.place_of(path) {
                        self.departed();
                        let recorder = &mut self.recorder;
                        self.ownerships[lock].deleted(self.now, name, Actor::SessionEnd, recorder);
                    }
                }
            }
            TxnChange::SetData { path, data, .. } => {
                if let Some((lock, _)) = self.place_of(path) {
                    let (actor, zxid) = (actor(by), txn.zxid.0);
                    let recorder = &mut self.recorder;
                    self.ownerships[lock].data_set(self.now, path, data, actor, zxid, recorder);
                }
            }
            TxnChange::Multi(changes) => {
                for change in changes.iter() {
                    self.follow(txn, by, change);
                }
            }
            TxnChange::CreateSession { .. }
            | TxnChange::SetAcl { .. }
            | TxnChange::MultiFailed(_)
            | TxnChange::Error(_)
            | TxnChange::Check => {}
        }
    }

    /// The lock that a path is in, by its index, and the name of the node there.
    fn place_of<'p>(&self, path: &'p str) -> Option<(usize, &'p str)> {
        let (lock, name) = name_in_lock(path)?;
        let lock = lock.0 as usize;
        (lock < self.ownerships.len()).then_some((lock, name))
    }

    fn departed(&mut self) {
        if self.draining {
            self.recorder.counts.departures += 1;
        }
    }

    /// Tells the faults who has come to be in the queue.
    fn queued_since(&mut self, before: usize) {
        if !self.watches_moments() {
            return;
        }
        let queued: Vec<ContenderId> = self.recorder.history.events[before..]
            .iter()
            .filter_map(|Event { what, .. }| match what {
                EventKind::Queued { by, .. } => Some(*by),
                _ => None,
            })
            .collect();
        for by in queued {
            self.moment(Moment::new(by.0, Occasion::Queued));
        }
    }
}

/// Who has changed something: a contender, or somebody else.
fn actor(by: Option<ContenderId>) -> Actor {
    by.map_or(Actor::Outsider, Actor::Contender)
}

/// The lock that a path is in, and the name of the node there.
pub(super) fn name_in_lock(path: &str) -> Option<(LockId, &str)> {
    let (lock, name) = path
        .strip_prefix(LOCKS_PATH)?
        .strip_prefix('/')?
        .split_once('/')?;
    let mut letters = lock.chars();
    let letter = letters.next().filter(|_| letters.next().is_none())?;
    let LockName(index) = LockName::of_letter(letter)?;
    Some((LockId(index), name))
}

fn kind(change: &TxnChange) -> Option<RequestKind> {
    match change {
        TxnChange::Create(_) => Some(RequestKind::Create),
        TxnChange::Delete { .. } => Some(RequestKind::Delete),
        TxnChange::SetData { .. } => Some(RequestKind::SetData),
        TxnChange::SetAcl { .. } => Some(RequestKind::SetAcl),
        TxnChange::Multi(_) => Some(RequestKind::Multi),
        TxnChange::CreateSession { .. }
        | TxnChange::CloseSession { .. }
        | TxnChange::MultiFailed(_)
        | TxnChange::Error(_)
        | TxnChange::Check => None,
    }
}
