//! The leader's checks: a request becomes a transaction, or the error that refuses it.
//!
//! Checks are made against the state as it will be when everything proposed so far is applied.

use std::fmt::Write as _;
use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::clients::zookeeper::{
    CreateMode, Data, Op, Path, Request, SessionId, Version, ZkError, Zxid,
};

use super::node::Node;
use super::paths::{above, is_valid_name, is_valid_path, of_path};
use super::tree::{DataTree, FastMap, name_of};
use super::txn::{Created, Txn, TxnChange};

/// What was proposed and is not applied yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Prep {
    records: FastMap<Path, Record>,
    /// What a multi has overwritten, to be put back if it fails.
    undo: Vec<(Path, Option<Record>)>,
    in_multi: bool,
    scratch: String,
}

/// A node as it will be.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// The last proposal that touches it.
    zxid: Zxid,
    /// `None`: it will be gone.
    view: Option<View>,
}

/// What checks ask of a node.
#[derive(Clone, Copy, Debug)]
struct View {
    version: Version,
    creates: i32,
    children: i32,
    owner: SessionId,
}

impl View {
    fn of(node: &Node) -> Self {
        Self {
            version: node.version,
            creates: node.creates,
            children: node.child_count(),
            owner: node.owner,
        }
    }
}

/// Checks one request.
pub(super) struct Check<'a> {
    pub(super) prep: &'a mut Prep,
    pub(super) tree: &'a DataTree,
    /// The transaction that it becomes.
    pub(super) zxid: Zxid,
    pub(super) session: SessionId,
}

impl Prep {
    /// Forgets what a transaction has changed: it is applied.
    pub(super) fn applied(&mut self, txn: &Txn) {
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
            TxnChange::SetData { path, .. } => self.path_applied(zxid, path),
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
            TxnChange::CreateSession { .. } | TxnChange::Check | TxnChange::Error(_) => {}
        }
    }

    fn path_applied(&mut self, zxid: Zxid, path: &str) {
        if let Some((place, _, record)) = self.records.get_full(path)
            && record.zxid == zxid
        {
            self.records.swap_remove_index(place);
        }
    }
}

