//! The database that commands work on: the keys, the watches, the subscriptions, and the time at which a command runs.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::redis::{Bytes, Command, ErrorReply};

use crate::blocking_keys::BlockingKeys;
use crate::busy_script::EndlessScript;
use crate::clients::ConnectionFlags;
use crate::cluster::Cluster;
use crate::degraded::Degraded;
use crate::errors::{NO_REPLICAS, READ_ONLY, WRONG_TYPE, refuse};
use crate::functions::Functions;
use crate::key_observer::{Caller, KeyObserver, KeyWriter, RemovalReason};
use crate::keyspace::{Entry, Keyspace};
use crate::keyspace_events::{Class, KeyspaceEvents};
use crate::propagation::Effects;
use crate::pubsub::Subscriptions;
use crate::random_numbers::RandomNumbers;
use crate::value::{Data, DataType};
use crate::watches::WatchedKeys;
use crate::{ConnectionId, Now, Output, ServerConfig};

/// What commands work on.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    pub(crate) settings: Rc<ServerConfig>,
    /// The keys of the selected database.
    pub(crate) keys: Keyspace,
    /// Which database is selected: the first, whenever no command is being run.
    pub(crate) selected: u8,
    /// The keys of the other databases that have any.
    pub(crate) others: BTreeMap<u8, Keyspace>,
    /// The libraries of functions, which are of no database.
    pub(crate) functions: Functions,
    /// Clients that wait for keys.
    pub(crate) blocking: BlockingKeys,
    /// Which keyspace notifications are sent.
    pub(crate) keyspace_events: KeyspaceEvents,
    pub(crate) watches: WatchedKeys,
    pub(crate) subscriptions: Subscriptions,
    pub(crate) effects: Effects,
    /// What is to be done outside, in order.
    pub(crate) out: Vec<Output>,
    /// What the clocks showed when this command, transaction, or script began.
    pub(crate) now: Now,
    /// The client whose command is being run: none while time passes, or another server says something.
    pub(crate) serving: Option<ConnectionId>,
    /// The keys that are observed from outside.
    pub(crate) followed: Vec<KeyObserver>,
    /// What becomes of keys that are found to have expired.
    pub(crate) expired: Expired,
    /// It is a replica, and only its primary may write.
    pub(crate) is_replica: bool,
    /// How many good replicas there have to be for a write, and whether there are not as many.
    pub(crate) min_replicas: usize,
    pub(crate) lacks_replicas: bool,
    /// What keeps it from serving, and whether it serves old keys as a replica without its primary.
    pub(crate) degraded: Degraded,
    pub(crate) serves_stale_data: bool,
    /// For how long a script runs before others are told that the server is busy.
    pub(crate) busy_reply_threshold: Duration,
    /// The script that was cut, if the last one was.
    pub(crate) cut_script: Option<EndlessScript>,
    /// Whether the answer goes to a client that speaks RESP3.
    pub(crate) resp3: bool,
    /// What it knows of its cluster, if it is a node of one, and how the connection wants to be served.
    pub(crate) cluster: Option<Box<Cluster>>,
    pub(crate) flags: ConnectionFlags,
    /// The random numbers that commands ask for.
    pub(crate) random: RandomNumbers,
}

/// What becomes of keys that are found to have expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expired {
    /// They are deleted.
    Deleted,
    /// They seem not to be there, and stay: on a replica, and while clients are paused.
    Hidden,
    /// They are as good as any other: what a primary sends was decided by its own clock.
    Kept,
}

impl Core {
    pub(crate) fn new(settings: Rc<ServerConfig>) -> Self {
        let number = settings.number as u8;
        let serves_stale_data = settings.serve_stale_data;
        let min_replicas = settings.min_replicas_to_write;
        let cluster = settings.cluster.clone();
        let cluster = cluster.map(|cluster| Box::new(Cluster::new(cluster, number)));
        Self {
            effects: Effects::new(),
            busy_reply_threshold: settings.busy_reply_threshold,
            cut_script: None,
            keyspace_events: settings.notify_keyspace_events,
            settings,
            keys: Keyspace::default(),
            selected: 0,
            others: BTreeMap::new(),
            functions: Functions::default(),
            blocking: BlockingKeys::default(),
            watches: WatchedKeys::default(),
            subscriptions: Subscriptions::default(),
            out: Vec::new(),
            now: Now {
                monotonic: VirtualTime::ZERO,
                wall_micros: 0,
            },
            serving: None,
            followed: Vec::new(),
            expired: Expired::Deleted,
            is_replica: false,
            min_replicas,
            lacks_replicas: false,
            degraded: Degraded::default(),
            serves_stale_data,
            resp3: false,
            cluster,
            flags: ConnectionFlags::default(),
            random: RandomNumbers::default(),
        }
    }

