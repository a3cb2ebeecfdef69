//! Watches that a request registers or removes when it is answered.

use picklock_clients::zookeeper::{Path, Reply, Request, WatchSide, Watcher, ZkError};

use super::event_thread::EventThread;
use super::watches::{ClientWatchManager, WatchTable};

/// What becomes of a watch when the request is answered.
pub(super) struct Registration {
    path: Path,
    kind: RegistrationKind,
    /// There is none if all watches are taken back.
    watcher: Option<Watcher>,
}

/// The request that leaves a watch, or takes some back.
#[derive(Clone, Copy)]
enum RegistrationKind {
    Exists,
    GetData,
    GetChildren,
    AddWatch { recursive: bool },
    TakeBack { side: WatchSide, local: bool },
}

impl Registration {
    /// None without a watcher, or without the flag that asks for a watch.
    #[inline(always)]
    pub(super) fn of(request: &Request, watcher: Option<Watcher>) -> Option<Self> {
        let (path, watch, kind) = match request {
            Request::Exists { path, watch } => (path, *watch, RegistrationKind::Exists),
            Request::GetData { path, watch } => (path, *watch, RegistrationKind::GetData),
            Request::GetChildren { path, watch, .. } => {
                (path, *watch, RegistrationKind::GetChildren)
            }
            Request::AddWatch { path, recursive } => {
                let recursive = *recursive;
                (path, true, RegistrationKind::AddWatch { recursive })
            }
            Request::RemoveWatches { path, side, local }
            | Request::CheckWatches { path, side, local } => {
                let (side, local) = (*side, *local);
                return Some(Self {
                    path: Path::clone(path),
                    kind: RegistrationKind::TakeBack { side, local },
                    watcher,
                });
            }
            Request::Create(_)
            | Request::Delete { .. }
            | Request::SetData { .. }
            | Request::Sync { .. }
            | Request::GetEphemerals { .. }
            | Request::GetAllChildrenNumber { .. }
            | Request::WhoAmI
            | Request::Reconfig(_)
            | Request::GetAcl { .. }
            | Request::SetAcl { .. }
            | Request::Multi(_)
            | Request::MultiRead(_) => return None,
        };
        let watcher = watcher.filter(|_| watch)?;
        Some(Self {
            path: Path::clone(path),
            kind,
            watcher: Some(watcher),
        })
    }

    /// Registers the watcher, or takes some back. Answers what the application is told.
    #[inline(always)]
    pub(super) fn settle(
        self,
        watches: &mut ClientWatchManager,
        events: &mut EventThread,
        reply: Reply,
    ) -> Reply {
        if let RegistrationKind::TakeBack { side, local } = self.kind {
            let (one, how) = (self.watcher.as_ref(), (side, local));
            return watches.take_back(&self.path, one, how, reply, events);
        }
        if let (Some(table), Some(watcher)) = (self.table(&reply), self.watcher) {
            watches.register(self.path, table, watcher);
        }
        reply
    }

    /// The table that the answer puts it in: only `exists` watches what is not there.
    #[inline]
    fn table(&self, reply: &Reply) -> Option<WatchTable> {
        match (self.kind, reply) {
            (RegistrationKind::Exists | RegistrationKind::GetData, Ok(_)) => Some(WatchTable::Data),
            (RegistrationKind::GetChildren, Ok(_)) => Some(WatchTable::Child),
            (RegistrationKind::AddWatch { recursive: false }, Ok(_)) => {
                Some(WatchTable::Persistent)
            }
            (RegistrationKind::AddWatch { recursive: true }, Ok(_)) => Some(WatchTable::Recursive),
            (RegistrationKind::Exists, Err(ZkError::NoNode)) => Some(WatchTable::Exist),
            (RegistrationKind::TakeBack { .. }, _) => None,
            (
                RegistrationKind::Exists
                | RegistrationKind::GetData
                | RegistrationKind::GetChildren
                | RegistrationKind::AddWatch { .. },
                Err(_),
            ) => None,
        }
    }
}
