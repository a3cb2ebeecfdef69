//! What a server writes to its disk, and what a restart makes of it.

use crate::key_observer::RemovalReason;
use crate::scripts::{Scripts, functions_of};
use crate::settings::{Fsync, Persistence};
use crate::version::Since;
use crate::{Now, Output, Server};
use picklock_checker::VirtualTime;

/// Since when replicas say up to where their disks go (`FACK`).
const REPORTS_DISK: Since = Since {
    redis: Some((7, 2)),
    valkey: Some((7, 2)),
};

/// How a server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    /// It is shut down, and saves what it is to save.
    Shutdown,
    /// Its process is killed. The kernel lives, and has what was written.
    Kill,
    /// The power goes: what is not on the disk is lost.
    PowerLoss,
}

impl Server {
    /// When something is to be written to the disk next.
    pub(crate) fn disk_due(&self) -> VirtualTime {
        let persistence = &self.core.settings.persistence;
        if self.core.degraded.disk_is_full && matches!(persistence, Persistence::Log(_)) {
            return VirtualTime::NEVER;
        }
        let dirty = self.core.effects.dirty;
        self.disk.due(persistence, dirty, self.core.now.monotonic)
    }

    /// Writes to the disk, if it is time.
    pub(crate) fn write_disk(&mut self) {
        let now = self.core.now.monotonic;
        if self.core.effects.dirty > self.disk.dirty {
            self.disk.since.get_or_insert(now);
        }
        if self.core.degraded.disk_is_full {
            self.write_in_vain(now);
        } else if self.disk_due() <= now {
            self.core.degraded.unsaved = false;
            self.disk.failed = None;
            self.disk.image = self.core.dataset();
            self.disk.dirty = self.core.effects.dirty;
            self.disk.offset = self.replication.offset;
            self.disk.lacks_copy = false;
            self.disk.made = now;
            self.disk.since = None;
        }
    }

    /// What is to be written is not, for the disk is full.
    fn write_in_vain(&mut self, now: VirtualTime) {
        let unsaved = match self.core.settings.persistence {
            Persistence::None => false,
            Persistence::Log(_) => self.core.effects.dirty > self.disk.dirty,
            Persistence::Snapshots(_) => self.disk_due() <= now,
        };
        if unsaved {
            self.core.degraded.unsaved = true;
            self.disk.failed = Some(now);
        }
    }

    /// The disk is full, or is not any more. Of a log, all that was written before is safe from the end of the process.
    pub(crate) fn disk_fills(&mut self, is_full: bool) {
        let logs = matches!(self.core.settings.persistence, Persistence::Log(_));
        if is_full == std::mem::replace(&mut self.core.degraded.disk_is_full, is_full) || !logs {
            return;
        }
        self.core.degraded.unsaved = false;
        self.disk.image = self.core.dataset();
        self.disk.dirty = self.core.effects.dirty;
    }

    /// Whether what is on the disk is still being read. When it is all there, the server begins to do its work.
    pub(crate) fn still_loads(&mut self) -> bool {
        let Some(until) = self.core.degraded.loading else {
            return false;
        };
        if self.core.now.monotonic < until {
            return true;
        }
        self.core.degraded.loading = None;
        self.begin_again();
        false
    }

    /// A server that has read its keys takes its place.
    fn begin_again(&mut self) {
        match self.configured.clone() {
            Some(address) => self.follow(address),
            None => self.set_role(),
        }
    }

    /// Whether the first `changes` changes are on its disk, if it keeps a log.
    pub(crate) fn is_synced(&self, changes: u64) -> bool {
        let always = self.core.settings.persistence == Persistence::Log(Fsync::Always);
        (always && !self.core.degraded.disk_is_full) || self.disk.dirty >= changes
    }

    /// Up to which byte of the stream its disk goes, as a replica that keeps a log says.
    pub(crate) fn synced_offset(&self) -> Option<u64> {
        let Persistence::Log(fsync) = self.core.settings.persistence else {
            return None;
        };
        if !self.core.settings.version.has(REPORTS_DISK) {
            return None;
        }
        if fsync == Fsync::Always && !self.core.degraded.disk_is_full {
            return Some(self.replication.offset);
        }
        // What changes no data needs not be written.
        let has_all = self.disk.dirty == self.core.effects.dirty;
        let offset = if has_all {
            self.replication.offset
        } else {
            self.disk.offset
        };
        (!self.disk.lacks_copy).then_some(offset)
    }

    /// Whether all that it has is on its disk after such an end.
    pub(crate) fn keeps_all(&self, end: ProcessEnd) -> bool {
        match (&self.core.settings.persistence, end) {
            (Persistence::None, _) => false,
            (Persistence::Log(_), _) if self.core.degraded.disk_is_full => false,
            (Persistence::Log(Fsync::Always), _) | (Persistence::Log(_), ProcessEnd::Kill) => true,
            (_, ProcessEnd::Shutdown) => true,
            (Persistence::Log(_), ProcessEnd::PowerLoss) => false,
            (Persistence::Snapshots(_), ProcessEnd::Kill | ProcessEnd::PowerLoss) => false,
        }
    }

    /// The server ends so, and starts again. All its connections and links are gone, without a word of its own; so are
    /// the scripts that it knew.
    pub fn restart(&mut self, now: Now, end: ProcessEnd, out: &mut Vec<Output>) {
        let kept = self.keeps_all(end);
        let mut dataset = if kept {
            self.core.dataset()
        } else {
            self.disk.image.clone()
        };
        let replication = self.replication.restarted();
        let configured = self.configured.clone();
        let settings = std::rc::Rc::clone(&self.core.settings);
        let mut new = Self::new(settings);
        new.core.now = now;
        new.replication = replication;
        new.scripts = Scripts::default();
        new.core.degraded.disk_is_full = self.core.degraded.disk_is_full;
        new.configured.clone_from(&configured);
        new.restarts = self.restarts + 1;
        if configured.is_none() {
            // Time has gone on meanwhile, and a primary throws away what has expired.
            for keys in dataset.each_mut() {
                for key in keys.expired(new.core.wall_millis()) {
                    keys.remove(&key);
                }
            }
        }
        new.core.keys = dataset.first;
        new.core.others = dataset.others;
        new.core.functions = functions_of(&dataset.functions, new.core.settings.script_budget);
        let cluster = self.core.cluster.take();
        new.core.cluster = cluster.map(|cluster| Box::new(cluster.restarted()));
        new.core.followed = std::mem::take(&mut self.core.followed);
        new.core
            .note_dataset_replaced(&self.core.keys, RemovalReason::Forgotten);
        new.disk.image = new.core.dataset();
        new.disk.made = now.monotonic;
        *self = new;
        std::mem::swap(&mut self.core.out, out);
        let settings = &self.core.settings;
        let reads = settings.persistence != Persistence::None && !settings.load_time.is_zero();
        if reads {
            self.core.degraded.loading = Some(now.monotonic + settings.load_time);
            if let Some(address) = configured {
                self.begin_as_replica(address);
            }
        } else {
            self.begin_again();
        }
        self.set_wake();
        std::mem::swap(&mut self.core.out, out);
    }
}
