//! Rows in versions, and which transaction has come to what (PostgreSQL's heap and commit log; InnoDB's undo log
//! says the same).

use std::collections::BTreeMap;
use std::rc::Rc;

use picklock_clients::sql::{RowStrength, Value};

use crate::ids::{Holder, Row, Snapshot, TupleId, Xid};
use crate::settings::Table;

/// What a transaction has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It goes on.
    InProgress(Holder),
    /// It is committed; the number counts commits.
    Committed(u64),
    /// It was rolled back.
    Aborted,
}

/// A version of a row.
#[derive(Clone, Debug)]
pub struct Tuple {
    /// The transaction that has made it.
    pub xmin: Xid,
    /// The transaction that has deleted it, or made the next version.
    pub xmax: Option<Xid>,
    /// The next version.
    pub next: Option<TupleId>,
    /// The transactions that have locked it.
    pub lockers: Vec<(Xid, RowStrength)>,
    pub row: Row,
}

/// Whether a version can be locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lockable {
    /// It can.
    Free,
    /// Not before this transaction has ended.
    Blocked(Xid),
    /// There is a later version.
    Updated(TupleId),
    /// The row is not there any more.
    Deleted,
}

/// What there is of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfKey {
    /// No row.
    Nothing,
    /// That depends on what this transaction comes to.
    Unsettled(Xid),
    /// A row.
    Live(TupleId),
}

/// A change of a row, by places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redo {
    pub xid: Xid,
    pub table: usize,
    pub old: Option<TupleId>,
    pub new: Option<(TupleId, Row)>,
}

/// All tables.
#[derive(Clone, Debug)]
pub struct Heap {
    pub tables: Rc<[Table]>,
    tuples: Vec<BTreeMap<TupleId, Tuple>>,
    clog: BTreeMap<Xid, Status>,
    next_tuple: u64,
    next_xid: u64,
    /// How many transactions are committed.
    pub commits: Snapshot,
}

/// Whether two locks of a row conflict.
fn conflict(one: RowStrength, other: RowStrength) -> bool {
    one as u8 + other as u8 >= RowStrength::Update as u8
}

impl Heap {
    /// The tables with the rows that they have at first.
    pub fn new(tables: Rc<[Table]>) -> Self {
        let mut heap = Self {
            tuples: vec![BTreeMap::new(); tables.len()],
            tables: Rc::clone(&tables),
            clog: BTreeMap::from([(Xid(0), Status::Committed(0))]),
            next_tuple: 1,
            next_xid: 1,
            commits: 0,
        };
        for (table, rows) in tables.iter().enumerate() {
            for row in &rows.rows {
                let id = heap.new_tuple_id();
                heap.insert(Xid(0), table, id, Rc::clone(row));
            }
        }
        heap
    }

    pub fn begin(&mut self, holder: Holder) -> Xid {
        let xid = Xid(self.next_xid);
        self.set_in_progress(xid, holder);
        xid
    }

    pub fn set_in_progress(&mut self, xid: Xid, holder: Holder) {
        self.next_xid = self.next_xid.max(xid.0 + 1);
        self.clog.insert(xid, Status::InProgress(holder));
    }

    /// These end, all at once: none sees one without the others.
    pub fn commit(&mut self, xids: &[Xid]) {
        self.commits += 1;
        for xid in xids {
            self.clog.insert(*xid, Status::Committed(self.commits));
        }
    }

    pub fn abort(&mut self, xid: Xid) {
        self.clog.insert(xid, Status::Aborted);
    }

    pub fn status(&self, xid: Xid) -> Status {
        self.clog.get(&xid).copied().unwrap_or(Status::Aborted)
    }

