//! The leader's checks: a request becomes a transaction, or the error that refuses it.
//!
//! Checks are made against the state as it will be when everything proposed so far is applied.

mod records;

use std::fmt::Write as _;
use std::rc::Rc;
use std::time::Duration;

use picklock_clients::zookeeper::{
    Acl, CreateMode, Data, MultiFailed, Op, Path, Permissions, Request, SessionId, Version,
    ZkError, Zxid, sequence,
};

pub(super) use records::Prep;
use records::View;

use super::acl::Identities;
use super::paths::{above, is_valid_name, is_valid_path, of_path};
use super::tree::DataTree;
use super::txn::{Created, TxnChange};

/// Checks one request.
pub(super) struct Check<'a> {
    pub(super) prep: &'a mut Prep,
    pub(super) tree: &'a DataTree,
    /// The transaction that it becomes.
    pub(super) zxid: Zxid,
    pub(super) session: SessionId,
    pub(super) who: Identities,
    /// Whether hard quotas count.
    pub(super) enforce_quota: bool,
    /// Whether there are nodes with a time to live.
    pub(super) extended_types: bool,
}

/// What is refused to every session: it is looked at before the session is.
pub(super) fn refused_to_all(request: &Request, extended_types: bool) -> Result<(), ZkError> {
    match request {
        Request::Create(node) => check_kind(node.mode(), extended_types),
        Request::Reconfig(_) => Err(ZkError::ReconfigDisabled),
        // The session is looked at with each operation.
        Request::Multi(ops) => match ops.first() {
            Some(Op::Create { mode, .. }) => check_kind(*mode, extended_types),
            Some(Op::Delete { .. } | Op::SetData { .. } | Op::Check { .. }) | None => Ok(()),
        },
        Request::Delete { .. }
        | Request::SetData { .. }
        | Request::SetAcl { .. }
        | Request::Exists { .. }
        | Request::GetData { .. }
        | Request::GetChildren { .. }
        | Request::Sync { .. }
        | Request::AddWatch { .. }
        | Request::RemoveWatches { .. }
        | Request::CheckWatches { .. }
        | Request::MultiRead(_)
        | Request::GetEphemerals { .. }
        | Request::GetAllChildrenNumber { .. }
        | Request::WhoAmI
        | Request::GetAcl { .. } => Ok(()),
    }
}

/// Whether there are such nodes.
fn check_kind(mode: CreateMode, extended_types: bool) -> Result<(), ZkError> {
    match mode.ttl() {
        Some(_) if !extended_types => Err(ZkError::Unimplemented),
        Some(ttl) if !is_valid_ttl(ttl) => Err(ZkError::BadArguments),
        Some(_) | None => Ok(()),
    }
}

