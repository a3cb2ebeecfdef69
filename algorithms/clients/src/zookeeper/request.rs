//! The requests of a client.

use std::rc::Rc;

use super::{Acl, CreateMode, Data, NewNode, Op, Path, ReadOp, Reconfiguration, Version};
use crate::RequestKind;

/// A request of a client.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Make a node.
    Create(NewNode),
    /// Delete a node.
    Delete {
        /// The path of the node.
        path: Path,
        /// Of which data version; `None` for any.
        version: Option<Version>,
    },
    /// Ask for the stat of a node.
    Exists {
        /// The path of the node.
        path: Path,
        /// Whether to leave a watch, also if there is no such node.
        watch: bool,
    },
    /// Ask for the data of a node.
    GetData {
        /// The path of the node.
        path: Path,
        /// Whether to leave a watch.
        watch: bool,
    },
    /// Ask for the children of a node.
    GetChildren {
        /// The path of the node.
        path: Path,
        /// Whether to leave a watch.
        watch: bool,
        /// Whether to answer the stat of the node too, of the same moment: `getChildren2`.
        with_stat: bool,
    },
    /// Ask how many nodes there are below a node, at any depth.
    GetAllChildrenNumber {
        /// The path of the node.
        path: Path,
    },
    /// Ask for the client's identities to the server.
    WhoAmI,
    /// Change the list of servers, if that is enabled: here it never is.
    Reconfig(Rc<Reconfiguration>),
    /// Set the data of a node.
    SetData {
        /// The path of the node.
        path: Path,
        /// To what.
        data: Data,
        /// Of which data version; `None` for any.
        version: Option<Version>,
    },
    /// Catch up with the leader.
    Sync {
        /// The path that is named in the request; it does not matter.
        path: Path,
    },
    /// All or nothing.
    Multi(Rc<[Op]>),
    /// Several reads at one moment, each with an answer of its own.
    MultiRead(Rc<[ReadOp]>),
    /// Leave a watch that stays when it has fired.
    AddWatch {
        /// On which node, whether it is there or not.
        path: Path,
        /// Whether to watch all that is below it, too; then changes of lists of children cause no events.
        recursive: bool,
    },
    /// Take back all watches of this connection.
    RemoveWatches {
        /// On which node.
        path: Path,
        /// On which side of it.
        side: WatchSide,
        /// Whether the client forgets its watchers even if the server does not do it. No server is told.
        local: bool,
    },
    /// Ask whether this connection has a watch, and take back one watcher of it at the client: the server goes on
    /// telling.
    CheckWatches {
        /// On which node.
        path: Path,
        /// On which side of it.
        side: WatchSide,
        /// Whether the client forgets the watcher even if the server knows of no watch. No server is told.
        local: bool,
    },
    /// Ask for the nodes that go with the session.
    GetEphemerals {
        /// Only those whose path begins so; all, if this is empty or the root.
        prefix: Path,
    },
    /// Ask who may do what with a node.
    GetAcl {
        /// The path of the node.
        path: Path,
    },
    /// Say who may do what with a node.
    SetAcl {
        /// The path of the node.
        path: Path,
        /// Who may do what.
        acl: Acl,
        /// Of which version of its list; `None` for any.
        version: Option<Version>,
    },
}

/// A side of a node that can be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchSide {
    /// Its children.
    Children,
    /// Its data, and its making and deletion.
    Data,
    /// Both.
    Any,
}

impl Request {
    /// Make a node of this kind with this data, and answer its stat too if `with_stat` is set.
    #[inline]
    pub fn create(
        path: Path,
        data: impl Into<Data>,
        mode: CreateMode,
        acl: Acl,
        with_stat: bool,
    ) -> Self {
        Self::Create(NewNode::new(path, data, mode, acl, with_stat))
    }

