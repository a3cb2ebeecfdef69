//! The store: every key with its history, by revisions of the whole.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::rpc::{
    Bytes, Event, EventType, KeyRange, KeyValue, LeaseId, RangeRequest, RangeResponse, Revision,
    SortOrder, SortTarget,
};
use crate::rpctypes::{self, Status};

/// A change, and its place among the changes of its revision.
#[derive(Clone, Debug)]
struct Change {
    sub: u32,
    event: Event,
}

/// The store.
#[derive(Clone, Debug)]
pub struct Store {
    /// The changes of each key, oldest first.
    index: BTreeMap<Bytes, Vec<Rc<Change>>>,
    /// All changes in order.
    changes: BTreeMap<(Revision, u32), Rc<Change>>,
    revision: Revision,
    compacted: Revision,
    /// How many changes the running transaction has made.
    running: u32,
    keeps_tombstone: bool,
}

impl Store {
    /// A fresh store. Until 3.4.36 and 3.5.18 a compaction forgot a deletion at the very revision that it kept.
    pub fn new(keeps_tombstone: bool) -> Self {
        Self {
            index: BTreeMap::new(),
            changes: BTreeMap::new(),
            revision: 1,
            compacted: -1,
            running: 0,
            keeps_tombstone,
        }
    }

    /// The revision of the newest change.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Before this revision all is forgotten; -1 if nothing is.
    pub fn compacted(&self) -> Revision {
        self.compacted
    }

    /// What a read sees: in a transaction, its own changes, too.
    fn read_revision(&self) -> Revision {
        self.revision + Revision::from(self.running > 0)
    }

    /// The pair of a key now.
    pub fn get(&self, key: &[u8]) -> Option<&KeyValue> {
        self.index
            .get(key)
            .and_then(|changes| pair_at(changes, self.read_revision()))
    }

    /// The pairs of keys as of a revision that is not compacted.
    pub fn pairs<'a>(
        &'a self,
        keys: &'a KeyRange,
        at: Revision,
    ) -> impl Iterator<Item = &'a KeyValue> {
        let range = (!keys.is_empty_interval()).then(|| self.index.range::<[u8], _>(keys.bounds()));
        let changes = range.into_iter().flatten();
        changes.filter_map(move |(_, changes)| pair_at(changes, at))
    }

    /// The pairs of keys now.
    pub fn pairs_now<'a>(&'a self, keys: &'a KeyRange) -> impl Iterator<Item = &'a KeyValue> {
        self.pairs(keys, self.read_revision())
    }

    /// Whether a revision can be read.
    pub fn check_revision(&self, revision: Revision) -> Result<(), Status> {
        if revision > self.read_revision() {
            return Err(rpctypes::FUTURE_REVISION);
        }
        if revision < self.compacted {
            return Err(rpctypes::COMPACTED);
        }
        Ok(())
    }

    /// Reads keys.
    pub fn range(&self, request: &RangeRequest) -> Result<RangeResponse, Status> {
        let at = if request.revision > 0 {
            self.check_revision(request.revision)?;
            request.revision
        } else {
            self.read_revision()
        };
        if request.count_only {
            let count = self.pairs(&request.keys, at).count() as i64;
            return Ok(RangeResponse {
                count,
                ..RangeResponse::default()
            });
        }
        let mut kept: Vec<&KeyValue> = self.pairs(&request.keys, at).collect();
        let count = kept.len() as i64;
        let limit = usize::try_from(request.limit).unwrap_or(0);
        if limit > 0 && request.sort_order == SortOrder::None && !has_filter(request) {
            // No more are read than show that there are more: they are sorted, and none behind them.
            kept.truncate(limit + 1);
        }
        kept.retain(|pair| passes(request, pair));
        sort(request, &mut kept);
        let more = limit > 0 && kept.len() > limit;
        if more {
            kept.truncate(limit);
        }
        let mut kvs: Vec<KeyValue> = kept.into_iter().cloned().collect();
        if request.keys_only {
            kvs.iter_mut()
                .for_each(|pair| pair.value = Bytes::default());
        }
        Ok(RangeResponse { kvs, more, count })
    }

    /// Writes a pair, in the running transaction.
    pub fn put(&mut self, key: Bytes, value: Bytes, lease: LeaseId) {
        let mod_revision = self.revision + 1;
        let (create_revision, version) = match self.get(&key) {
            Some(former) => (former.create_revision, former.version + 1),
            None => (mod_revision, 1),
        };
        let kv = KeyValue {
            key,
            create_revision,
            mod_revision,
            version,
            value,
            lease,
        };
        self.record(EventType::Put, kv);
    }

    /// Deletes keys, in the running transaction, and answers what they were.
    pub fn delete_range(&mut self, keys: &KeyRange) -> Vec<KeyValue> {
        let deleted: Vec<KeyValue> = self.pairs_now(keys).cloned().collect();
        for former in &deleted {
            let kv = KeyValue {
                key: Rc::clone(&former.key),
                mod_revision: self.revision + 1,
                ..KeyValue::default()
            };
            self.record(EventType::Delete, kv);
        }
        deleted
    }

    fn record(&mut self, kind: EventType, kv: KeyValue) {
        let (sub, at, key) = (self.running, kv.mod_revision, Rc::clone(&kv.key));
        let prev_kv = None;
        let event = Event { kind, kv, prev_kv };
        let change = Rc::new(Change { sub, event });
        self.running += 1;
        self.changes.insert((at, sub), Rc::clone(&change));
        self.index.entry(key).or_default().push(change);
    }

    /// Ends the running transaction: if it has changed anything, that is one more revision.
    pub fn end(&mut self) -> bool {
        let changed = self.running > 0;
        self.revision = self.read_revision();
        self.running = 0;
        changed
    }

    /// The changes from a revision on.
    pub fn events_from(&self, revision: Revision) -> impl Iterator<Item = &Event> {
        let changes = self.changes.range((revision, 0)..);
        changes.map(|(_, change)| &change.event)
    }

    /// The pair before a change; none if there was none, or if it is forgotten.
    pub fn before(&self, event: &Event) -> Option<KeyValue> {
        let at = event.kv.mod_revision - 1;
        let readable = self.check_revision(at).is_ok();
        let changes = self.index.get(&event.kv.key).filter(|_| readable)?;
        pair_at(changes, at).cloned()
    }

    /// Forgets all that was before a revision and is no more at it.
    pub fn compact(&mut self, at: Revision) -> Result<(), Status> {
        if at <= self.compacted {
            return Err(rpctypes::COMPACTED);
        }
        if at > self.revision {
            return Err(rpctypes::FUTURE_REVISION);
        }
        self.compacted = at;
        let (keeps_tombstone, all) = (self.keeps_tombstone, &mut self.changes);
        self.index.retain(|_, changes| {
            let newest = changes.partition_point(|change| change.event.kv.mod_revision <= at);
            let Some(newest) = newest.checked_sub(1) else {
                return true;
            };
            let Event { kind, kv, .. } = &changes[newest].event;
            let keeps = match kind {
                EventType::Put => true,
                EventType::Delete => keeps_tombstone && kv.mod_revision == at,
            };
            for change in changes.drain(..newest + usize::from(!keeps)) {
                all.remove(&(change.event.kv.mod_revision, change.sub));
            }
            !changes.is_empty()
        });
        Ok(())
    }
}