impl Check<'_> {
    /// The transaction that does what a request asks.
    pub(super) fn request(&mut self, request: &Request) -> Result<TxnChange, ZkError> {
        match request {
            Request::Create(node) => {
                let data = (node.length(), || node.data());
                self.create(node.path(), data, node.mode(), &node.acl())
            }
            Request::Delete { path, version } => self.delete(path, *version),
            Request::SetData {
                path,
                data,
                version,
            } => self.set_data(path, data, *version),
            Request::SetAcl { path, acl, version } => self.set_acl(path, acl, *version),
            Request::Reconfig(_) => Err(ZkError::ReconfigDisabled),
            Request::Multi(ops) => Ok(self.multi(ops)),
            Request::Exists { .. }
            | Request::GetData { .. }
            | Request::GetChildren { .. }
            | Request::Sync { .. }
            | Request::AddWatch { .. }
            | Request::RemoveWatches { .. }
            | Request::CheckWatches { .. }
            | Request::MultiRead(_)
            | Request::GetEphemerals { .. }
            | Request::GetAllChildrenNumber { .. }
            | Request::WhoAmI
            | Request::GetAcl { .. } => Err(ZkError::Unimplemented),
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

    fn multi(&mut self, ops: &[Op]) -> TxnChange {
        let before = self.prep.len();
        let mut changes = Vec::with_capacity(ops.len());
        for op in ops {
            match self.op(op) {
                Ok(change) => changes.push(change),
                Err(error) => {
                    self.prep.truncate(before);
                    return TxnChange::MultiFailed(MultiFailed {
                        parts: ops.len() as u32,
                        place: changes.len() as u32,
                        error,
                    });
                }
            }
        }
        TxnChange::Multi(changes)
    }

    fn op(&mut self, op: &Op) -> Result<TxnChange, ZkError> {
        match op {
            Op::Create {
                path,
                data,
                mode,
                acl,
            } => {
                let data = (data.len(), || Data::clone(data));
                self.create(path, data, *mode, acl)
            }
            Op::Delete { path, version } => self.delete(path, *version),
            Op::SetData {
                path,
                data,
                version,
            } => self.set_data(path, data, *version),
            Op::Check { path, version } => {
                let view = self.asked_view(path)?;
                self.who.may(Permissions::READ, &view.acl)?;
                check_version(view.version, *version)?;
                Ok(TxnChange::Check)
            }
        }
    }

    fn create(
        &mut self,
        path: &Path,
        (length, data): (usize, impl FnOnce() -> Data),
        mode: CreateMode,
        acl: &Acl,
    ) -> Result<TxnChange, ZkError> {
        check_kind(mode, self.extended_types)?;
        // Of the clients that race to create a node, all but one come too late: little has to be looked at to tell
        // them.
        if acl.is_open() && !mode.is_sequential() && self.is_all_open() && self.will_be(path) {
            return Err(ZkError::NodeExists);
        }
        let above_path = above(path)?;
        let acl = self.who.expand(acl.clone()).map_err(of_path(path))?;
        let (parent, above) = self.shared_view(above_path).map_err(of_path(path))?;
        self.who.may(Permissions::CREATE, &above.acl)?;
        let path = if mode.is_sequential() {
            self.numbered(path, above.creates)
        } else {
            Rc::clone(path)
        };
        // A parent that is there has a valid path. The number counts: `/..` becomes a name like any other.
        let name = name_below(&path, above_path);
        if &*path != "/" && (path.starts_with("//") || !is_valid_name(name)) {
            return Err(ZkError::BadArguments);
        }
        if self.will_be(&path) {
            return Err(ZkError::NodeExists);
        }
        if above.owner != SessionId(0) {
            return Err(ZkError::NoChildrenForEphemerals);
        }
        self.check_quota(&path, 1, length)?;
        let owner = if mode.is_ephemeral() {
            self.session
        } else {
            SessionId(0)
        };
        let parent_creates = above.creates.wrapping_add(1);
        self.put(&path, Some(View::of_new(owner, acl.clone())));
        self.put(
            &parent,
            Some(View {
                creates: parent_creates,
                children: above.children + 1,
                ..above
            }),
        );
        Ok(TxnChange::Create(Box::new(Created {
            name: Rc::from(name),
            number: sequence(name),
            path,
            parent,
            data: data(),
            owner,
            acl,
            parent_creates,
            reaped: mode.into(),
        })))
    }

    /// The end of a node that goes by itself, unless it has children by now.
    pub(super) fn reap(&mut self, path: Path) -> Result<TxnChange, ZkError> {
        if !self.tree.is_reaped(&path) {
            return Err(ZkError::BadVersion);
        }
        self.delete(&path, None)
    }

    fn delete(&mut self, path: &Path, version: Option<Version>) -> Result<TxnChange, ZkError> {
        let special = ["/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"];
        if special.contains(&&**path) {
            return Err(ZkError::BadArguments);
        }
        let (parent, above) = self.shared_view(above(path)?).map_err(of_path(path))?;
        self.who.may(Permissions::DELETE, &above.acl)?;
        let view = self.view(path).map_err(of_path(path))?;
        check_version(view.version, version)?;
        if view.children > 0 {
            return Err(ZkError::NotEmpty);
        }
        self.put(path, None);
        self.put(
            &parent,
            Some(View {
                children: above.children - 1,
                ..above
            }),
        );
        Ok(TxnChange::Delete {
            path: Rc::clone(path),
            parent,
        })
    }

    fn set_data(
        &mut self,
        path: &Path,
        data: &Data,
        version: Option<Version>,
    ) -> Result<TxnChange, ZkError> {
        let view = self.asked_view(path)?;
        self.who.may(Permissions::WRITE, &view.acl)?;
        self.check_quota(path, 0, data.len())?;
        check_version(view.version, version)?;
        let version = self.next(view.version);
        self.put(path, Some(View { version, ..view }));
        Ok(TxnChange::SetData {
            path: Rc::clone(path),
            data: Data::clone(data),
            version,
        })
    }

    /// The version after this one.
    fn next(&self, version: Version) -> Version {
        match version.wrapping_add(1) {
            -1 if self.tree.version().skips_version_minus_one() => 0,
            next => next,
        }
    }

    /// Whether the quotas allow so many more nodes, and so much data at this one.
    fn check_quota(&self, path: &str, nodes: i64, bytes: usize) -> Result<(), ZkError> {
        if !self.enforce_quota {
            return Ok(());
        }
        let before = self.tree.get(path).map_or(0, |node| node.data().len());
        let more = bytes as i64 - before as i64;
        self.tree.check_quota(path, nodes, more)
    }

    fn set_acl(
        &mut self,
        path: &Path,
        acl: &Acl,
        version: Option<Version>,
    ) -> Result<TxnChange, ZkError> {
        if !is_valid_path(path) {
            return Err(ZkError::BadArguments);
        }
        let acl = self.who.expand(acl.clone())?;
        let view = self.view(path)?;
        self.who.may(Permissions::ADMIN, &view.acl)?;
        check_version(view.aversion, version)?;
        let version = self.next(view.aversion);
        // As there: until it is applied, the list that was there before is what requests are checked against.
        let view = View {
            aversion: version,
            ..view
        };
        self.put(path, Some(view));
        Ok(TxnChange::SetAcl {
            path: Rc::clone(path),
            acl,
            version,
        })
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

/// What a path adds to the one of the node above it.
fn name_below<'a>(path: &'a str, above: &str) -> &'a str {
    let slash = if above == "/" { 0 } else { above.len() };
    &path[slash + 1..]
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
