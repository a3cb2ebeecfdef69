//! The recorder: the only writer of histories.

use picklock_checker::{
    ContenderId, Counts, Event, EventKind, Failure, History, Mode, NameId, VirtualTime,
};

/// Writes the history down, and keeps a rolling hash of everything that can be observed.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    /// What has happened so far.
    pub history: History,
    /// What was counted so far.
    pub counts: Counts,
    /// Whether what servers do and find is written down as well.
    pub records_service_events: bool,
    hash: RollingHash,
}

impl Recorder {
    /// Writes an event down. It is written into each place where the kind of event is known.
    #[inline(always)]
    pub fn record(&mut self, at: VirtualTime, what: EventKind) {
        self.hash_event(at, &what);
        self.history.events.push(Event { at, what });
    }

    /// Writes an event down, or nothing, in the place of another that the hash is to know of: what has come to a
    /// process can be observed, whether or not its library has passed it on.
    pub fn record_instead(&mut self, at: VirtualTime, hashed: EventKind, what: Option<EventKind>) {
        self.hash_event(at, &hashed);
        let event = what.map(|what| Event { at, what });
        self.history.events.extend(event);
    }

    /// The number of a name; it gets one if it has none.
    pub fn name(&mut self, name: &str) -> NameId {
        self.history.names.push(name.to_owned());
        NameId(self.history.names.len() as u32 - 1)
    }

    /// The name of this number.
    pub fn text_of(&self, name: NameId) -> &str {
        &self.history.names[name.0 as usize]
    }

    /// Mixes a word into the hash: what the engine does is part of what can be observed.
    #[inline]
    pub fn mix(&mut self, word: u64) {
        self.hash.mix(word);
    }

    /// The hash of everything so far.
    pub fn hash(&self) -> u64 {
        self.hash.value()
    }

    #[inline(always)]
    fn hash_event(&mut self, at: VirtualTime, what: &EventKind) {
        let code = words(what);
        self.hash.mix(at.micros());
        for word in code {
            self.hash.mix(word);
        }
    }
}

/// A hash of a sequence of words. Each step is a bijection of the state for a given word, so nothing that was mixed
/// in is ever forgotten; the constants are those of the 64-bit finaliser of MurmurHash3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RollingHash(u64);

