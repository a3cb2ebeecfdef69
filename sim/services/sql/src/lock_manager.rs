//! Locks that have a queue (PostgreSQL's `lock.c`, InnoDB's `lock0lock.cc`, MySQL's `mdl.cc`): one table for all of
//! them.

use std::collections::BTreeMap;
use std::rc::Rc;

use picklock_clients::sql::TableLockMode as Table;
use picklock_clients::sql::Value;

use crate::ids::{Advisory, Holder, TupleId, Xid};

/// What is locked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tag {
    /// A table.
    Relation(&'static str),
    /// A version of a row: its holder waits for the row in front of all others.
    Tuple(&'static str, TupleId),
    /// A transaction, which holds its own until it ends.
    Transaction(Xid),
    /// An advisory lock.
    Advisory(Advisory),
    /// A lock of `GET_LOCK`.
    UserLock(Rc<str>),
    /// A record of InnoDB, by its key, whether it is there or not.
    Record(&'static str, Value),
    /// What lies between the records of a table of InnoDB.
    Gap(&'static str),
}

/// How it is locked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As a table can be; all other locks but gaps use these modes, too.
    Table(Table),
    /// The keys between these two are not to be inserted.
    Gap(Option<Value>, Option<Value>),
    /// This key is about to be inserted.
    InsertIntention(Value),
}

pub const SHARE: Mode = Mode::Table(Table::Share);
pub const EXCLUSIVE: Mode = Mode::Table(Table::Exclusive);

/// Until when a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Until it is released as often as it was taken, or the session ends.
    Session,
    /// Until the transaction ends, or is rolled back to a savepoint below this level.
    Transaction(usize),
}

/// What a request comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is held.
    Granted,
    /// It is in the queue, if it may wait.
    Blocked,
    /// It would wait for one that waits for it.
    Deadlock,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub holder: Holder,
    pub mode: Mode,
    pub scope: Scope,
}

/// What one thing is locked by, and what waits for it, in order.
#[derive(Clone, Debug, Default)]
pub struct Lock {
    pub granted: Vec<Entry>,
    pub queue: Vec<Entry>,
}

/// The table of locks.
#[derive(Clone, Debug, Default)]
pub struct LockManager {
    pub locks: BTreeMap<Tag, Lock>,
    /// What each that waits is waiting for.
    pub waiting: BTreeMap<Holder, Tag>,
    /// The holders whose requests were granted after they had waited, in order.
    pub woken: Vec<(Holder, Tag)>,
}

/// Which modes of a table each mode keeps out, as bits by their places (`LockConflicts`).
const CONFLICTS: [u8; 8] = [
    0b1000_0000,
    0b1100_0000,
    0b1111_0000,
    0b1111_1000,
    0b1110_1100,
    0b1111_1100,
    0b1111_1110,
    0b1111_1111,
];

impl Mode {
    /// Whether a request has to wait for what is held, or waits in front of it.
    pub fn conflicts(&self, held: &Self) -> bool {
        match (self, held) {
            (Self::Table(asked), Self::Table(held)) => {
                CONFLICTS[*asked as usize] >> *held as usize & 1 == 1
            }
            (Self::InsertIntention(key), Self::Gap(low, high)) => {
                low.as_ref().is_none_or(|low| low < key)
                    && high.as_ref().is_none_or(|high| key < high)
            }
            (Self::Gap(..) | Self::InsertIntention(_) | Self::Table(_), _) => false,
        }
    }

    /// Whether a transaction that holds this mode of InnoDB needs no other for the mode that it asks for.
    fn covers(&self, asked: &Self) -> bool {
        self == asked || (*self == EXCLUSIVE && *asked == SHARE)
    }
}

impl Tag {
    /// Whether it is of InnoDB, where a holder that asks for more waits behind those that wait.
    fn is_of_innodb(&self) -> bool {
        matches!(self, Self::Record(..) | Self::Gap(_))
    }
}

impl Lock {
    /// Whether others hold what a request conflicts with.
    fn conflicts_with_held(&self, holder: Holder, mode: &Mode) -> bool {
        let mut others = self.granted.iter().filter(|held| held.holder != holder);
        others.any(|held| mode.conflicts(&held.mode))
    }

    fn holds(&self, holder: Holder, is_such: impl Fn(&Entry) -> bool) -> bool {
        { self.granted.iter() }.any(|held| held.holder == holder && is_such(held))
    }

    /// Where a request joins the queue (`ProcSleep`): before the first waiter that conflicts with what it holds, or at
    /// the end; `None` if the two would wait for each other.
    fn place_for(&self, holder: Holder, mode: &Mode) -> Option<usize> {
        for (place, waiter) in self.queue.iter().enumerate() {
            if self.holds(holder, |held| waiter.mode.conflicts(&held.mode)) {
                let waits_for_me = self.holds(waiter.holder, |held| mode.conflicts(&held.mode));
                return (!waits_for_me).then_some(place);
            }
        }
        Some(self.queue.len())
    }

