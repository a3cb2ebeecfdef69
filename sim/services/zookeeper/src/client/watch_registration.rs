//! What requests do to watches, once they are answered.

use picklock_clients::zookeeper::{Path, Reply, Request, WatchSide, Watcher, ZkError};

use super::event_thread::EventThread;
use super::watches::{WatchTable, Watches};

/// What becomes of a watch when the request is answered.
pub(super) struct Registration {
    path: Path,
    kind: Kind,
    /// There is none if all watches are taken back.
    watcher: Option<Watcher>,
}

/// The request that leaves a watch, or takes some back.
#[derive(Clone, Copy)]
enum Kind {
    Exists,
    GetData,
    GetChildren,
    AddWatch { recursive: bool },
    TakeBack { side: WatchSide, local: bool },
}

impl Registration {
    /// Without a watcher there is nobody to tell, and without the flag nothing to be told.
    #[inline(always)]
    pub(super) fn of(request: &Request, watcher: Option<Watcher>) -> Option<Self> {
        let (path, watch, kind) = match request {
            Request::Exists { path, watch } => (path, *watch, Kind::Exists),
            Request::GetData { path, watch } => (path, *watch, Kind::GetData),
            Request::GetChildren { path, watch, .. } => (path, *watch, Kind::GetChildren),
            Request::AddWatch { path, recursive } => {
                let recursive = *recursive;
                (path, true, Kind::AddWatch { recursive })
            }
            Request::RemoveWatches { path, side, local }
            | Request::CheckWatches { path, side, local } => {
                let (side, local) = (*side, *local);
                return Some(Self {
                    path: Path::clone(path),
                    kind: Kind::TakeBack { side, local },
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
        watches: &mut Watches,
        events: &mut EventThread,
        reply: Reply,
    ) -> Reply {
        if let Kind::TakeBack { side, local } = self.kind {
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
            (Kind::Exists | Kind::GetData, Ok(_)) => Some(WatchTable::Data),
            (Kind::GetChildren, Ok(_)) => Some(WatchTable::Child),
            (Kind::AddWatch { recursive: false }, Ok(_)) => Some(WatchTable::Persistent),
            (Kind::AddWatch { recursive: true }, Ok(_)) => Some(WatchTable::Recursive),
            (Kind::Exists, Err(ZkError::NoNode)) => Some(WatchTable::Exist),
            (Kind::TakeBack { .. }, _) => None,
            (Kind::Exists | Kind::GetData | Kind::GetChildren | Kind::AddWatch { .. }, Err(_)) => {
                None
            }
        }
    }
}
