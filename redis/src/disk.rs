//! What a server has on its disk, and what a restart makes of it.

use std::time::Duration;

use picklock_checker::VirtualTime;

use crate::key_observer::Why;
use crate::keyspace::Keyspace;
use crate::scripts::Scripts;
use crate::settings::{Fsync, Persistence};
use crate::{Now, Output, Server};

/// How long the kernel may keep what was written before it is on the disk, if nobody asks for more.
const WRITE_BACK: Duration = Duration::from_secs(30);
/// How often the log goes to the disk, if it is to go every second.
const EVERY_SECOND: Duration = Duration::from_secs(1);

/// How long it takes until it is tried again to save all keys, in whole seconds.
const RETRY: Duration = Duration::from_secs(6);

/// How often it is looked whether it is time to save all keys, and a second, in microseconds.
const LOOK: u64 = 100_000;
const SECOND: u64 = 1_000_000;

/// How a server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It is shut down, and saves what it is to save.
    Shutdown,
    /// Its process is killed. The kernel lives, and has what was written.
    Kill,
    /// The power goes: what is not on the disk is lost.
    PowerLoss,
}

/// What would be read after the worst end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    image: Keyspace,
    /// How many changes there had been when the image was made, and when that was.
    dirty: u64,
    made: VirtualTime,
    /// When the first change was made that the image has not.
    since: Option<VirtualTime>,
    /// When it was tried in vain to make another.
    failed: Option<VirtualTime>,
}

impl Disk {
    /// When the next image is to be made, if there are so many changes by now. A server that saves all keys looks ten
    /// times a second whether it is time, and counts whole seconds.
    fn due(&self, persistence: &Persistence, dirty: u64, now: VirtualTime) -> VirtualTime {
        let changes = dirty.saturating_sub(self.dirty);
        let after = |wait: Duration| {
            if changes > 0 {
                self.made + wait
            } else {
                VirtualTime::NEVER
            }
        };
        match persistence {
            Persistence::None | Persistence::Log(Fsync::Always) => VirtualTime::NEVER,
            Persistence::Log(Fsync::EverySecond) => after(EVERY_SECOND),
            Persistence::Log(Fsync::Never) => self
                .since
                .map_or(VirtualTime::NEVER, |since| since + WRITE_BACK),
            Persistence::Snapshots(points) => {
                if let Some(failed) = self.failed {
                    let second = VirtualTime::from_micros(failed.micros() / SECOND * SECOND);
                    return second + RETRY;
                }
                let reached = points
                    .iter()
                    .filter(|point| changes >= point.changes.max(1));
                let made = VirtualTime::from_micros(self.made.micros() / SECOND * SECOND);
                let more_than = |after| made + after + Duration::from_micros(SECOND);
                let first = reached.map(|point| more_than(point.after)).min();
                let look = now.micros().div_ceil(LOOK) * LOOK;
                first.map_or(VirtualTime::NEVER, |time| {
                    time.max(VirtualTime::from_micros(look))
                })
            }
        }
    }
}

impl Server {
    /// When something is to be written to the disk next.
    pub(crate) fn disk_due(&self) -> VirtualTime {
        let persistence = &self.core.settings.persistence;
        if self.core.trouble.disk_is_full && matches!(persistence, Persistence::Log(_)) {
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
        if self.core.trouble.disk_is_full {
            self.write_in_vain(now);
        } else if self.disk_due() <= now {
            self.core.trouble.unsaved = false;
            self.disk.failed = None;
            self.disk.image = self.core.keys.clone();
            self.disk.dirty = self.core.effects.dirty;
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
            self.core.trouble.unsaved = true;
            self.disk.failed = Some(now);
        }
    }

    /// The disk is full, or is not any more. Of a log, all that was written before is safe from the end of the process.
    pub(crate) fn disk_fills(&mut self, is_full: bool) {
        let logs = matches!(self.core.settings.persistence, Persistence::Log(_));
        if is_full == std::mem::replace(&mut self.core.trouble.disk_is_full, is_full) || !logs {
            return;
        }
        self.core.trouble.unsaved = false;
        self.disk.image = self.core.keys.clone();
        self.disk.dirty = self.core.effects.dirty;
    }

    /// Whether what is on the disk is still being read. When it is all there, the server begins to do its work.
    pub(crate) fn still_loads(&mut self) -> bool {
        let Some(until) = self.core.trouble.loading else {
            return false;
        };
        if self.core.now.monotonic < until {
            return true;
        }
        self.core.trouble.loading = None;
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

    /// The server ends so, and starts again. All its connections and links are gone, without a word of its own; so are
    /// the scripts that it knew.
    pub fn restart(&mut self, now: Now, end: End, out: &mut Vec<Output>) {
        let kept = match (&self.core.settings.persistence, end) {
            (Persistence::None, _) => false,
            (Persistence::Log(_), _) if self.core.trouble.disk_is_full => false,
            (Persistence::Log(Fsync::Always), _) | (Persistence::Log(_), End::Kill) => true,
            (_, End::Shutdown) => true,
            (Persistence::Log(_), End::PowerLoss) => false,
            (Persistence::Snapshots(_), End::Kill | End::PowerLoss) => false,
        };
        let keys = if kept {
            self.core.keys.clone()
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
        new.core.keys = keys;
        new.core.trouble.disk_is_full = self.core.trouble.disk_is_full;
        new.configured.clone_from(&configured);
        new.restarts = self.restarts + 1;
        if configured.is_none() {
            // Time has gone on meanwhile, and a primary throws away what has expired.
            for key in new.core.keys.expired(new.core.wall_millis()) {
                new.core.keys.remove(&key);
            }
        }
        new.core.cluster = self.core.cluster.take().map(|it| Box::new(it.restarted()));
        new.core.followed = self.core.followed.take();
        new.core.were(&self.core.keys, Why::Forgotten);
        new.disk.image = new.core.keys.clone();
        new.disk.made = now.monotonic;
        *self = new;
        std::mem::swap(&mut self.core.out, out);
        let settings = &self.core.settings;
        let reads = settings.persistence != Persistence::None && !settings.load_time.is_zero();
        if reads {
            self.core.trouble.loading = Some(now.monotonic + settings.load_time);
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
