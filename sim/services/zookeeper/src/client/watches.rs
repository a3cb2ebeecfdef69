//! The watches of a client: which watcher gets which event of which path.

use std::cmp::Ordering;
use std::ops::{Range, RangeInclusive};
use std::rc::Rc;

use picklock_clients::zookeeper::{
    EventType, Path, Reply, Response, SessionState, WatchSide, WatchedEvent, Watcher, ZkError, Zxid,
};

use smallvec::SmallVec;

use super::event_thread::EventThread;
use crate::messages::WatchTables;
use crate::txn::parent_of;

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
    /// Both, and the watch stays.
    Persistent,
    /// Its data and all that is below it, and the watch stays.
    Recursive,
}

impl WatchTable {
    const ALL: [Self; 5] = [
        Self::Data,
        Self::Exist,
        Self::Child,
        Self::Persistent,
        Self::Recursive,
    ];

    /// Whether a watch is here that is on this side of a node. Those that stay are on neither alone.
    fn is_on(self, side: WatchSide) -> bool {
        match side {
            WatchSide::Children => self == Self::Child,
            WatchSide::Data => matches!(self, Self::Data | Self::Exist),
            WatchSide::Any => true,
        }
    }

    /// Whether a watch stays here when it has fired.
    fn stays(self) -> bool {
        matches!(self, Self::Persistent | Self::Recursive)
    }

    /// What a watcher is told that is taken back from here.
    fn removal(self) -> EventType {
        match self {
            Self::Data | Self::Exist => EventType::DataWatchRemoved,
            Self::Child => EventType::ChildWatchRemoved,
            Self::Persistent | Self::Recursive => EventType::PersistentWatchRemoved,
        }
    }
}

struct Entry {
    path: Path,
    table: WatchTable,
    /// The watcher object was registered before this entry was made, and there may be another entry of it.
    repeat: bool,
    watcher: Watcher,
}

impl Entry {
    /// Whether it is of this node. Mostly all who mention a path share it.
    #[inline]
    fn is_of(&self, path: &Path) -> bool {
        Rc::ptr_eq(&self.path, path) || self.path == *path
    }
}

/// The watches of a client. What is seldom needed comes last.
#[derive(Default)]
#[repr(C)]
pub(super) struct ClientWatchManager {
    /// Sorted by path and table, so that what belongs to one notification stands together.
    entries: SmallVec<[Entry; 1]>,
    /// How many of the entries stay when they fire.
    lasting: u32,
    /// Whether the session was ever watched. If not, that list need not be looked at, which lies elsewhere.
    session_watched: bool,
    /// Watchers of the session's state only.
    session: Vec<Watcher>,
}

impl ClientWatchManager {
    /// Registers a watcher object; to do so twice is to do so once. Mostly it is the only one.
    #[inline(always)]
    pub(super) fn register(&mut self, path: Path, table: WatchTable, watcher: Watcher) {
        if !self.entries.is_empty() || self.session_watched {
            return self.register_among(path, table, watcher);
        }
        self.lasting += u32::from(table.stays());
        self.entries.push(Entry {
            path,
            table,
            repeat: watcher.register(),
            watcher,
        });
    }

    #[inline(never)]
    fn register_among(&mut self, path: Path, table: WatchTable, watcher: Watcher) {
        let entries = &self.entries[..];
        let range = range(entries, &path, table..=table);
        let known = |entry: &Entry| entry.watcher.is(&watcher);
        if entries[range.clone()].iter().any(known) {
            return;
        }
        let entry = Entry {
            path,
            table,
            repeat: watcher.register(),
            watcher,
        };
        self.lasting += u32::from(table.stays());
        self.entries.insert(range.end, entry);
    }

    /// Registers a watcher object for the session alone.
    pub(super) fn watch_session(&mut self, watcher: Watcher) {
        if self.session.iter().any(|other| other.is(&watcher)) {
            return;
        }
        if watcher.register() {
            for entry in self.entries.iter_mut() {
                entry.repeat |= entry.watcher.is(&watcher);
            }
        }
        self.session_watched = true;
        // No server knows of these, so forgotten ones leave no trace.
        if self.session.len() == self.session.capacity() {
            self.session.retain(|watcher| !watcher.is_forgotten());
            self.session.reserve_exact(self.session.len().max(1));
        }
        self.session.push(watcher);
    }

