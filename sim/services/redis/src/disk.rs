//! What a server has on its disk, and when more goes there.

use std::time::Duration;

use picklock_checker::VirtualTime;

use crate::databases::Dataset;
use crate::settings::{Fsync, Persistence};

/// How long the kernel may keep what was written before it is on the disk, without an `fsync`.
const WRITE_BACK: Duration = Duration::from_secs(30);
/// How often the log goes to the disk, if it is to go every second.
const EVERY_SECOND: Duration = Duration::from_secs(1);

/// How long it takes until it is tried again to save all keys, in whole seconds.
const RETRY: Duration = Duration::from_secs(6);

/// How often the server looks whether it is time to save all keys, and a second, in microseconds.
const LOOK: u64 = 100_000;
const SECOND: u64 = 1_000_000;

/// What would be read after the worst end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    pub(crate) image: Dataset,
    /// How many changes there had been when the image was made, and when that was.
    pub(crate) dirty: u64,
    /// Up to which byte of the stream it goes.
    pub(crate) offset: u64,
    /// All keys were replaced by those of a primary since it was made.
    pub(crate) lacks_copy: bool,
    pub(crate) made: VirtualTime,
    /// When the first change was made that the image has not.
    pub(crate) since: Option<VirtualTime>,
    /// When it was tried in vain to make another.
    pub(crate) failed: Option<VirtualTime>,
}

impl Disk {
    /// When the next image is to be made, if there are so many changes by now. A server that saves all keys looks ten
    /// times a second whether it is time, and counts whole seconds.
    pub(crate) fn due(
        &self,
        persistence: &Persistence,
        dirty: u64,
        now: VirtualTime,
    ) -> VirtualTime {
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