/// The pair of a key as of a revision.
fn pair_at(changes: &[Rc<Change>], at: Revision) -> Option<&KeyValue> {
    let newest = changes.partition_point(|change| change.event.kv.mod_revision <= at);
    let event = &changes[newest.checked_sub(1)?].event;
    match event.kind {
        EventType::Put => Some(&event.kv),
        EventType::Delete => None,
    }
}

fn has_filter(request: &RangeRequest) -> bool {
    let bounds = [
        request.min_mod_revision,
        request.max_mod_revision,
        request.min_create_revision,
        request.max_create_revision,
    ];
    bounds.iter().any(|bound| *bound != 0)
}

fn passes(request: &RangeRequest, pair: &KeyValue) -> bool {
    let within = |value, min, max| (min == 0 || value >= min) && (max == 0 || value <= max);
    let (min_mod, max_mod) = (request.min_mod_revision, request.max_mod_revision);
    let (min_create, max_create) = (request.min_create_revision, request.max_create_revision);
    within(pair.mod_revision, min_mod, max_mod)
        && within(pair.create_revision, min_create, max_create)
}

fn sort(request: &RangeRequest, pairs: &mut [&KeyValue]) {
    let descends = match (request.sort_order, request.sort_target) {
        (SortOrder::None | SortOrder::Ascend, SortTarget::Key) => return,
        (SortOrder::None | SortOrder::Ascend, _) => false,
        (SortOrder::Descend, _) => true,
    };
    let ascending = |one: &KeyValue, other: &KeyValue| -> Ordering {
        match request.sort_target {
            SortTarget::Key => one.key.cmp(&other.key),
            SortTarget::Version => one.version.cmp(&other.version),
            SortTarget::Create => one.create_revision.cmp(&other.create_revision),
            SortTarget::Mod => one.mod_revision.cmp(&other.mod_revision),
            SortTarget::Value => one.value.cmp(&other.value),
        }
    };
    pairs.sort_by(|one, other| match descends {
        true => ascending(other, one),
        false => ascending(one, other),
    });
}