    /// Whether a watcher waits for an event of a node. One whose watch was dropped hears nothing.
    pub(super) fn listens_for(&self, kind: EventType, path: &Path) -> bool {
        let path = Path::clone(path);
        let once = range(&self.entries, &path, WatchTable::Data..=WatchTable::Child);
        let event = WatchedEvent { kind, path };
        let mut all = self.entries[once].iter().chain(self.lasting_of(&event));
        all.any(|entry| !entry.watcher.is_forgotten())
    }

    /// Tells all watchers of a node of what happened to it, and forgets them, but for those that stay. Mostly there is
    /// one.
    #[inline(always)]
    pub(super) fn fire(&mut self, kind: EventType, path: Path, events: &mut EventThread) {
        let tables = match kind {
            EventType::NodeCreated | EventType::NodeDataChanged => {
                WatchTable::Data..=WatchTable::Exist
            }
            EventType::NodeDeleted => WatchTable::Data..=WatchTable::Child,
            EventType::NodeChildrenChanged => WatchTable::Child..=WatchTable::Child,
            // Made up by the client itself, and about no change of a node.
            EventType::Session(_)
            | EventType::DataWatchRemoved
            | EventType::ChildWatchRemoved
            | EventType::PersistentWatchRemoved => return,
        };
        let event = WatchedEvent { kind, path };
        let only = |only: &Entry| tables.contains(&only.table) && only.is_of(&event.path);
        if self.lasting == 0
            && let [entry] = &self.entries[..]
            && only(entry)
            && let Some(entry) = self.entries.pop()
        {
            events.queue_event(&entry.watcher, event);
        } else {
            self.fire_among(tables, event, events);
        }
    }

    #[inline(never)]
    fn fire_among(
        &mut self,
        tables: RangeInclusive<WatchTable>,
        event: WatchedEvent,
        events: &mut EventThread,
    ) {
        let entries = &self.entries[..];
        let range = range(entries, &event.path, tables);
        if self.lasting > 0 {
            let once = entries[range.clone()].iter();
            let mut told: Vec<&Watcher> = Vec::new();
            for entry in once.chain(self.lasting_of(&event)) {
                if !told.iter().any(|watcher| watcher.is(&entry.watcher)) {
                    told.push(&entry.watcher);
                }
            }
            let listening = told.iter().filter(|watcher| !watcher.is_forgotten());
            listening.for_each(|watcher| events.queue_event(watcher, event.clone()));
        } else {
            notify_each_once(&entries[range.clone()], &[], &event, events);
        }
        self.entries.drain(range);
    }

    /// Those that stay, of those that an event concerns: on the node, and recursive ones on it and above it, which get
    /// no change of a list of children. (Java's client of 3.8.0 itself gives it to them, if another watcher watches the
    /// list.)
    fn lasting_of(&self, event: &WatchedEvent) -> impl Iterator<Item = &Entry> {
        let WatchedEvent { kind, path } = event;
        let recursive = *kind != EventType::NodeChildrenChanged;
        let above = std::iter::successors(Some(&**path), |path| parent_of(path))
            .take_while(move |_| recursive)
            .map(|path| {
                let table = WatchTable::Recursive;
                range(&self.entries, path, table..=table)
            });
        let table = WatchTable::Persistent;
        let here = range(&self.entries, path, table..=table);
        std::iter::once(here)
            .chain(above)
            .flat_map(|range| &self.entries[range])
    }

