//! The replicated database of a cell.
//!
//! A write of a master is agreed on by a majority before it is done (section 2.1), so every later master finds it: the
//! replicas of a cell have one database, and its master reads and writes it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use picklock_clients::chubby::{ContentsAndStat, SessionId};

use crate::lock::FileLock;

/// The database of a cell, as all its replicas have it.
#[derive(Clone, Debug, Default)]
pub struct Cell(pub(crate) Rc<RefCell<Database>>);

#[derive(Debug, Default)]
pub(crate) struct Database {
    pub files: BTreeMap<Rc<str>, File>,
    pub sessions: BTreeSet<SessionId>,
    last_session: u64,
    last_instance: u64,
}

/// A file. Its numbers only grow (section 2.3).
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub instance: u64,
    pub contents: Rc<str>,
    pub content_generation: u64,
    pub is_ephemeral: bool,
    pub lock: FileLock,
}

impl File {
    pub fn stat(&self) -> ContentsAndStat {
        ContentsAndStat {
            contents: Rc::clone(&self.contents),
            instance: self.instance,
            content_generation: self.content_generation,
            lock_generation: self.lock.generation,
        }
    }
}

impl Database {
    pub fn new_session(&mut self) -> SessionId {
        self.last_session += 1;
        let session = SessionId(self.last_session);
        self.sessions.insert(session);
        session
    }

    pub fn create(&mut self, name: &Rc<str>, is_ephemeral: bool) {
        self.last_instance += 1;
        let file = File {
            instance: self.last_instance,
            contents: "".into(),
            content_generation: 0,
            is_ephemeral,
            lock: FileLock::default(),
        };
        self.files.insert(Rc::clone(name), file);
    }
}
