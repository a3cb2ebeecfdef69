//! Watches of the store: those that have seen everything are told at each change, the others are served by a loop.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_checker::VirtualTime;

use crate::ids::StreamId;
use crate::mvcc::Store;
use crate::rpc::{Event, EventType, Revision, WatchCreateRequest, WatchId};

/// How often watches are served that have not seen everything.
const SYNC_PERIOD: Duration = Duration::from_millis(100);
/// How many are served in one turn.
const MAX_WATCHERS_PER_SYNC: usize = 512;

#[derive(Clone, Debug)]
struct Watcher {
    request: WatchCreateRequest,
    /// Events of earlier revisions were sent.
    min_revision: Revision,
    synced: bool,
}

/// A stream of watches of a client.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WatchStream {
    pub(crate) next_id: i64,
    pub(crate) require_leader: bool,
    pub(crate) without_leader: u8,
    /// Progress was asked for when a watch had not seen everything.
    pub(crate) owes_progress: bool,
}

/// What a watch sends.
#[derive(Clone, Debug)]
pub enum Told {
    /// These changes; the revision is that of the store.
    Events(Revision, Vec<Event>),
    /// What it wanted is forgotten, because of a compaction at this revision: the watch is over.
    Compacted(Revision),
}

/// What a watch of a stream sends.
pub type Notice = (StreamId, WatchId, Told);

/// The watches of a member.
#[derive(Clone, Debug, Default)]
pub struct WatchableStore {
    watchers: BTreeMap<(StreamId, WatchId), Watcher>,
    /// When the loop serves next, if a watch has not seen everything.
    next_sync: Option<VirtualTime>,
}

impl WatchableStore {
    /// Begins a watch.
    pub fn watch(
        &mut self,
        (now, revision): (VirtualTime, Revision),
        (stream, id): (StreamId, WatchId),
        request: WatchCreateRequest,
    ) {
        let start = match request.start_revision {
            start if start > 0 => start,
            _ => revision + 1,
        };
        let synced = start > revision;
        if !synced && self.next_sync.is_none() {
            let period = SYNC_PERIOD.as_micros() as u64;
            let due = (now.micros() / period + 1) * period;
            self.next_sync = Some(VirtualTime::from_micros(due));
        }
        let watcher = Watcher {
            request,
            min_revision: start,
            synced,
        };
        self.watchers.insert((stream, id), watcher);
    }

    /// Whether a stream has a watch of this id.
    pub fn contains(&self, stream: StreamId, id: WatchId) -> bool {
        self.watchers.contains_key(&(stream, id))
    }

    /// Ends a watch; answers whether there was one.
    pub fn cancel(&mut self, stream: StreamId, id: WatchId) -> bool {
        self.watchers.remove(&(stream, id)).is_some()
    }

    /// Ends all watches of a stream.
    pub fn close(&mut self, stream: StreamId) {
        self.watchers.retain(|(of, _), _| *of != stream);
    }

    /// Whether all watches of a stream have seen everything.
    pub fn is_synced(&self, stream: StreamId) -> bool {
        let of = (stream, WatchId(i64::MIN))..=(stream, WatchId(i64::MAX));
        self.watchers.range(of).all(|(_, watcher)| watcher.synced)
    }

    /// Tells watches that have seen everything what the newest revision has changed.
    pub fn notify(&mut self, store: &Store) -> Vec<Notice> {
        let revision = store.revision();
        let mut notices = Vec::new();
        for ((stream, id), watcher) in &mut self.watchers {
            if !watcher.synced || watcher.min_revision > revision {
                continue;
            }
            watcher.min_revision = revision + 1;
            let events = watcher.events(store, revision);
            if !events.is_empty() {
                notices.push((*stream, *id, Told::Events(revision, events)));
            }
        }
        notices
    }

    /// When the loop wants to serve next.
    pub fn next_sync(&self) -> VirtualTime {
        self.next_sync.unwrap_or(VirtualTime::NEVER)
    }

    /// Serves watches that have not seen everything, if it is time.
    pub fn sync_watchers(&mut self, now: VirtualTime, store: &Store) -> Vec<Notice> {
        if now < self.next_sync() {
            return Vec::new();
        }
        let (mut notices, mut over, revision) = (Vec::new(), Vec::new(), store.revision());
        let unsynced = self
            .watchers
            .iter_mut()
            .filter(|(_, watcher)| !watcher.synced);
        for ((stream, id), watcher) in unsynced.take(MAX_WATCHERS_PER_SYNC) {
            watcher.synced = true;
            if watcher.min_revision < store.compacted() {
                over.push((*stream, *id));
                notices.push((*stream, *id, Told::Compacted(store.compacted())));
                continue;
            }
            let events = watcher.events(store, watcher.min_revision);
            watcher.min_revision = revision + 1;
            if !events.is_empty() {
                notices.push((*stream, *id, Told::Events(revision, events)));
            }
        }
        for key in over {
            self.watchers.remove(&key);
        }
        let is_done = self.watchers.values().all(|watcher| watcher.synced);
        self.next_sync = (!is_done).then(|| now + SYNC_PERIOD);
        notices
    }
}

impl Watcher {
    /// Its events of the changes from a revision on.
    fn events(&self, store: &Store, from: Revision) -> Vec<Event> {
        let request = &self.request;
        let wanted = store.events_from(from).filter(|event| {
            let is_filtered = match event.kind {
                EventType::Put => request.no_put,
                EventType::Delete => request.no_delete,
            };
            !is_filtered && request.keys.contains(&event.kv.key)
        });
        let told = wanted.map(|event| {
            let mut event = event.clone();
            if request.prev_kv && event.kv.create_revision != event.kv.mod_revision {
                event.prev_kv = store.before(&event);
            }
            event
        });
        told.collect()
    }
}
