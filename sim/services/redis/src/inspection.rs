//! What can be seen of a server from outside: its primary, what it has that another has not, and what its disk has.

use picklock_checker::VirtualTime;
use picklock_clients::redis::{Bytes, Command};

use crate::key_observer::KeyObserver;
use crate::keyspace::Entry;
use crate::persistence::ProcessEnd;
use crate::pubsub::Publication;
use crate::settings::Persistence;
use crate::{Address, LinkId, Server};

/// What a server has when it starts again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnDisk {
    /// What its disk has.
    pub image: DiskImage,
    /// How many keys it loads.
    pub keys: usize,
    /// How many keys of its disk it does not load, or throws away then, for their time is over.
    pub expired: usize,
    /// Of each key that is followed, whether it is one of those that it loads.
    pub followed_keys: Vec<bool>,
}

/// What a disk has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskImage {
    /// Nothing is kept.
    Nothing,
    /// All keys, as they were at this time of the monotonic clock.
    Rdb(VirtualTime),
    /// All writes up to this time of the monotonic clock.
    Aof(VirtualTime),
}

impl Server {
    /// What it would find on its disk if it ended so, and started again at this time of its wall clock.
    pub fn on_disk_after(&self, end: ProcessEnd, wall_millis: i64) -> OnDisk {
        let all = self.keeps_all(end);
        let image = match &self.core.settings.persistence {
            Persistence::None => DiskImage::Nothing,
            Persistence::Snapshots(_) if all => DiskImage::Rdb(self.core.now.monotonic),
            Persistence::Snapshots(_) => DiskImage::Rdb(self.disk.made),
            Persistence::Log(_) if all => DiskImage::Aof(self.core.now.monotonic),
            Persistence::Log(_) => DiskImage::Aof(self.disk.made),
        };
        let keys = if all {
            &self.core.keys
        } else {
            &self.disk.image.first
        };
        // A replica waits for its primary to delete them.
        let is_over = |entry: &Entry| self.configured.is_none() && entry.has_expired(wall_millis);
        let expired = keys.iter().filter(|(_, entry)| is_over(entry)).count();
        let loads = |key: Bytes| keys.get(&key).is_some_and(|entry| !is_over(entry));
        let followed = self.core.followed.iter().map(KeyObserver::key);
        OnDisk {
            image,
            keys: keys.len() - expired,
            expired,
            followed_keys: followed.map(loads).collect(),
        }
    }

    /// What was published to channels since the last call; nothing the first time. What is sent to clients does not
    /// show a message without a subscriber.
    pub fn take_publications(&mut self) -> Vec<Publication> {
        self.core.subscriptions.take_published()
    }

    /// Where its primary is, if it follows one.
    pub fn primary_address(&self) -> Option<&Address> {
        let upstream = self.replication.primary.as_ref();
        upstream.map(|upstream| &upstream.address)
    }

    /// Whether it listens to its primary by this link.
    pub fn listens_by(&self, link: LinkId) -> bool {
        self.replication.listens_by(link)
    }

    /// Up to which byte of its stream a server that wants to follow has the same.
    pub fn common_offset(&self, follower: &Self) -> Option<u64> {
        let (theirs, end) = (follower.replication.id, follower.replication.offset);
        if self.replication.id == theirs {
            return Some(self.replication.offset.min(end));
        }
        let (id, first) = self.replication.previous()?;
        (id == theirs).then(|| (first - 1).min(end))
    }

    /// The writes in its stream after a byte, as far as it keeps them.
    pub fn writes_after(&self, offset: u64) -> impl Iterator<Item = Command> {
        let parts = self.replication.parts_after(offset).into_iter();
        let commands = parts.flat_map(|part| part.commands.clone());
        // The stream has more than writes: Sentinels greet each other by it.
        let others = [
            "PING", "SELECT", "REPLCONF", "MULTI", "EXEC", "PUBLISH", "SPUBLISH",
        ];
        commands.filter(move |command| !others.iter().any(|name| command.is(name)))
    }

    /// The epoch in which it, or its primary, has come to serve its slots.
    pub fn config_epoch(&self) -> Option<u64> {
        Some(self.core.cluster.as_ref()?.config_epoch())
    }

    /// The nodes on which, as it knows, a majority has given up, by their indices.
    pub fn failed_nodes(&self) -> Vec<u8> {
        let cluster = self.core.cluster.as_ref();
        cluster.map_or_else(Vec::new, |cluster| cluster.failed_nodes())
    }
}