    /// The wall clock, in milliseconds.
    pub(crate) fn wall_millis(&self) -> i64 {
        self.now.wall_micros.div_euclid(1_000)
    }

    /// What speaks against writing anything.
    pub(crate) fn refusal(&self) -> Option<&'static str> {
        if self.is_replica {
            Some(READ_ONLY)
        } else {
            self.lacks_replicas.then_some(NO_REPLICAS)
        }
    }

    /// What speaks against the first write of a script.
    pub(crate) fn refusal_in_script(&self) -> Option<&'static str> {
        let read_only = self.is_replica.then_some(READ_ONLY);
        let misconfigured = || self.degraded.misconfigured(&self.settings.persistence);
        read_only.or_else(misconfigured).or_else(|| self.refusal())
    }

    /// Looks at a key, which may turn out to have expired. Whether it is there.
    pub(crate) fn lookup_key(&mut self, key: &[u8]) -> bool {
        let now = self.wall_millis();
        match self.keys.get(key) {
            None => false,
            Some(entry) if !entry.has_expired(now) => true,
            Some(_) => match self.expired {
                Expired::Deleted => {
                    self.delete_expired(key);
                    false
                }
                Expired::Hidden => false,
                Expired::Kept => true,
            },
        }
    }

    /// Deletes a key because its time has come, which replicas are told.
    pub(crate) fn delete_expired(&mut self, key: &[u8]) {
        self.keys.remove(key);
        self.note_removed(key, RemovalReason::Expired);
        self.watches.touch(self.selected, key, false);
        self.notify(Class::Expired, "expired", key);
        self.effects.add_with(|| Command::new("DEL").arg(key));
    }

    /// What is known of a key, if it is there.
    pub(crate) fn entry(&mut self, key: &[u8]) -> Option<&Entry> {
        if self.lookup_key(key) {
            self.keys.get(key)
        } else {
            None
        }
    }

    /// What a key holds, if it is there and of this kind.
    pub(crate) fn read<K: DataType>(&mut self, key: &[u8]) -> Result<Option<&K>, ErrorReply> {
        match self.entry(key) {
            None => Ok(None),
            Some(entry) => match K::of(&entry.data) {
                Some(data) => Ok(Some(data)),
                None => refuse(WRONG_TYPE),
            },
        }
    }

    /// The same, to be changed.
    pub(crate) fn write<K: DataType>(&mut self, key: &[u8]) -> Result<Option<&mut K>, ErrorReply> {
        if !self.lookup_key(key) {
            return Ok(None);
        }
        match self.keys.data_mut(key).map(K::of_mut) {
            None => Ok(None),
            Some(Some(data)) => Ok(Some(data)),
            Some(None) => refuse(WRONG_TYPE),
        }
    }

    /// What a key holds, to be changed; made if it is not there. The caller puts something into it.
    pub(crate) fn write_or_make<K: DataType>(&mut self, key: &[u8]) -> Result<&mut K, ErrorReply> {
        if !self.lookup_key(key) {
            // It may be hidden, and then what it was is no matter.
            if self.keys.remove(key).is_some() {
                self.note_removed(key, RemovalReason::Expired);
            }
        }
        if self.keys.get(key).is_none() {
            self.notify(Class::New, "new", key);
        }
        match K::of_mut(self.keys.data_or(key, K::empty)) {
            Some(data) => Ok(data),
            None => refuse(WRONG_TYPE),
        }
    }

    /// Puts something there instead of what there was. What event that is, the caller says.
    pub(crate) fn put(&mut self, key: &[u8], data: Data, expires: Option<i64>) {
        let is_empty = data.is_empty();
        if let Some(before) = self.keys.put(key, data, expires) {
            self.note_replaced(key, &before);
        } else {
            self.notify(Class::New, "new", key);
        }
        if is_empty {
            self.keys.remove(key);
        }
        self.note_change(key, !is_empty);
    }

    /// Puts a string there instead of what there was. When the key expires stays as it is, if it is to be kept.
    pub(crate) fn put_text(&mut self, key: &[u8], text: Bytes, expires: Option<i64>) {
        self.put(key, Data::Text(text), expires);
        self.notify(Class::String, "set", key);
    }

    /// Deletes a key. Whether it was there.
    pub(crate) fn remove(&mut self, key: &[u8]) -> bool {
        let there = self.lookup_key(key) && self.keys.remove(key).is_some();
        if there {
            self.note_change(key, false);
            self.notify(Class::Generic, "del", key);
        }
        there
    }

    /// Notes that a key was changed by an event of this name, and deletes it if nothing is left in it.
    pub(crate) fn changed(&mut self, key: &[u8], class: Class, event: &str) {
        let is_empty = self.keys.get(key).map(|entry| entry.data.is_empty());
        if is_empty == Some(true) {
            self.keys.remove(key);
        }
        self.note_change(key, is_empty == Some(false));
        self.notify(class, event, key);
        if is_empty == Some(true) {
            self.notify(Class::Generic, "del", key);
        }
    }

    /// Notes that a key was changed, and whether it is there now.
    fn note_change(&mut self, key: &[u8], there: bool) {
        self.note_write(key, there);
        if there && !self.blocking.is_empty() {
            self.blocking.signal(self.selected, key);
        }
        self.effects.dirty += 1;
        self.touched(key);
    }

    /// Tells who watches a key that it was changed. Replicas hear nothing of it.
    pub(crate) fn touched(&mut self, key: &[u8]) {
        if !self.watches.is_empty() {
            let there = self.keys.get(key).is_some();
            self.watches.touch(self.selected, key, there);
        }
    }

    /// Tells replicas of this instead of the command itself.
    pub(crate) fn instead(&mut self, command: impl FnOnce() -> Command) {
        if self.effects.wanted {
            self.effects.instead = Some(command());
        }
    }

    /// When the first key of any database expires, at the earliest.
    pub(crate) fn earliest(&self) -> Option<i64> {
        let others = self.others.values().filter_map(Keyspace::earliest);
        others.chain(self.keys.earliest()).min()
    }

    /// Deletes keys whose time has come, without a command that asks for them.
    pub(crate) fn expire_due(&mut self) {
        if self.expired != Expired::Deleted || !self.settings.active_expiry {
            return;
        }
        let now = self.wall_millis();
        for db in self.in_use() {
            self.select(db);
            for key in self.keys.due(now) {
                let expires = self.keys.get(&key).and_then(|entry| entry.expires);
                if expires.is_some_and(|at| at <= now) {
                    self.delete_expired(&key);
                } else {
                    self.expire_fields(&key);
                    self.keys.note_fields_of(&key);
                }
                // Each by itself: these deletions are no transaction.
                self.effects.flush();
            }
        }
        self.select(0);
    }

    fn caller(&self) -> Option<Caller> {
        let outputs_before = self.out.len();
        self.serving.map(|connection| Caller {
            connection,
            outputs_before,
        })
    }

    /// Notes why a key goes, or what it held.
    #[inline]
    pub(crate) fn note_removed(&mut self, key: &[u8], why: RemovalReason) {
        // They are of the first database.
        if self.selected != 0 {
            return;
        }
        let caller = self.caller();
        for followed in &mut self.followed {
            followed.note_removed(key, why, caller);
        }
    }

    /// Notes that a key was written, or that it is not there any more.
    #[inline]
    pub(crate) fn note_write(&mut self, key: &[u8], there: bool) {
        if !there {
            self.note_removed(key, RemovalReason::Deleted);
            return;
        }
        if self.selected != 0 {
            return;
        }
        let writer = self.caller().map_or(KeyWriter::Peer, KeyWriter::Client);
        for followed in &mut self.followed {
            followed.note_write(key, writer);
        }
    }

    /// Notes that this has made way for something else of the same key. Had its time been over, a real server would
    /// have thrown it away before.
    #[inline]
    pub(crate) fn note_replaced(&mut self, key: &[u8], entry: &Entry) {
        let over = self.expired != Expired::Kept && entry.has_expired(self.wall_millis());
        self.note_removed(
            key,
            if over {
                RemovalReason::Expired
            } else {
                RemovalReason::Overwritten
            },
        );
    }

    /// Notes what has become of the keys that are followed, where all keys were replaced by others.
    pub(crate) fn note_dataset_replaced(&mut self, before: &Keyspace, why: RemovalReason) {
        if self.selected != 0 {
            return;
        }
        let followed: Vec<_> = self.followed.iter().map(KeyObserver::key).collect();
        for key in followed {
            let (before, now) = (before.get(&key), self.keys.get(&key));
            let there = now.is_some();
            if let Some(before) = before
                && now.is_none_or(|now| now.data != before.data)
            {
                let over = before.has_expired(self.wall_millis());
                self.note_removed(&key, if over { RemovalReason::Expired } else { why });
            }
            if there {
                self.note_write(&key, true);
            }
        }
    }
}
