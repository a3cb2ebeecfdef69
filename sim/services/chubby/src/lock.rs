//! The lock of a file (section 2.4).

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::chubby::{HandleId, LockMode, Sequencer, SessionId};

/// A handle of a session.
pub(crate) type HandleKey = (SessionId, HandleId);

/// The lock of a file. It holds up no access to the file: it is advisory.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileLock {
    /// Grows when the lock goes from free to held.
    pub generation: u64,
    holders: Vec<Holder>,
    /// Until when no other client can claim it, because a holder has failed.
    delayed_until: VirtualTime,
}

#[derive(Clone, Debug)]
struct Holder {
    handle: HandleKey,
    mode: LockMode,
    lock_delay: Duration,
}

impl FileLock {
    /// In which mode a handle holds it.
    pub fn mode_of(&self, handle: HandleKey) -> Option<LockMode> {
        let mut holders = self.holders.iter();
        let holder = holders.find(|holder| holder.handle == handle)?;
        Some(holder.mode)
    }

    pub fn can_be_claimed(&self, mode: LockMode, now: VirtualTime) -> bool {
        let shares = |holder: &Holder| holder.mode == LockMode::Shared && mode == LockMode::Shared;
        self.delayed_until <= now && self.holders.iter().all(shares)
    }

    pub fn claim(&mut self, handle: HandleKey, mode: LockMode, lock_delay: Duration) {
        self.generation += u64::from(self.holders.is_empty());
        self.holders.push(Holder {
            handle,
            mode,
            lock_delay,
        });
    }

    /// A handle holds it no longer. Answers whether it did.
    pub fn release(&mut self, handle: HandleKey, failed_at: Option<VirtualTime>) -> bool {
        let mut holders = self.holders.iter();
        let Some(place) = holders.position(|holder| holder.handle == handle) else {
            return false;
        };
        let holder = self.holders.remove(place);
        if let Some(at) = failed_at {
            self.delayed_until = self.delayed_until.max(at + holder.lock_delay);
        }
        true
    }

    /// Whether it is held as a sequencer says.
    pub fn is_held_as(&self, sequencer: &Sequencer) -> bool {
        let mut holders = self.holders.iter();
        self.generation == sequencer.generation
            && holders.any(|holder| holder.mode == sequencer.mode)
    }

    /// The handles that hold it.
    pub fn handles(&self) -> impl Iterator<Item = HandleKey> {
        self.holders.iter().map(|holder| holder.handle)
    }

    /// Until when no client can claim it.
    pub fn delayed_until(&self) -> VirtualTime {
        self.delayed_until
    }
}