    /// Its kind.
    pub fn kind(&self) -> RequestKind {
        match self {
            Self::Create(node) => match node.mode() {
                CreateMode::Container => RequestKind::CreateContainer,
                CreateMode::PersistentWithTtl(_) | CreateMode::PersistentSequentialWithTtl(_) => {
                    RequestKind::CreateTtl
                }
                _ if node.with_stat() => RequestKind::Create2,
                _ => RequestKind::Create,
            },
            Self::Delete { .. } => RequestKind::Delete,
            Self::Exists { .. } => RequestKind::Exists,
            Self::GetData { .. } => RequestKind::GetData,
            Self::GetChildren { with_stat, .. } => match with_stat {
                true => RequestKind::GetChildren2,
                false => RequestKind::GetChildren,
            },
            Self::SetData { .. } => RequestKind::SetData,
            Self::Sync { .. } => RequestKind::Sync,
            Self::Multi(_) => RequestKind::Multi,
            Self::MultiRead(_) => RequestKind::MultiRead,
            Self::AddWatch { .. } => RequestKind::AddWatch,
            Self::RemoveWatches { .. } => RequestKind::RemoveWatches,
            Self::CheckWatches { .. } => RequestKind::CheckWatches,
            Self::GetEphemerals { .. } => RequestKind::GetEphemerals,
            Self::GetAcl { .. } => RequestKind::GetAcl,
            Self::SetAcl { .. } => RequestKind::SetAcl,
            Self::GetAllChildrenNumber { .. } => RequestKind::GetAllChildrenNumber,
            Self::WhoAmI => RequestKind::WhoAmI,
            Self::Reconfig(_) => RequestKind::Reconfig,
        }
    }

    /// Whether it changes the tree, and so needs the leader.
    pub fn is_write(&self) -> bool {
        match self {
            Self::Create(_)
            | Self::Delete { .. }
            | Self::SetData { .. }
            | Self::SetAcl { .. }
            | Self::Reconfig(_)
            | Self::Multi(_) => true,
            Self::Exists { .. }
            | Self::GetData { .. }
            | Self::GetChildren { .. }
            | Self::Sync { .. }
            | Self::MultiRead(_)
            | Self::AddWatch { .. }
            | Self::RemoveWatches { .. }
            | Self::CheckWatches { .. }
            | Self::GetEphemerals { .. }
            | Self::GetAllChildrenNumber { .. }
            | Self::WhoAmI
            | Self::GetAcl { .. } => false,
        }
    }

    /// Whether a server refuses to read it, because it is longer than its `jute.maxbuffer`.
    pub fn is_too_long(&self, most: u32) -> bool {
        // Whatever else it carries, and however its path is wrapped, it is not longer than this.
        const WRAPPING: usize = 0x100;
        let is_short = match self {
            Self::Create(node) => node.is_plain() && node.path().len() + WRAPPING < most as usize,
            Self::Exists { path, .. }
            | Self::Delete { path, .. }
            | Self::GetData { path, .. }
            | Self::GetChildren { path, .. } => path.len() + WRAPPING < most as usize,
            Self::WhoAmI => true,
            Self::SetData { .. }
            | Self::Sync { .. }
            | Self::GetAllChildrenNumber { .. }
            | Self::Reconfig(_)
            | Self::GetEphemerals { .. }
            | Self::GetAcl { .. }
            | Self::SetAcl { .. }
            | Self::AddWatch { .. }
            | Self::RemoveWatches { .. }
            | Self::CheckWatches { .. }
            | Self::Multi(_)
            | Self::MultiRead(_) => false,
        };
        !is_short && self.wire_bytes() - 4 > u64::from(most)
    }

