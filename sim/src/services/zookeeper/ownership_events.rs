//! What the ensemble has committed, as it bears on the lock: who comes to own it, and who ceases to.

use picklock_checker::{ContenderId, LockId, Token};
use picklock_clients::RequestKind;
use picklock_zookeeper::txn::{Txn, TxnChange};

use super::{LOCKS_PATH, SimulatedZooKeeper};
use crate::network::ServerId;
use crate::ownership::{Actor, CommittedNode};
use crate::plan::LockName;
use crate::world::World;
use crate::world::moment::MomentKind;

impl World<SimulatedZooKeeper> {
    /// A transaction is committed. A new leader may report some again.
    pub(super) fn committed(&mut self, leader: ServerId, txn: &Txn) {
        if txn.zxid.0 <= self.service.last_commit {
            return;
        }
        self.service.last_commit = txn.zxid.0;
        let session = txn.session.unwrap_or_default();
        let by = self.author(session, txn.xid);
        self.follow(txn, by, &txn.change);
        if self.watches_moments()
            && let Some(kind) = kind(&txn.change)
        {
            let kind = self.exact_kind(session, txn.xid, kind);
            self.request_moment(session, txn.xid, MomentKind::Committed(kind));
            if self.faults_armed > 0
                && let Some(by) = by
            {
                self.await_replication(leader, None, (by.0, kind), txn.zxid.0);
            }
        }
    }

    fn follow(&mut self, txn: &Txn, by: Option<ContenderId>, change: &TxnChange) {
        let token = Token(txn.zxid.0);
        match change {
            TxnChange::Create(created) => {
                if let (Some((lock, name)), Some(by)) = (self.place_of(&created.path), by) {
                    let node = CommittedNode {
                        path: &created.path,
                        name,
                        number: created.number,
                        token,
                    };
                    self.node_created(lock, by, node);
                }
            }
            TxnChange::Delete { path, .. } => {
                if let Some((lock, name)) = self.place_of(path) {
                    self.node_deleted(lock, name, actor(by));
                }
            }
            TxnChange::CloseSession { paths } => {
                for path in paths.iter() {
                    if let Some((lock, name)) = self.place_of(path) {
                        self.node_deleted(lock, name, Actor::SessionEnd);
                    }
                }
            }
            TxnChange::SetData { path, data, .. } => {
                if let Some((lock, _)) = self.place_of(path) {
                    self.node_set(lock, (path, data), actor(by), token);
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

    /// The lock that a path is in, and the name of the node there.
    fn place_of<'p>(&self, path: &'p str) -> Option<(LockId, &'p str)> {
        name_in_lock(path).filter(|(lock, _)| (lock.0 as usize) < self.ownerships.len())
    }
}

/// The actor of a change: a contender, or an operator.
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
