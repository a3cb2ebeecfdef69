//! Nodes as they will be when everything proposed so far is applied.

use std::rc::Rc;

use picklock_algorithms::clients::zookeeper::{Acl, Path, SessionId, Version, ZkError, Zxid};

use super::Check;
use crate::zookeeper::few::FewMap;
use crate::zookeeper::node::Node;
use crate::zookeeper::paths::is_valid_path;
use crate::zookeeper::txn::{Txn, TxnChange};

/// What was proposed and is not applied yet.
#[derive(Clone, Debug, Default)]
pub(in crate::zookeeper) struct Prep {
    records: FewMap<Path, Record>,
    /// What a multi has overwritten, to be put back if it fails.
    pub(super) undo: Vec<(Path, Option<Record>)>,
    pub(super) in_multi: bool,
    pub(super) scratch: String,
}

/// A node as it will be.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// The last proposal that touches it.
    zxid: Zxid,
    /// `None`: it will be gone.
    view: Option<View>,
}

/// What checks ask of a node.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) version: Version,
    pub(super) aversion: Version,
    pub(super) creates: i32,
    pub(super) children: i32,
    pub(super) owner: SessionId,
    pub(super) acl: Acl,
}

impl View {
    fn of(node: &Node) -> Self {
        Self {
            version: node.version,
            aversion: node.aversion(),
            creates: node.creates,
            children: node.child_count(),
            owner: node.owner,
            acl: node.acl(),
        }
    }
}

impl Prep {
    /// Forgets what a transaction has changed: it is applied.
    pub(in crate::zookeeper) fn applied(&mut self, txn: &Txn) {
        if !self.records.is_empty() {
            self.change_applied(txn.zxid, &txn.change);
        }
    }

    fn change_applied(&mut self, zxid: Zxid, change: &TxnChange) {
        match change {
            TxnChange::Create(made) => {
                self.path_applied(zxid, &made.path);
                self.path_applied(zxid, &made.parent);
            }
            TxnChange::Delete { path, parent } => {
                self.path_applied(zxid, path);
                self.path_applied(zxid, parent);
            }
            TxnChange::SetData { path, .. } | TxnChange::SetAcl { path, .. } => {
                self.path_applied(zxid, path);
            }
            TxnChange::CloseSession { paths } => {
                for path in paths {
                    self.path_applied(zxid, path);
                }
            }
            TxnChange::Multi(changes) => {
                for change in changes {
                    self.change_applied(zxid, change);
                }
            }
            TxnChange::CreateSession { .. }
            | TxnChange::MultiFailed(_)
            | TxnChange::Check
            | TxnChange::Error(_) => {}
        }
    }

    fn path_applied(&mut self, zxid: Zxid, path: &str) {
        self.records
            .swap_remove_if(path, |record| record.zxid == zxid);
    }
}

impl Check<'_> {
    /// A node as it will be.
    pub(super) fn view(&self, path: &str) -> Result<View, ZkError> {
        if !self.prep.records.is_empty()
            && let Some(record) = self.prep.records.get(path)
        {
            return record.view.clone().ok_or(ZkError::NoNode);
        }
        self.tree.get(path).map(View::of).ok_or(ZkError::NoNode)
    }

    /// The same of a path that a client names. Of a node that is not there, the path may be none at all.
    pub(super) fn asked_view(&self, path: &str) -> Result<View, ZkError> {
        self.view(path).map_err(|error| {
            if is_valid_path(path) {
                error
            } else {
                ZkError::BadArguments
            }
        })
    }

    /// A node as it will be, and its path as others share it.
    pub(super) fn shared_view(&self, path: &str) -> Result<(Path, View), ZkError> {
        if !self.prep.records.is_empty()
            && let Some((path, record)) = self.prep.records.get_key_value(path)
        {
            let view = record.view.clone().ok_or(ZkError::NoNode)?;
            return Ok((Rc::clone(path), view));
        }
        let (path, node) = self.tree.get_shared(path).ok_or(ZkError::NoNode)?;
        Ok((Rc::clone(path), View::of(node)))
    }

    pub(super) fn put(&mut self, path: &Path, view: Option<View>) {
        let zxid = self.zxid;
        let before = self
            .prep
            .records
            .insert(Rc::clone(path), Record { zxid, view });
        if self.prep.in_multi {
            self.prep.undo.push((Rc::clone(path), before));
        }
    }

    pub(super) fn roll_back(&mut self) {
        while let Some((path, before)) = self.prep.undo.pop() {
            match before {
                Some(record) => drop(self.prep.records.insert(path, record)),
                None => drop(self.prep.records.swap_remove(&path)),
            }
        }
    }
}