    /// Grants what can be granted, from the front (`ProcLockWakeup`).
    fn wake(&mut self) -> Vec<Holder> {
        let (mut woken, mut place) = (Vec::new(), 0);
        while let Some(waiter) = self.queue.get(place) {
            let (ahead, mode) = (&self.queue[..place], &waiter.mode);
            let behind = ahead.iter().any(|earlier| mode.conflicts(&earlier.mode));
            if behind || self.conflicts_with_held(waiter.holder, mode) {
                place += 1;
                continue;
            }
            let entry = self.queue.remove(place);
            woken.push(entry.holder);
            self.granted.push(entry);
        }
        woken
    }
}

impl LockManager {
    /// Asks for a lock; if it is not to be had and `waits`, the request joins the queue.
    pub fn request(&mut self, tag: &Tag, entry: Entry, waits: bool) -> Outcome {
        let Entry {
            holder,
            mode,
            scope,
        } = &entry;
        let lock = self.locks.entry(tag.clone()).or_default();
        let has_it = match tag.is_of_innodb() {
            true => lock.holds(*holder, |held| held.mode.covers(mode)),
            false => lock.holds(*holder, |held| held.mode == *mode),
        };
        let is_kept = |held: &Entry| {
            tag.is_of_innodb()
                || held.mode == *mode && held.scope != Scope::Session && held.scope <= *scope
        };
        if has_it && *scope != Scope::Session && lock.holds(*holder, is_kept) {
            return Outcome::Granted;
        }
        let mut place = Some(lock.queue.len());
        // One that does not wait is refused behind any that waits, even where it could go first.
        if !has_it && waits && !tag.is_of_innodb() {
            place = lock.place_for(*holder, mode);
        }
        let ahead = &lock.queue[..place.unwrap_or_default()];
        let waits_behind = ahead.iter().any(|earlier| mode.conflicts(&earlier.mode));
        let Some(place) = place else {
            return Outcome::Deadlock;
        };
        if has_it || !(waits_behind || lock.conflicts_with_held(*holder, mode)) {
            lock.granted.push(entry);
            return Outcome::Granted;
        }
        if waits {
            self.waiting.insert(*holder, tag.clone());
            lock.queue.insert(place, entry);
        }
        Outcome::Blocked
    }

    pub fn wake(&mut self, tag: &Tag) {
        let Some(lock) = self.locks.get_mut(tag) else {
            return;
        };
        let woken = lock.wake();
        if lock.granted.is_empty() && lock.queue.is_empty() {
            self.locks.remove(tag);
        }
        for holder in &woken {
            self.waiting.remove(holder);
        }
        let woken = woken.into_iter().map(|holder| (holder, tag.clone()));
        self.woken.extend(woken);
    }

    /// Takes a request out of its queue.
    pub fn cancel(&mut self, holder: Holder) {
        let Some(tag) = self.waiting.remove(&holder) else {
            return;
        };
        if let Some(lock) = self.locks.get_mut(&tag) {
            lock.queue.retain(|waiter| waiter.holder != holder);
        }
        self.wake(&tag);
    }

    /// Releases one take of a lock. Answers whether it was held.
    pub fn release(&mut self, tag: &Tag, holder: Holder, is_such: impl Fn(&Entry) -> bool) -> bool {
        let Some(lock) = self.locks.get_mut(tag) else {
            return false;
        };
        let held = lock.granted.iter();
        let place = { held }.position(|held| held.holder == holder && is_such(held));
        if let Some(place) = place {
            lock.granted.remove(place);
            self.wake(tag);
        }
        place.is_some()
    }

    /// Releases all that a holder has of this kind. Answers how many takes were released.
    pub fn release_all(&mut self, holder: Holder, is_such: impl Fn(&Tag, &Entry) -> bool) -> u64 {
        let (mut tags, mut takes) = (Vec::new(), 0);
        for (tag, lock) in &mut self.locks {
            let before = lock.granted.len();
            { &mut lock.granted }.retain(|held| held.holder != holder || !is_such(tag, held));
            if lock.granted.len() < before {
                takes += (before - lock.granted.len()) as u64;
                tags.push(tag.clone());
            }
        }
        for tag in tags {
            self.wake(&tag);
        }
        takes
    }

    /// Gives what a transaction holds to another holder.
    pub fn transfer(&mut self, from: Holder, to: Holder) {
        let granted = self.locks.values_mut().flat_map(|lock| &mut lock.granted);
        for held in granted.filter(|held| held.holder == from && held.scope != Scope::Session) {
            held.holder = to;
        }
    }

    /// What a transaction has taken above this level belongs to it.
    pub fn lower(&mut self, holder: Holder, level: usize) {
        let granted = self.locks.values_mut().flat_map(|lock| &mut lock.granted);
        for held in granted.filter(|held| held.holder == holder) {
            held.scope = held.scope.min(Scope::Transaction(level));
        }
    }

    /// What a holder has, with the modes.
    pub fn held_by(&self, holder: Holder) -> impl Iterator<Item = (&Tag, &Entry)> {
        let all = self.locks.iter();
        all.flat_map(|(tag, lock)| lock.granted.iter().map(move |held| (tag, held)))
            .filter(move |(_, held)| held.holder == holder)
    }

    /// What holds this lock, in the order in which it was granted.
    pub fn holders(&self, tag: &Tag) -> impl Iterator<Item = Holder> {
        let granted = self
            .locks
            .get(tag)
            .into_iter()
            .flat_map(|lock| &lock.granted);
        granted.map(|held| held.holder)
    }
}
