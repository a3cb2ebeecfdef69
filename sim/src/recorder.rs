//! The recorder: the only writer of histories.

use picklock_checker::{
    ContenderId, Counts, Disowned, Event, EventKind, Failure, History, Mode, NameId, ServiceAnswer,
    VirtualTime,
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

/// An event as words. The first says which event it is.
#[inline(always)]
fn words(what: &EventKind) -> [u64; 4] {
    let [first, second, third] = fields(what);
    [what.number(), first, second, third]
}

/// What else there is to say of an event, in three words.
#[inline(always)]
fn fields(what: &EventKind) -> [u64; 3] {
    fn signed(value: i64) -> u64 {
        value.cast_unsigned()
    }
    match *what {
        EventKind::AcquireStarted { by, lock, mode } => [by.0.into(), lock.0.into(), mode as u64],
        EventKind::Acquired {
            by,
            lock,
            token,
            mode,
        } => {
            let token = token.map_or(u64::MAX, |token| token.0);
            [in_mode(by, mode), lock.0.into(), token]
        }
        EventKind::AcquireFailed {
            by,
            lock,
            why,
            definite,
        } => [
            by.0.into(),
            lock.0.into(),
            failure(why) << 1 | u64::from(definite),
        ],
        EventKind::Reentry { by, lock, step } => [by.0.into(), lock.0.into(), step as u64],
        EventKind::Conversion {
            by,
            lock,
            mode,
            step,
        } => [in_mode(by, mode), lock.0.into(), step as u64],
        EventKind::ReleaseFailed { by, lock, why } | EventKind::Lost { by, lock, why } => {
            [by.0.into(), lock.0.into(), failure(why)]
        }
        EventKind::ReleaseStarted { by, lock }
        | EventKind::Released { by, lock }
        | EventKind::Cancelled { by, lock }
        | EventKind::ReleaseCancelled { by, lock }
        | EventKind::Revoked { by, lock } => [by.0.into(), lock.0.into(), 0],
        EventKind::Finished { by }
        | EventKind::Paused { by }
        | EventKind::Resumed { by }
        | EventKind::Crashed { by }
        | EventKind::Restarted { by }
        | EventKind::Disconnected { by }
        | EventKind::Reconnected { by }
        | EventKind::ConnectedReadOnly { by }
        | EventKind::SessionLost { by }
        | EventKind::SessionExpired { by }
        | EventKind::Resent { by } => [by.0.into(), 0, 0],
        EventKind::CouldHaveKnown {
            by,
            lock,
            since,
            how,
        } => [pair(by.0, lock.0), since.micros(), how as u64],
        EventKind::Queued {
            by,
            lock,
            place,
            name,
            mode,
        } => [in_mode(by, mode), pair(lock.0, name.0), place],
        EventKind::Unqueued {
            by,
            lock,
            place,
            name,
        } => [by.0.into(), pair(lock.0, name.0), place],
        EventKind::Owned {
            by,
            lock,
            token,
            name,
            mode,
        } => [in_mode(by, mode), pair(lock.0, name.0), token.0],
        EventKind::Disowned {
            by,
            lock,
            token,
            how,
        } => [pair(by.0, lock.0), token.0, disowned(how)],
        EventKind::Answered { by, lock, answer } => [by.0.into(), lock.0.into(), answered(answer)],
        EventKind::Writing { by, lock, token } => [
            by.0.into(),
            lock.0.into(),
            token.map_or(u64::MAX, |token| token.0),
        ],
        EventKind::Read { by, lock, value } => [by.0.into(), lock.0.into(), signed(value)],
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
                by.0.into(),
                u64::from(lock.0) << 1 | u64::from(accepted),
                folded.value(),
            ]
        }
        EventKind::Written { by, lock, accepted } => {
            [by.0.into(), lock.0.into(), u64::from(accepted)]
        }
        EventKind::FaultFired { fault } | EventKind::FaultHealed { fault } => {
            [fault.0.into(), 0, 0]
        }
        EventKind::CalmBegan => [0, 0, 0],
        EventKind::Ended { why } => [why as u64, 0, 0],
        EventKind::StillWaiting {
            by,
            lock,
            behind,
            owner,
        } => {
            let behind = behind.map_or(u64::MAX, |name| name.0.into());
            let owner = owner.map_or(u64::MAX, |owner| owner.0.into());
            [pair(by.0, lock.0), behind, owner]
        }
        EventKind::Leftover { lock, name, owner } => {
            let owner = owner.map_or(u64::MAX, |owner| owner.0.into());
            [lock.0.into(), name.0.into(), owner]
        }
        EventKind::ServerChanged { server, to } => [server.0.into(), to as u64, 0],
        EventKind::Final { lock, value } => [lock.0.into(), signed(value), 0],
    }
}

/// Two numbers in one word.
fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn disowned(how: Disowned) -> u64 {
    match how {
        Disowned::Reaped => 0,
        Disowned::Released => 1,
        Disowned::Expired => 2,
        // One word for both: the hashes of runs that were kept are older than the difference.
        Disowned::RemovedFromOutside | Disowned::LostByService => 3,
        Disowned::RemovedBy(other) => 4 + u64::from(other.0),
        Disowned::OverwrittenBy(other) => u64::MAX - u64::from(other.0),
    }
}

fn answered(answer: ServiceAnswer) -> u64 {
    match answer {
        ServiceAnswer::Missing => 0,
        ServiceAnswer::GrantedApart => 1,
        ServiceAnswer::DeniedAtOne => 2,
        ServiceAnswer::Counts(entries) => entries.saturating_add(3),
    }
}
