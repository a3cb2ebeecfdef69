//! Who wants to be told of what.

use std::cmp::Ordering;
use std::ops::{Range, RangeInclusive};

use picklock_algorithms::clients::zookeeper::{
    EventKind, Path, SessionState, WatchedEvent, Watcher, Zxid,
};

use crate::engine::ahead::ask_for;
use crate::zookeeper::messages::WatchTables;

/// From this many bytes of paths on, a message with watches is full.
const BATCH_BYTES: usize = 128 * 1024;

/// What is watched of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WatchTable {
    /// Its data, and that it is there.
    Data,
    /// That it will be made.
    Exist,
    /// Its children.
    Child,
}

struct Entry {
    path: Path,
    table: WatchTable,
    /// The watcher object was known already when this entry was made.
    repeat: bool,
    watcher: Watcher,
}

/// What a client keeps of a watch.
#[cfg(test)]
pub(super) const ENTRY_BYTES: usize = size_of::<Entry>();

/// The watches of a client.
#[derive(Default)]
pub(super) struct Watches {
    /// Sorted by path and table, so that what belongs to one notification stands together.
    entries: Vec<Entry>,
    /// Told of changes of the session's state only.
    session: Vec<Watcher>,
}

impl Watches {
    /// Registers a watcher object; to do so twice is to do so once.
    pub(super) fn register(&mut self, path: Path, table: WatchTable, watcher: Watcher) {
        let range = self.range(&path, table..=table);
        let known = |entry: &Entry| entry.watcher.is(&watcher);
        if self.entries[range.clone()].iter().any(known) {
            return;
        }
        let repeat = self.entries.iter().any(known) || self.session.iter().any(|w| w.is(&watcher));
        let entry = Entry {
            path,
            table,
            repeat,
            watcher,
        };
        if self.entries.capacity() == 0 {
            self.entries.reserve_exact(1);
        }
        self.entries.insert(range.end, entry);
    }

    /// Registers a watcher object for the session alone.
    pub(super) fn watch_session(&mut self, watcher: Watcher) {
        if self.session.iter().any(|other| other.is(&watcher)) {
            return;
        }
        for entry in &mut self.entries {
            entry.repeat |= entry.watcher.is(&watcher);
        }
        // No server knows of these, so those that nobody listens to leave no trace.
        if self.session.len() == self.session.capacity() {
            self.session.retain(|watcher| !watcher.is_forgotten());
            self.session.reserve_exact(self.session.len().max(1));
        }
        self.session.push(watcher);
    }

    /// Tells all watchers of a node of what happened to it, and forgets them.
    pub(super) fn fire(&mut self, kind: EventKind, path: Path) {
        let tables = match kind {
            EventKind::NodeCreated | EventKind::NodeDataChanged => {
                WatchTable::Data..=WatchTable::Exist
            }
            EventKind::NodeDeleted => WatchTable::Data..=WatchTable::Child,
            EventKind::NodeChildrenChanged => WatchTable::Child..=WatchTable::Child,
            // About no node.
            EventKind::Session(_) => return,
        };
        let range = self.range(&path, tables);
        let event = WatchedEvent { kind, path };
        tell_each_once(&self.entries[range.clone()], &[], &event);
        self.entries.drain(range);
    }

    /// Tells of the session's state: those who watch nothing else, and every watcher object if so asked. All stay.
    pub(super) fn tell_session(&self, state: SessionState, everybody: bool) {
        if self.session.is_empty() && self.entries.is_empty() {
            return;
        }
        let event = WatchedEvent {
            kind: EventKind::Session(state),
            path: Path::from(""),
        };
        for watcher in &self.session {
            if !watcher.is_forgotten() {
                watcher.tell(event.clone());
            }
        }
        if everybody {
            tell_each_once(&self.entries, &self.session, &event);
        }
    }

    /// Forgets what nodes are watched.
    pub(super) fn forget_nodes(&mut self) {
        self.entries.clear();
    }

    pub(super) fn ask_for(&self) {
        if let Some(entry) = self.entries.first() {
            ask_for(entry);
        }
    }

    pub(super) fn ask_for_watcher(&self) {
        if let Some(entry) = self.entries.first() {
            ask_for(entry.watcher.slot());
        }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Path, WatchTable)> {
        self.entries.iter().map(|entry| (&entry.path, entry.table))
    }

    /// What a new server is to be told, in the order in which it is to be sent. Java makes the
    /// batches table by table, and puts each in front of the one before.
    pub(super) fn batches(&self, relative_zxid: Zxid) -> Vec<WatchTables> {
        let mut batches: Vec<WatchTables> = Vec::new();
        let mut bytes = BATCH_BYTES;
        for table in [WatchTable::Data, WatchTable::Exist, WatchTable::Child] {
            let mut last: Option<&Path> = None;
            for entry in self.entries.iter().filter(|entry| entry.table == table) {
                if last.replace(&entry.path) == Some(&entry.path) {
                    continue;
                }
                if bytes >= BATCH_BYTES {
                    bytes = 0;
                    batches.push(WatchTables {
                        relative_zxid,
                        ..WatchTables::default()
                    });
                }
                bytes += entry.path.len();
                if let Some(batch) = batches.last_mut() {
                    let paths = match table {
                        WatchTable::Data => &mut batch.data,
                        WatchTable::Exist => &mut batch.exist,
                        WatchTable::Child => &mut batch.child,
                    };
                    paths.push(Path::clone(&entry.path));
                }
            }
        }
        batches.reverse();
        batches
    }

    /// The places of the entries of this path in these tables.
    fn range(&self, path: &str, tables: RangeInclusive<WatchTable>) -> Range<usize> {
        if let [only] = &self.entries[..] {
            let after = |table| (&*only.path, only.table).cmp(&(path, table));
            return match (after(*tables.start()), after(*tables.end())) {
                (Ordering::Less, _) => 1..1,
                (_, Ordering::Greater) => 0..0,
                (Ordering::Equal | Ordering::Greater, Ordering::Less | Ordering::Equal) => 0..1,
            };
        }
        let start = self
            .entries
            .partition_point(|entry| (&*entry.path, entry.table) < (path, *tables.start()));
        let length = self.entries[start..]
            .iter()
            .take_while(|entry| entry.table <= *tables.end() && *entry.path == *path)
            .count();
        start..start + length
    }
}

/// Tells each watcher object of these once, but none of those in `told`. Objects that are not
/// repeats are all different, so only repeats need a search.
fn tell_each_once(entries: &[Entry], told: &[Watcher], event: &WatchedEvent) {
    for (place, entry) in entries.iter().enumerate() {
        let same = |other: &Entry| other.watcher.is(&entry.watcher);
        let was_told = entry.repeat
            && (told.iter().any(|watcher| watcher.is(&entry.watcher))
                || entries[..place].iter().any(same)
                || entries[place..]
                    .iter()
                    .any(|other| !other.repeat && same(other)));
        if !was_told && !entry.watcher.is_forgotten() {
            entry.watcher.tell(event.clone());
        }
    }
}