    pub fn table(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|table| table.name == name)
    }

    pub fn row(&self, table: usize, id: TupleId) -> Option<Row> {
        Some(Rc::clone(&self.tuples[table].get(&id)?.row))
    }

    pub fn new_tuple_id(&mut self) -> TupleId {
        self.next_tuple += 1;
        TupleId(self.next_tuple)
    }

    pub fn insert(&mut self, xmin: Xid, table: usize, id: TupleId, row: Row) {
        self.next_tuple = self.next_tuple.max(id.0);
        let tuple = Tuple {
            xmin,
            xmax: None,
            next: None,
            lockers: Vec::new(),
            row,
        };
        self.tuples[table].insert(id, tuple);
    }

    /// Repeats a change, or does it.
    pub fn apply(&mut self, change: &Redo) {
        let &Redo {
            xid,
            table,
            old,
            ref new,
        } = change;
        let mut lockers = Vec::new();
        if let Some(old) = old.and_then(|old| self.tuples[table].get_mut(&old)) {
            (old.xmax, old.next) = (Some(xid), new.as_ref().map(|(id, _)| *id));
            lockers.clone_from(&old.lockers);
        }
        if let Some((id, row)) = new {
            self.insert(xid, table, *id, Rc::clone(row));
            // A transaction that has locked the version before has locked the row.
            self.tuples[table]
                .entry(*id)
                .and_modify(|tuple| tuple.lockers = lockers);
        }
    }

    /// Locks a version, and those that come after it.
    pub fn add_locker(&mut self, table: usize, id: TupleId, by: (Xid, RowStrength)) {
        let mut at = Some(id);
        while let Some(tuple) = at.and_then(|at| self.tuples[table].get_mut(&at)) {
            if !tuple.lockers.contains(&by) {
                tuple.lockers.push(by);
            }
            at = tuple.next;
        }
    }

    /// What these transactions have locked.
    pub fn lockers_of(&self, xids: &[Xid]) -> Vec<(usize, TupleId, (Xid, RowStrength))> {
        let tables = self.tuples.iter().enumerate();
        let tuples =
            tables.flat_map(|(table, tuples)| tuples.iter().map(move |tuple| (table, tuple)));
        let all = tuples.flat_map(|(table, (id, tuple))| {
            tuple
                .lockers
                .iter()
                .map(move |locker| (table, *id, *locker))
        });
        all.filter(|(_, _, (xid, _))| xids.contains(xid)).collect()
    }

    fn is_over_for(&self, xid: Xid, me: Holder, snapshot: Snapshot) -> bool {
        match self.status(xid) {
            Status::InProgress(holder) => holder == me,
            Status::Committed(at) => at <= snapshot,
            Status::Aborted => false,
        }
    }

    pub fn is_visible(&self, table: usize, id: TupleId, me: Holder, snapshot: Snapshot) -> bool {
        let Some(tuple) = self.tuples[table].get(&id) else {
            return false;
        };
        let is_over = |xmax| self.is_over_for(xmax, me, snapshot);
        // InnoDB lets a transaction write on what is newer than its snapshot: it sees its own version then.
        let mut later =
            std::iter::successors(Some(tuple), |tuple| self.tuples[table].get(&tuple.next?));
        self.is_over_for(tuple.xmin, me, snapshot)
            && !later.any(|version| version.xmax.is_some_and(is_over))
    }

    /// The versions that a snapshot sees, in the order in which they lie there.
    pub fn visible(&self, table: usize, me: Holder, snapshot: Snapshot) -> Vec<TupleId> {
        let all = self.tuples[table].keys().copied();
        all.filter(|id| self.is_visible(table, *id, me, snapshot))
            .collect()
    }

    /// Whether a transaction has inserted the key of a version again, which is one record in InnoDB.
    pub fn is_reinserted(&self, table: usize, id: TupleId, me: Holder) -> bool {
        let tuples = &self.tuples[table];
        let key = tuples.get(&id).and_then(|tuple| tuple.row.first());
        let mut later = tuples.range(id..).skip(1).map(|(_, tuple)| tuple);
        later.any(|tuple| {
            tuple.row.first() == key && self.status(tuple.xmin) == Status::InProgress(me)
        })
    }

    /// Whether a transaction that changed a version has been rolled back, or there is none.
    fn is_undone(&self, xid: Option<Xid>) -> bool {
        xid.is_none_or(|xid| self.status(xid) == Status::Aborted)
    }

    fn key_is_changed(&self, table: usize, tuple: &Tuple) -> bool {
        let next = tuple.next.and_then(|next| self.tuples[table].get(&next));
        next.is_none_or(|next| next.row.first() != tuple.row.first())
    }

    /// Whether a version can be locked with this strength.
    pub fn lockable(
        &self,
        table: usize,
        id: TupleId,
        me: Holder,
        strength: RowStrength,
    ) -> Lockable {
        let Some(tuple) = self.tuples[table].get(&id) else {
            return Lockable::Deleted;
        };
        let blocks = |xid: Xid, other| match self.status(xid) {
            Status::InProgress(holder) => holder != me && conflict(strength, other),
            Status::Committed(_) | Status::Aborted => false,
        };
        if let Some(xmax) = tuple.xmax.filter(|xmax| !self.is_undone(Some(*xmax))) {
            let changed = match self.key_is_changed(table, tuple) {
                true => RowStrength::Update,
                false => RowStrength::NoKeyUpdate,
            };
            let later = tuple.next.map_or(Lockable::Deleted, Lockable::Updated);
            match self.status(xmax) {
                // A key share of a row that keeps its key is one of all its versions.
                Status::InProgress(holder) if holder == me => return later,
                _ if !conflict(strength, changed) => {
                    let next = tuple.next.unwrap_or(id);
                    return self.lockable(table, next, me, strength);
                }
                Status::InProgress(_) => return Lockable::Blocked(xmax),
                Status::Committed(_) | Status::Aborted => return later,
            }
        }
        let locker = { tuple.lockers.iter() }.find(|(xid, held)| blocks(*xid, *held));
        locker.map_or(Lockable::Free, |(xid, _)| Lockable::Blocked(*xid))
    }

    /// What there is of a key, whatever a snapshot sees (`SnapshotDirty`).
    pub fn of_key(&self, table: usize, key: &Value, me: Holder) -> OfKey {
        for (id, tuple) in &self.tuples[table] {
            if tuple.row.first() != Some(key) || self.is_undone(Some(tuple.xmin)) {
                continue;
            }
            let unsettled = |xid: Xid| match self.status(xid) {
                Status::InProgress(holder) => holder != me,
                Status::Committed(_) | Status::Aborted => false,
            };
            if unsettled(tuple.xmin) {
                return OfKey::Unsettled(tuple.xmin);
            }
            match tuple.xmax {
                Some(xmax) if unsettled(xmax) => return OfKey::Unsettled(xmax),
                xmax if self.is_undone(xmax) => return OfKey::Live(*id),
                _ => {}
            }
        }
        OfKey::Nothing
    }

    /// The records that are there, in the order of their keys: rows, and those whose deletion may yet be undone, or
    /// is not seen by all.
    pub fn records(&self, table: usize, oldest: Snapshot) -> BTreeMap<Value, TupleId> {
        let is_there = |tuple: &Tuple| {
            let is_gone = |xmax| matches!(self.status(xmax), Status::Committed(at) if at <= oldest);
            !self.is_undone(Some(tuple.xmin)) && !tuple.xmax.is_some_and(is_gone)
        };
        let there = self.tuples[table]
            .iter()
            .filter(|(_, tuple)| is_there(tuple));
        there
            .filter_map(|(id, tuple)| Some((tuple.row.first()?.clone(), *id)))
            .collect()
    }

    /// Forgets versions that none can see any more.
    pub fn prune(&mut self, oldest: Snapshot) {
        for table in 0..self.tuples.len() {
            if self.tuples[table].len() > 64 {
                let tuples = std::mem::take(&mut self.tuples[table]);
                let is_needed = |tuple: &Tuple| {
                    let is_gone = |xmax: Xid| matches!(self.status(xmax), Status::Committed(at) if at <= oldest);
                    !self.is_undone(Some(tuple.xmin)) && !tuple.xmax.is_some_and(is_gone)
                };
                let needed = tuples
                    .into_iter()
                    .filter(|(_, tuple)| is_needed(tuple))
                    .collect();
                self.tuples[table] = needed;
            }
        }
    }
}
