//! What a server is made of.

use std::collections::BTreeMap;

use picklock_checker::VirtualTime;
use picklock_clients::sql::Gid;
use picklock_machines::{ConnectionId, ServerId};

use crate::heap::{Heap, Redo};
use crate::ids::{Snapshot, Xid};
use crate::io::{Locked, Output};
use crate::lock_manager::LockManager;
use crate::log::{Replication, Wal};
use crate::profile::Profile;
use crate::session::{Read, Session};
use crate::settings::Settings;

/// A serializable transaction that is committed.
#[derive(Clone, Debug)]
pub struct Finished {
    pub committed: Snapshot,
    pub reads: Vec<Read>,
    pub writes: Vec<Redo>,
    /// It has read what one has written that was committed before it.
    pub has_read_old: bool,
}

/// A prepared transaction.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// What holds its locks.
    pub number: u32,
    /// The session that has prepared it, and the rows that it has locked there.
    pub by: Option<ConnectionId>,
    pub rows: Vec<Locked>,
    pub xids: Vec<Xid>,
    pub changes: Vec<Redo>,
}

/// What a server is made of.
#[derive(Clone, Debug)]
pub struct Instance {
    pub settings: Settings,
    pub profile: &'static Profile,
    pub heap: Heap,
    pub locks: LockManager,
    pub sessions: BTreeMap<ConnectionId, Session>,
    pub prepared: BTreeMap<Gid, Prepared>,
    pub serializable: Vec<Finished>,
    pub wal: Wal,
    pub replication: Replication,
    /// Sessions whose statements can go on.
    pub ready: Vec<ConnectionId>,
    /// What the clocks show, and what is to be done, while an input is handled.
    pub now: VirtualTime,
    pub wall: i64,
    pub out: Vec<Output>,
}

impl Instance {
    pub fn new(settings: Settings, primary: Option<ServerId>) -> Self {
        Self {
            profile: Profile::of(settings.dialect),
            heap: Heap::new(settings.tables.clone().into()),
            settings,
            locks: LockManager::default(),
            sessions: BTreeMap::new(),
            prepared: BTreeMap::new(),
            serializable: Vec::new(),
            wal: Wal::default(),
            replication: Replication::of(primary),
            ready: Vec::new(),
            now: VirtualTime::ZERO,
            wall: 0,
            out: Vec::new(),
        }
    }

    pub fn is_primary(&self) -> bool {
        self.replication.primary.is_none()
    }
}