impl RollingHash {
    /// Mixes a word in.
    #[inline]
    pub fn mix(&mut self, word: u64) {
        let mixed = (self.0.rotate_left(29) ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        self.0 = mixed ^ (mixed >> 32);
    }

    /// The hash of all that was mixed in.
    pub fn value(self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        mixed ^ (mixed >> 33)
    }
}

/// Who, and in which mode: a word that is the contender's number alone where the lock is held by one at a time.
fn in_mode(by: ContenderId, mode: Mode) -> u64 {
    u64::from(by.0) | (mode as u64) << 32
}

/// Why a call failed as a word of the hash. Those of runs that were kept are older than the difference between time
/// that ran out and a lease that had lapsed, so both have one.
fn failure(why: Failure) -> u64 {
    match why == Failure::LeaseLapsed {
        true => Failure::TimedOut as u64,
        false => why as u64,
    }
}

/// An event as words. The first says which event it is, and its number never changes.
#[inline(always)]
fn words(what: &EventKind) -> [u64; 4] {
    fn signed(value: i64) -> u64 {
        value.cast_unsigned()
    }
    match *what {
        EventKind::AcquireStarted { by, lock, mode } => {
            [1, by.0.into(), lock.0.into(), mode as u64]
        }
        EventKind::Acquired {
            by,
            lock,
            token,
            mode,
        } => [
            2,
            in_mode(by, mode),
            lock.0.into(),
            token.map_or(u64::MAX, |token| token.0),
        ],
        EventKind::AcquireFailed {
            by,
            lock,
            why,
            definite,
        } => [
            3,
            by.0.into(),
            lock.0.into(),
            failure(why) << 1 | u64::from(definite),
        ],
        EventKind::Reentry { by, lock, step } => [38, by.0.into(), lock.0.into(), step as u64],
        EventKind::Conversion {
            by,
            lock,
            mode,
            step,
        } => [40, in_mode(by, mode), lock.0.into(), step as u64],
        EventKind::ReleaseStarted { by, lock } => [4, by.0.into(), lock.0.into(), 0],
        EventKind::Released { by, lock } => [5, by.0.into(), lock.0.into(), 0],
        EventKind::ReleaseFailed { by, lock, why } => [6, by.0.into(), lock.0.into(), failure(why)],
        EventKind::Lost { by, lock, why } => [7, by.0.into(), lock.0.into(), failure(why)],
        EventKind::Cancelled { by, lock } => [8, by.0.into(), lock.0.into(), 0],
        EventKind::ReleaseCancelled { by, lock } => [37, by.0.into(), lock.0.into(), 0],
        EventKind::Revoked { by, lock } => [39, by.0.into(), lock.0.into(), 0],
        EventKind::Finished { by } => [9, by.0.into(), 0, 0],
        EventKind::Paused { by } => [10, by.0.into(), 0, 0],
        EventKind::Resumed { by } => [11, by.0.into(), 0, 0],
        EventKind::Crashed { by } => [12, by.0.into(), 0, 0],
        EventKind::Restarted { by } => [13, by.0.into(), 0, 0],
        EventKind::Disconnected { by } => [14, by.0.into(), 0, 0],
        EventKind::Reconnected { by } => [15, by.0.into(), 0, 0],
        EventKind::ConnectedReadOnly { by } => [33, by.0.into(), 0, 0],
        EventKind::SessionLost { by } => [16, by.0.into(), 0, 0],
        EventKind::CouldHaveKnown {
            by,
            lock,
            since,
            how,
        } => [
            37,
            u64::from(by.0) << 32 | u64::from(lock.0),
            since.micros(),
            how as u64,
        ],
        EventKind::Queued {
            by,
            lock,
            place,
            name,
            mode,
        } => [
            17,
            in_mode(by, mode),
            u64::from(lock.0) << 32 | u64::from(name.0),
            place,
        ],
        EventKind::Unqueued {
            by,
            lock,
            place,
            name,
        } => [
            18,
            by.0.into(),
            u64::from(lock.0) << 32 | u64::from(name.0),
            place,
        ],
        EventKind::Owned {
            by,
            lock,
            token,
            name,
            mode,
        } => [
            19,
            in_mode(by, mode),
            u64::from(lock.0) << 32 | u64::from(name.0),
            token.0,
        ],
        EventKind::Disowned {
            by,
            lock,
            token,
            how,
        } => {
            let how = match how {
                picklock_checker::Disowned::Released => 1,
                picklock_checker::Disowned::Expired => 2,
                // One word for both: the hashes of runs that were kept are older than the difference.
                picklock_checker::Disowned::RemovedFromOutside
                | picklock_checker::Disowned::LostByService => 3,
                picklock_checker::Disowned::RemovedBy(other) => 4 + u64::from(other.0),
                picklock_checker::Disowned::OverwrittenBy(other) => u64::MAX - u64::from(other.0),
            };
            [20, u64::from(by.0) << 32 | u64::from(lock.0), token.0, how]
        }
        EventKind::Answered { by, lock, answer } => {
            let answer = match answer {
                picklock_checker::ServiceAnswer::GrantedApart => 1,
                picklock_checker::ServiceAnswer::DeniedAtOne => 2,
                picklock_checker::ServiceAnswer::Counts(entries) => entries.saturating_add(3),
                picklock_checker::ServiceAnswer::Missing => 0,
            };
            [34, by.0.into(), lock.0.into(), answer]
        }
        EventKind::SessionExpired { by } => [21, by.0.into(), 0, 0],
        EventKind::Writing { by, lock, token } => [
            22,
            by.0.into(),
            lock.0.into(),
            token.map_or(u64::MAX, |token| token.0),
        ],
        EventKind::Read { by, lock, value } => [23, by.0.into(), lock.0.into(), signed(value)],
        EventKind::Effect {
            by,
            lock,
            token,
            before,
            after,
            based_on,
            accepted,
        } => {
            let mut folded = RollingHash::default();
            folded.mix(token.map_or(u64::MAX, |token| token.0));
            folded.mix(signed(before));
            folded.mix(signed(after));
            folded.mix(based_on.map_or(u64::MAX, signed));
            [
                24,
                by.0.into(),
                u64::from(lock.0) << 1 | u64::from(accepted),
                folded.value(),
            ]
        }
        EventKind::Written { by, lock, accepted } => {
            [25, by.0.into(), lock.0.into(), u64::from(accepted)]
        }
        EventKind::FaultFired { fault } => [26, fault.0.into(), 0, 0],
        EventKind::FaultHealed { fault } => [27, fault.0.into(), 0, 0],
        EventKind::CalmBegan => [28, 0, 0, 0],
        EventKind::Ended { why } => [29, why as u64, 0, 0],
        EventKind::StillWaiting {
            by,
            lock,
            behind,
            owner,
        } => {
            let behind = behind.map_or(u64::MAX, |name| name.0.into());
            let owner = owner.map_or(u64::MAX, |owner| owner.0.into());
            [30, u64::from(by.0) << 32 | u64::from(lock.0), behind, owner]
        }
        EventKind::Leftover { lock, name, owner } => [
            31,
            lock.0.into(),
            name.0.into(),
            owner.map_or(u64::MAX, |owner| owner.0.into()),
        ],
        EventKind::Resent { by } => [35, by.0.into(), 0, 0],
        EventKind::ServerChanged { server, to } => [36, server.0.into(), to as u64, 0],
        EventKind::Final { lock, value } => [32, lock.0.into(), signed(value), 0],
    }
}