impl Check<'_> {
    /// The transaction that does what a request asks.
    pub(super) fn request(&mut self, request: Request) -> Result<TxnChange, ZkError> {
        match request {
            Request::Create {
                path, data, mode, ..
            } => self.create(&path, data, mode),
            Request::Delete { path, version } => self.delete(path, version),
            Request::SetData {
                path,
                data,
                version,
            } => self.set_data(path, data, version),
            Request::Multi(ops) => {
                self.prep.in_multi = true;
                let change = self.multi(&ops);
                self.prep.in_multi = false;
                self.prep.undo.clear();
                change
            }
            Request::Exists { .. }
            | Request::GetData { .. }
            | Request::GetChildren { .. }
            | Request::Sync { .. }
            | Request::AddWatch { .. }
            | Request::RemoveWatches { .. }
            | Request::GetEphemerals { .. } => Err(ZkError::Unimplemented),
        }
    }

    /// The nodes that go with a session: those in the tree and those in the making, less those that will be gone.
    /// Sorted. They will be gone with this transaction.
    pub(super) fn close(&mut self, creating: &[Path]) -> Vec<Path> {
        let mut paths: Vec<Path> = self
            .tree
            .ephemerals(self.session)
            .iter()
            .chain(creating)
            .filter(|path| self.view(path).is_ok_and(|view| view.owner == self.session))
            .cloned()
            .collect();
        paths.sort_unstable();
        paths.dedup();
        for path in &paths {
            self.put(path, None);
        }
        paths
    }

    fn multi(&mut self, ops: &[Op]) -> Result<TxnChange, ZkError> {
        let mut changes = Vec::with_capacity(ops.len());
        for op in ops {
            match self.op(op) {
                Ok(change) => changes.push(change),
                Err(error) => {
                    self.roll_back();
                    return Err(error);
                }
            }
        }
        Ok(TxnChange::Multi(changes))
    }

    fn op(&mut self, op: &Op) -> Result<TxnChange, ZkError> {
        match op {
            Op::Create { path, data, mode } => self.create(path, Rc::clone(data), *mode),
            Op::Delete { path, version } => self.delete(Rc::clone(path), *version),
            Op::SetData {
                path,
                data,
                version,
            } => self.set_data(Rc::clone(path), Rc::clone(data), *version),
            Op::Check { path, version } => {
                check_version(self.asked_view(path)?.version, *version)?;
                Ok(TxnChange::Check)
            }
        }
    }

    fn create(&mut self, path: &Path, data: Data, mode: CreateMode) -> Result<TxnChange, ZkError> {
        if mode.ttl().is_some_and(|ttl| !is_valid_ttl(ttl)) {
            return Err(ZkError::BadArguments);
        }
        let above_path = above(path)?;
        let (parent, above) = self.shared_view(above_path).map_err(of_path(path))?;
        let path = if mode.is_sequential() {
            self.numbered(path, above.creates)
        } else {
            Rc::clone(path)
        };
        // A parent that is there has a valid path. The number counts: `/..` becomes a name like any other.
        let is_root = &*path == "/";
        if !is_root
            && (above_path.len() == 1 && path.starts_with("//") || !is_valid_name(name_of(&path)))
        {
            return Err(ZkError::BadArguments);
        }
        if self.view(&path).is_ok() {
            return Err(ZkError::NodeExists);
        }
        if above.owner != SessionId(0) {
            return Err(ZkError::NoChildrenForEphemerals);
        }
        let owner = if mode.is_ephemeral() {
            self.session
        } else {
            SessionId(0)
        };
        let parent_creates = above.creates.wrapping_add(1);
        self.put(
            &parent,
            Some(View {
                creates: parent_creates,
                children: above.children + 1,
                ..above
            }),
        );
        self.put(
            &path,
            Some(View {
                version: 0,
                creates: 0,
                children: 0,
                owner,
            }),
        );
        Ok(TxnChange::Create(Created {
            name: Rc::from(name_of(&path)),
            path,
            parent,
            data,
            owner,
            parent_creates,
            reaped: mode.into(),
        }))
    }

    /// The end of a node that goes by itself, unless it has children by now.
    pub(super) fn reap(&mut self, path: Path) -> Result<TxnChange, ZkError> {
        if !self.tree.is_reaped(&path) {
            return Err(ZkError::BadVersion);
        }
        self.delete(path, None)
    }

    fn delete(&mut self, path: Path, version: Option<Version>) -> Result<TxnChange, ZkError> {
        let special = ["/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"];
        if special.contains(&&*path) {
            return Err(ZkError::BadArguments);
        }
        let (parent, above) = self.shared_view(above(&path)?).map_err(of_path(&path))?;
        let view = self.view(&path).map_err(of_path(&path))?;
        check_version(view.version, version)?;
        if view.children > 0 {
            return Err(ZkError::NotEmpty);
        }
        self.put(
            &parent,
            Some(View {
                children: above.children - 1,
                ..above
            }),
        );
        self.put(&path, None);
        Ok(TxnChange::Delete { path, parent })
    }

    fn set_data(
        &mut self,
        path: Path,
        data: Data,
        version: Option<Version>,
    ) -> Result<TxnChange, ZkError> {
        let view = self.asked_view(&path)?;
        check_version(view.version, version)?;
        // -1 means any version, so no data ever has it.
        let version = match view.version.wrapping_add(1) {
            -1 => 0,
            next => next,
        };
        self.put(&path, Some(View { version, ..view }));
        Ok(TxnChange::SetData {
            path,
            data,
            version,
        })
    }

    /// A node as it will be.
    fn view(&self, path: &str) -> Result<View, ZkError> {
        if !self.prep.records.is_empty()
            && let Some(record) = self.prep.records.get(path)
        {
            return record.view.ok_or(ZkError::NoNode);
        }
        self.tree.get(path).map(View::of).ok_or(ZkError::NoNode)
    }

    /// The same of a path that a client names. Of a node that is not there, the path may be none at all.
    fn asked_view(&self, path: &str) -> Result<View, ZkError> {
        self.view(path).map_err(|error| {
            if is_valid_path(path) {
                error
            } else {
                ZkError::BadArguments
            }
        })
    }

    /// A node as it will be, and its path as others share it.
    fn shared_view(&self, path: &str) -> Result<(Path, View), ZkError> {
        if !self.prep.records.is_empty()
            && let Some((path, record)) = self.prep.records.get_key_value(path)
        {
            let view = record.view.ok_or(ZkError::NoNode)?;
            return Ok((Rc::clone(path), view));
        }
        let (path, node) = self.tree.get_shared(path).ok_or(ZkError::NoNode)?;
        Ok((Rc::clone(path), View::of(node)))
    }

    fn put(&mut self, path: &Path, view: Option<View>) {
        let zxid = self.zxid;
        let before = self
            .prep
            .records
            .insert(Rc::clone(path), Record { zxid, view });
        if self.prep.in_multi {
            self.prep.undo.push((Rc::clone(path), before));
        }
    }

    fn roll_back(&mut self) {
        while let Some((path, before)) = self.prep.undo.pop() {
            match before {
                Some(record) => self.prep.records.insert(path, record),
                None => self.prep.records.swap_remove(&path),
            };
        }
    }

    /// The path with the number behind it: ten digits, or, after an overflow, a minus sign and as many as it takes.
    fn numbered(&mut self, path: &str, number: i32) -> Path {
        let scratch = &mut self.prep.scratch;
        scratch.clear();
        scratch.push_str(path);
        match u32::try_from(number) {
            Ok(mut rest) => {
                let mut digits = [b'0'; 10];
                for digit in digits.iter_mut().rev() {
                    *digit += (rest % 10) as u8;
                    rest /= 10;
                }
                scratch.extend(digits.iter().map(|digit| char::from(*digit)));
            }
            Err(_) => {
                // Writing to a string does not fail.
                let _ = write!(scratch, "{number:010}");
            }
        }
        Rc::from(scratch.as_str())
    }
}

/// The longest time to live: it shares the field of the owner's session.
const LONGEST_TTL: Duration = Duration::from_millis(0xff_ffff_ffff);

fn is_valid_ttl(ttl: Duration) -> bool {
    !ttl.is_zero() && ttl <= LONGEST_TTL
}

fn check_version(version: Version, wanted: Option<Version>) -> Result<(), ZkError> {
    match wanted {
        None | Some(-1) => Ok(()),
        Some(wanted) if wanted == version => Ok(()),
        Some(_) => Err(ZkError::BadVersion),
    }
}
