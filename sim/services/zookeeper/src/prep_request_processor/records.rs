//! Nodes as they will be when everything proposed so far is applied.

use std::collections::VecDeque;
use std::rc::Rc;

use picklock_clients::zookeeper::{Acl, Path, SessionId, Version, ZkError, Zxid};
use picklock_machines::collections::{PathMap, is_same};

use super::Check;
use crate::node::Node;
use crate::paths::is_valid_path;
use crate::txn::Txn;

/// So many changes are looked through at most: to compare them all costs less than to look one up.
const FEW: usize = 8;

/// What was proposed and is not applied yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prep {
    /// Oldest first.
    changes: VecDeque<Change>,
    /// How many changes there were before the first of these. It counts as the next number, from one.
    gone: u64,
    /// How many of the changes are of nodes that are not open to all.
    closed: usize,
    /// The number of each path's newest change: from when there are many until there are none.
    newest: PathMap<u64>,
    pub(super) scratch: String,
}

/// A node as it will be.
#[derive(Clone, Debug)]
struct Change {
    /// The proposal that makes it so.
    zxid: Zxid,
    path: Path,
    /// `None`: it will be gone.
    view: Option<View>,
    /// The number of the same path's change before, if there was one when there were many.
    before: u64,
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

impl Change {
    /// Whether it leaves a node that is not open to all.
    fn is_closed(&self) -> bool {
        self.view.as_ref().is_some_and(|view| !view.acl.is_open())
    }
}

impl View {
    /// That of a node that is being made.
    pub(super) fn of_new(owner: SessionId, acl: Acl) -> Self {
        Self {
            version: 0,
            aversion: 0,
            creates: 0,
            children: 0,
            owner,
            acl,
        }
    }

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
    /// Forgets what a transaction has changed, and those before it: it is applied.
    pub(crate) fn applied(&mut self, txn: &Txn) {
        while let Some(oldest) = self.changes.front()
            && oldest.zxid <= txn.zxid
        {
            self.gone += 1;
            self.closed -= usize::from(oldest.is_closed());
            if !self.newest.is_empty() {
                self.unnote_oldest();
            }
            self.changes.pop_front();
        }
    }

    /// The oldest change goes, where there are many.
    #[inline(never)]
    fn unnote_oldest(&mut self) {
        if let Some(Change { path, .. }) = self.changes.front()
            && self.newest.get(path) == Some(&self.gone)
        {
            self.newest.remove(path);
        }
    }

    /// How many changes there are.
    pub(super) fn len(&self) -> usize {
        self.changes.len()
    }

    /// Forgets all changes but the first ones, as if they had never been.
    pub(super) fn truncate(&mut self, len: usize) {
        while self.changes.len() > len
            && let Some(change) = self.changes.pop_back()
        {
            self.closed -= usize::from(change.is_closed());
            let Change { path, before, .. } = change;
            if before > self.gone {
                self.newest.insert(path, before);
            } else if !self.newest.is_empty() {
                self.newest.remove(&path);
            }
        }
    }

    /// Adds a change.
    fn push(&mut self, change: Change) {
        self.closed += usize::from(change.is_closed());
        if self.changes.len() < FEW && self.newest.is_empty() {
            self.changes.push_back(change);
        } else {
            self.push_noted(change);
        }
    }

    /// Adds a change where there are many.
    #[inline(never)]
    fn push_noted(&mut self, change: Change) {
        if self.newest.is_empty() {
            for few in std::mem::take(&mut self.changes) {
                self.note(few);
            }
        }
        self.note(change);
    }

    fn note(&mut self, mut change: Change) {
        let number = self.gone + self.changes.len() as u64 + 1;
        change.before = match self.newest.get_mut(&change.path) {
            Some(known) => std::mem::replace(known, number),
            None => {
                self.newest.insert(Rc::clone(&change.path), number);
                0
            }
        };
        self.changes.push_back(change);
    }

    /// The newest change of a path.
    #[inline]
    fn newest(&self, path: &str) -> Option<&Change> {
        if self.newest.is_empty() {
            let mut newest_first = self.changes.iter().rev();
            return newest_first.find(|change| is_same(&change.path, path));
        }
        let number = self.newest.get(path)?;
        self.changes.get((number - self.gone) as usize - 1)
    }
}

impl Check<'_> {
    /// A node as it will be.
    pub(super) fn view(&self, path: &str) -> Result<View, ZkError> {
        let view = match self.prep.newest(path) {
            Some(change) => change.view.clone(),
            None => self.tree.get(path).map(View::of),
        };
        view.ok_or(ZkError::NoNode)
    }