    /// Takes back all watchers on a side of a node, or one of them, when the server has answered: if it has not done
    /// it, only if so asked. Tells them, and answers what the client does.
    pub(super) fn take_back(
        &mut self,
        path: &Path,
        one: Option<&Watcher>,
        (side, local): (WatchSide, bool),
        reply: Reply,
        events: &mut EventThread,
    ) -> Reply {
        let range = range(
            &self.entries,
            path,
            WatchTable::Data..=WatchTable::Recursive,
        );
        let concerned = |entry: &Entry| {
            let removed = one.is_none_or(|watcher| watcher.is(&entry.watcher));
            removed && entry.table.is_on(side) && entry.path == *path
        };
        if !self.entries[range].iter().any(concerned) {
            return Err(ZkError::NoWatcher);
        }
        if reply.is_err() && !local {
            return reply;
        }
        let entries = std::mem::take(&mut self.entries).into_iter();
        let (removed, kept): (Vec<Entry>, Vec<Entry>) = entries.partition(concerned);
        self.entries = kept.into();
        let mut told: Vec<(EventType, &Watcher)> = Vec::new();
        for entry in &removed {
            self.lasting -= u32::from(entry.table.stays());
            let (kind, watcher) = (entry.table.removal(), &entry.watcher);
            let known = |(other, one): &(EventType, &Watcher)| *other == kind && one.is(watcher);
            if told.iter().any(known) || watcher.is_forgotten() {
                continue;
            }
            told.push((kind, watcher));
            let path = Path::clone(path);
            events.queue_event(watcher, WatchedEvent { kind, path });
        }
        Ok(Response::Watching)
    }

    /// Reports the session's state to its watchers, and to every watcher object if so asked. All stay.
    pub(super) fn notify_session(
        &self,
        state: SessionState,
        all_watchers: bool,
        events: &mut EventThread,
    ) {
        if self.session.is_empty() && self.entries.is_empty() {
            return;
        }
        let event = WatchedEvent {
            kind: EventType::Session(state),
            path: Path::from(""),
        };
        for watcher in &self.session {
            if !watcher.is_forgotten() {
                events.queue_session_event(watcher, event.clone());
            }
        }
        if all_watchers {
            notify_each_once(&self.entries, &self.session, &event, events);
        }
    }

    /// Forgets what nodes are watched.
    pub(super) fn forget_nodes(&mut self) {
        self.entries.clear();
        self.lasting = 0;
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
        for table in WatchTable::ALL {
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
                        WatchTable::Persistent => &mut batch.persistent,
                        WatchTable::Recursive => &mut batch.recursive,
                    };
                    paths.push(Path::clone(&entry.path));
                }
            }
        }
        batches.reverse();
        batches
    }
}

/// The places of the entries of this path in these tables.
fn range(entries: &[Entry], path: &str, tables: RangeInclusive<WatchTable>) -> Range<usize> {
    match entries {
        [] => 0..0,
        [only] => {
            let after = |table| (&*only.path, only.table).cmp(&(path, table));
            match (after(*tables.start()), after(*tables.end())) {
                (Ordering::Less, _) => 1..1,
                (_, Ordering::Greater) => 0..0,
                (Ordering::Equal | Ordering::Greater, Ordering::Less | Ordering::Equal) => 0..1,
            }
        }
        _ => {
            let start = entries
                .partition_point(|entry| (&*entry.path, entry.table) < (path, *tables.start()));
            let length = entries[start..]
                .iter()
                .take_while(|entry| entry.table <= *tables.end() && *entry.path == *path)
                .count();
            start..start + length
        }
    }
}

/// Tells each watcher object of these once, but none of those in `told`. Objects that are not
/// repeats are all different, so only repeats need a search.
fn notify_each_once(
    entries: &[Entry],
    told: &[Watcher],
    event: &WatchedEvent,
    events: &mut EventThread,
) {
    for (index, entry) in entries.iter().enumerate() {
        let same = |other: &Entry| other.watcher.is(&entry.watcher);
        let was_told = entry.repeat
            && (told.iter().any(|watcher| watcher.is(&entry.watcher))
                || entries[..index].iter().any(same)
                || entries[index..]
                    .iter()
                    .any(|other| !other.repeat && same(other)));
        if !was_told {
            events.queue_event(&entry.watcher, event.clone());
        }
    }
}