    /// Its length on the wire in bytes: the length word, xid, type, and fields as jute encodes them.
    pub fn wire_bytes(&self) -> u64 {
        /// `int` length + bytes.
        fn text(path: &str) -> u64 {
            4 + path.len() as u64
        }
        /// The flags, and the time to live if there is one.
        fn flags(mode: CreateMode) -> u64 {
            if mode.ttl().is_some() { 12 } else { 4 }
        }
        fn op(op: &Op) -> u64 {
            9 + match op {
                Op::Create {
                    path,
                    data,
                    mode,
                    acl,
                } => text(path) + 4 + data.len() as u64 + acl.wire_bytes() + flags(*mode),
                Op::Delete { path, .. } | Op::Check { path, .. } => text(path) + 4,
                Op::SetData { path, data, .. } => text(path) + 4 + data.len() as u64 + 4,
            }
        }
        12 + match self {
            Self::Create(node) => node.wire_bytes(),
            Self::Delete { path, .. } => text(path) + 4,
            Self::Exists { path, .. }
            | Self::GetData { path, .. }
            | Self::GetChildren { path, .. } => text(path) + 1,
            Self::SetData { path, data, .. } => text(path) + 4 + data.len() as u64 + 4,
            Self::Sync { path }
            | Self::GetAllChildrenNumber { path }
            | Self::GetEphemerals { prefix: path }
            | Self::GetAcl { path } => text(path),
            Self::WhoAmI => 0,
            Self::Reconfig(asked) => {
                let lists = [&asked.joining, &asked.leaving, &asked.members];
                let length = |list: &Option<Rc<str>>| list.as_deref().map_or(4, text);
                lists.into_iter().map(length).sum::<u64>() + 8
            }
            Self::SetAcl { path, acl, .. } => text(path) + acl.wire_bytes() + 4,
            Self::AddWatch { path, .. }
            | Self::RemoveWatches { path, .. }
            | Self::CheckWatches { path, .. } => text(path) + 4,
            Self::Multi(ops) => 9 + ops.iter().map(op).sum::<u64>(),
            Self::MultiRead(ops) => 9 + ops.iter().map(|op| 9 + text(op.path()) + 1).sum::<u64>(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServiceKind;

    fn path() -> Path {
        Rc::from("/a")
    }

    /// One that changes something, of each kind that does.
    fn writes() -> [Request; 9] {
        let ttl = CreateMode::PersistentWithTtl(std::time::Duration::from_secs(1));
        [
            Request::create(path(), b"", CreateMode::Persistent, Acl::OPEN, false),
            Request::create(path(), b"", CreateMode::Persistent, Acl::OPEN, true),
            Request::create(path(), b"", CreateMode::Container, Acl::OPEN, true),
            Request::create(path(), b"", ttl, Acl::OPEN, true),
            Request::Delete {
                path: path(),
                version: None,
            },
            Request::SetData {
                path: path(),
                data: Data::empty(),
                version: None,
            },
            Request::SetAcl {
                path: path(),
                acl: Acl::OPEN,
                version: None,
            },
            Request::Multi(Rc::from([])),
            Request::Reconfig(Rc::default()),
        ]
    }

    /// One of each other kind.
    fn others() -> [Request; 13] {
        let (path, watch, local) = (path(), false, false);
        let [one, two, three, four] = std::array::from_fn(|_| Rc::clone(&path));
        let [five, six, seven, eight] = std::array::from_fn(|_| Rc::clone(&path));
        let side = WatchSide::Any;
        [
            Request::Exists { path: one, watch },
            Request::GetData { path: two, watch },
            Request::GetChildren {
                path: three,
                watch,
                with_stat: false,
            },
            Request::GetChildren {
                path: path.clone(),
                watch,
                with_stat: true,
            },
            Request::Sync { path: four },
            Request::MultiRead(Rc::from([])),
            Request::AddWatch {
                path: five,
                recursive: false,
            },
            Request::RemoveWatches {
                path: six,
                side,
                local,
            },
            Request::CheckWatches {
                path: seven,
                side,
                local,
            },
            Request::GetEphemerals { prefix: eight },
            Request::GetAllChildrenNumber { path: path.clone() },
            Request::WhoAmI,
            Request::GetAcl { path },
        ]
    }

    #[test]
    fn a_request_changes_something_if_its_kind_does_and_only_then() {
        let requests: Vec<Request> = writes().into_iter().chain(others()).collect();
        for kind in RequestKind::of_service(ServiceKind::ZooKeeper) {
            assert!(
                requests.iter().any(|request| request.kind() == kind),
                "{kind:?}"
            );
        }
        for request in &requests {
            assert_eq!(request.is_write(), request.kind().writes(), "{request:?}");
        }
        assert!(writes().iter().all(Request::is_write));
    }
}