    /// Whether a node will be there.
    #[inline]
    pub(super) fn will_be(&self, path: &str) -> bool {
        match self.prep.newest(path) {
            Some(change) => change.view.is_some(),
            None => self.tree.get(path).is_some(),
        }
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
    #[inline]
    pub(super) fn shared_view(&self, path: &str) -> Result<(Path, View), ZkError> {
        if let Some(Change { path, view, .. }) = self.prep.newest(path) {
            let view = view.clone().ok_or(ZkError::NoNode)?;
            return Ok((Rc::clone(path), view));
        }
        let (path, node) = self.tree.get_shared(path).ok_or(ZkError::NoNode)?;
        Ok((Rc::clone(path), View::of(node)))
    }

    /// Whether every client may do everything with every node, now and when everything proposed is applied, but for
    /// ZooKeeper's own. It may be so although the answer is no.
    pub(super) fn is_all_open(&self) -> bool {
        self.tree.is_all_open() && self.prep.closed == 0
    }

    /// Notes how a node will be.
    pub(super) fn put(&mut self, path: &Path, view: Option<View>) {
        self.prep.push(Change {
            zxid: self.zxid,
            path: Rc::clone(path),
            view,
            before: 0,
        });
    }
}

#[cfg(test)]
mod tests {
    use picklock_clients::zookeeper::{CreateMode, Data, Op, Request};
    use proptest::prelude::*;

    use super::*;
    use crate::acl::Identities;
    use crate::tree::DataTree;
    use crate::txn::TxnChange;
    use crate::version::Version as ServerVersion;

    fn txn(zxid: u64) -> Txn {
        Txn {
            zxid: Zxid(zxid),
            time: 0,
            session: None,
            xid: None,
            change: TxnChange::Check,
        }
    }

    /// The zxid of a path's newest change.
    fn newest(changes: &[(u64, u8)], path: u8) -> Option<Zxid> {
        let mut newest_first = changes.iter().rev();
        newest_first
            .find(|change| change.1 == path)
            .map(|change| Zxid(change.0))
    }

    proptest! {
        #[test]
        fn the_newest_change_that_is_not_applied_counts(
            steps in prop::collection::vec((0..8_u8, 0..20_u8), 1..200)
        ) {
            let mut prep = Prep::default();
            let mut model: Vec<(u64, u8)> = Vec::new();
            for (zxid, (kind, number)) in (1_u64..).zip(steps) {
                match kind {
                    0 => {
                        let applied = zxid.saturating_sub(u64::from(number));
                        prep.applied(&txn(applied));
                        model.retain(|change| change.0 > applied);
                    }
                    1 => {
                        let kept = model.len().saturating_sub(usize::from(number) / 4);
                        prep.truncate(kept);
                        model.truncate(kept);
                    }
                    _ => {
                        prep.push(Change {
                            zxid: Zxid(zxid),
                            path: Path::from(format!("/{number}")),
                            view: None,
                            before: 0,
                        });
                        model.push((zxid, number));
                    }
                }
                prop_assert_eq!(prep.len(), model.len());
                for number in 0..20 {
                    let known = prep.newest(&format!("/{number}")).map(|change| change.zxid);
                    prop_assert_eq!(known, newest(&model, number));
                }
            }
        }
    }

    /// Who may do what, open every other time.
    fn acl(number: u8) -> Acl {
        match number % 2 {
            0 => Acl::OPEN,
            _ => Acl::read_only(),
        }
    }

    /// Makes nodes, all or none.
    fn makes(number: u8, fails: bool) -> Request {
        let made = (number..number + 3).map(|number| Op::Create {
            path: Path::from(format!("/{number}")),
            data: Data::empty(),
            mode: CreateMode::Persistent,
            acl: acl(number / 2),
        });
        let check = fails.then(|| Op::Check {
            path: Path::from("/none"),
            version: None,
        });
        Request::Multi(made.chain(check).collect())
    }

    proptest! {
        #[test]
        fn all_is_open_if_no_change_that_is_not_applied_leaves_a_node_that_is_not(
            steps in prop::collection::vec((0..8_u8, 0..30_u8), 1..200)
        ) {
            let (mut prep, tree) = (Prep::default(), DataTree::new(ServerVersion::default()));
            for (zxid, (kind, number)) in (1_u64..).zip(steps) {
                let mut check = Check {
                    prep: &mut prep,
                    tree: &tree,
                    zxid: Zxid(zxid),
                    session: SessionId(1),
                    who: Identities::default(),
                    enforce_quota: false,
                    extended_types: true,
                };
                match kind {
                    0 | 1 => check.prep.applied(&txn(zxid.saturating_sub(u64::from(number) / 3))),
                    2 => check.put(&Path::from(format!("/{number}")), None),
                    3 | 4 => {
                        let view = View::of_new(SessionId(0), acl(number));
                        check.put(&Path::from(format!("/{number}")), Some(view));
                    }
                    _ => {
                        let (before, fails) = (check.prep.len(), kind == 5);
                        let change = check.request(&makes(number, fails)).unwrap();
                        let failed = matches!(change, TxnChange::MultiFailed(_));
                        prop_assert!(failed || !fails);
                        prop_assert!(!failed || check.prep.len() == before);
                    }
                }
                let views = check.prep.changes.iter().filter_map(|change| change.view.as_ref());
                let closed = views.filter(|view| !view.acl.restrictions().is_empty()).count();
                prop_assert_eq!(check.prep.closed, closed);
                prop_assert_eq!(check.is_all_open(), closed == 0);
            }
        }
    }
}
