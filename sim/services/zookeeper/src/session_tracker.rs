//! The session tracker: the leader's clock for sessions, in buckets of ticks.

use std::collections::VecDeque;

use picklock_checker::VirtualTime;
use picklock_clients::zookeeper::{Path, SessionId, ZkError, Zxid};
use picklock_machines::collections::FxIndexMap;

use super::messages::{Password, ServerId};

/// The sessions that a leader keeps, and when each expires.
///
/// Sessions expire in buckets of one tick: a session dies at the first tick that is later than its timeout after the
/// last sign of life.
#[derive(Clone, Debug)]
pub(super) struct SessionTracker {
    /// Microseconds.
    tick: u64,
    sessions: FxIndexMap<SessionId, Tracked>,
    /// Those that may expire, by the number of the tick. A session that has moved to a later bucket is still in the
    /// earlier one; it is passed over when that one is due.
    buckets: VecDeque<Vec<SessionId>>,
    /// The number of the first bucket's tick, and when it is due; never, if there is none.
    first_tick: u64,
    first_due: VirtualTime,
    /// The number of the tick before the one that was asked for last.
    last_asked: u64,
}

/// A session as the leader knows it. With its key, it is half a line of the cache.
#[derive(Clone, Debug)]
pub(super) struct Tracked {
    /// The number of the tick at which it expires.
    expires: u32,
    /// The server whose requests for it count; the first that speaks for it, if none is known.
    pub(super) owner: Option<ServerId>,
    /// Marked: from here on it is refused everywhere, though its nodes are still there.
    pub(super) closing: bool,
    /// Ephemeral nodes that were proposed for it since the tree was last up to date with them.
    creating: Option<Box<PendingEphemerals>>,
}

const _: () = assert!(size_of::<Tracked>() == 16);

/// Ephemeral nodes that were proposed, the last by this transaction.
#[derive(Clone, Debug)]
struct PendingEphemerals {
    paths: Vec<Path>,
    until: Zxid,
}

impl SessionTracker {
    pub(super) fn new(tick: u64) -> Self {
        Self {
            tick,
            sessions: FxIndexMap::default(),
            buckets: VecDeque::new(),
            first_tick: 0,
            first_due: VirtualTime::NEVER,
            last_asked: 0,
        }
    }

    /// Begins to keep a session, with its full timeout.
    pub(super) fn track(&mut self, now: VirtualTime, session: SessionId, timeout: u64) {
        let tracked = Tracked {
            expires: u32::MAX,
            owner: None,
            closing: false,
            creating: None,
        };
        self.sessions.entry(session).or_insert(tracked);
        self.touch(now, session, timeout);
    }

    /// A sign of life. Answers whether the session is alive.
    pub(super) fn touch(&mut self, now: VirtualTime, session: SessionId, timeout: u64) -> bool {
        self.touch_at(&mut 0, now, session, timeout)
    }

    /// The same, of a session that was found at this place before.
    #[inline(always)]
    pub(super) fn touch_at(
        &mut self,
        index: &mut u32,
        now: VirtualTime,
        session: SessionId,
        timeout: u64,
    ) -> bool {
        let expires = self.tick_after(now.micros() + timeout);
        let Some(tracked) = self.find(index, session) else {
            return false;
        };
        if tracked.closing {
            return false;
        }
        // No session lives for so many ticks that the lower half of their number could mean another one.
        if tracked.expires != expires as u32 {
            tracked.expires = expires as u32;
            self.put(session, expires);
        }
        true
    }

    /// A session that was found at this place before; it may have moved.
    #[inline]
    fn find(&mut self, index: &mut u32, session: SessionId) -> Option<&mut Tracked> {
        let known = self.sessions.get_index(*index as usize);
        if known.is_none_or(|(known, _)| *known != session) {
            *index = self.sessions.get_index_of(&session)? as u32;
        }
        let (_, tracked) = self.sessions.get_index_mut(*index as usize)?;
        Some(tracked)
    }

    /// The number of the first tick after this time. Mostly it is the one that was asked for last, and a division takes
    /// its time.
    #[inline]
    fn tick_after(&mut self, micros: u64) -> u64 {
        let since = micros.wrapping_sub(self.last_asked * self.tick);
        if since >= self.tick {
            self.last_asked = micros / self.tick;
        }
        self.last_asked + 1
    }

    fn put(&mut self, session: SessionId, tick: u64) {
        if self.buckets.is_empty() {
            self.first_tick = tick;
        }
        while tick < self.first_tick {
            self.buckets.push_front(Vec::new());
            self.first_tick -= 1;
        }
        let index = (tick - self.first_tick) as usize;
        while self.buckets.len() <= index {
            self.buckets.push_back(Vec::new());
        }
        self.buckets[index].push(session);
        self.update_first_due();
    }

    fn update_first_due(&mut self) {
        self.first_due = if self.buckets.is_empty() {
            VirtualTime::NEVER
        } else {
            VirtualTime::from_micros(self.first_tick * self.tick)
        };
    }

    /// When the next bucket is due.
    pub(super) fn next_due(&self) -> VirtualTime {
        self.first_due
    }

    /// Takes a bucket that is due and marks the sessions in it as closing; sorted. `None` if no bucket is due.
    pub(super) fn expire(&mut self, now: VirtualTime) -> Option<Vec<SessionId>> {
        if self.next_due() > now {
            return None;
        }
        let mut dead = self.buckets.pop_front().unwrap_or_default();
        let tick = self.first_tick;
        self.first_tick += 1;
        while self.buckets.front().is_some_and(Vec::is_empty) {
            self.buckets.pop_front();
            self.first_tick += 1;
        }
        self.update_first_due();
        dead.retain(|session| {
            self.sessions
                .get(session)
                .is_some_and(|tracked| tracked.expires == tick as u32 && !tracked.closing)
        });
        dead.sort_unstable();
        dead.dedup();
        for session in &dead {
            self.mark_closing(*session);
        }
        Some(dead)
    }

    /// Marks a session as closing. Answers whether it was alive.
    pub(super) fn mark_closing(&mut self, session: SessionId) -> bool {
        self.sessions
            .get_mut(&session)
            .is_some_and(|tracked| !std::mem::replace(&mut tracked.closing, true))
    }

    /// Forgets a session that is closed.
    pub(super) fn remove(&mut self, session: SessionId) {
        self.sessions.swap_remove(&session);
    }

    /// Makes a server the owner of a session.
    pub(super) fn set_owner(&mut self, session: SessionId, owner: ServerId) {
        if let Some(tracked) = self.sessions.get_mut(&session) {
            tracked.owner = Some(owner);
        }
    }

    /// Whether a request of a session may come through this server; `index` is where the session was found before.
    #[inline(always)]
    pub(super) fn check_at(
        &mut self,
        index: &mut u32,
        session: SessionId,
        through: ServerId,
    ) -> Result<&mut Tracked, ZkError> {
        let alive = self.find(index, session).filter(|one| !one.closing);
        let tracked = alive.ok_or(ZkError::SessionExpired)?;
        if *tracked.owner.get_or_insert(through) == through {
            Ok(tracked)
        } else {
            Err(ZkError::SessionMoved)
        }
    }

    /// A session.
    pub(super) fn get(&self, session: SessionId) -> Option<&Tracked> {
        self.sessions.get(&session)
    }
}

impl Tracked {
    /// Notes an ephemeral node that is being made.
    pub(super) fn creates(&mut self, path: Path, zxid: Zxid, applied: Zxid) {
        let creating = self.creating.get_or_insert_with(|| {
            Box::new(PendingEphemerals {
                paths: Vec::new(),
                until: zxid,
            })
        });
        if creating.until <= applied {
            creating.paths.clear();
        }
        creating.paths.push(path);
        creating.until = zxid;
    }

    /// The ephemeral nodes that may be in the making.
    pub(super) fn creating(&self) -> &[Path] {
        self.creating.as_ref().map_or(&[], |one| &one.paths)
    }
}

/// The password of a session: any server can tell it from the id.
pub(super) fn password_of(session: SessionId) -> Password {
    let mixed = (session.0 ^ 0xb341_5c00).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Password(mixed ^ mixed >> 29)
}

/// The first id that a server gives to a session after it has come up at this time: its own number in the top byte,
/// then its clock, then a counter in the low two.
pub(super) fn first_session(server: ServerId, millis: u64) -> SessionId {
    SessionId((u64::from(server.0) + 1) << 56 | (millis & 0xff_ffff_ffff) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: u64 = 2_000_000;
    const TIMEOUT: u64 = 6_000_000;

    fn at(micros: u64) -> VirtualTime {
        VirtualTime::from_micros(micros)
    }

    #[test]
    fn a_session_dies_between_its_timeout_and_one_tick_more() {
        for (touched, due) in [(0, 8), (1_999_999, 8), (2_000_000, 10), (2_000_001, 10)] {
            let mut tracker = SessionTracker::new(TICK);
            tracker.track(at(touched), SessionId(7), TIMEOUT);
            assert_eq!(tracker.next_due(), at(due * 1_000_000));
            assert_eq!(tracker.expire(at(due * 1_000_000 - 1)), None);
            assert_eq!(
                tracker.expire(at(due * 1_000_000)),
                Some(vec![SessionId(7)])
            );
        }
    }

    #[test]
    fn a_touched_session_is_passed_over_in_its_old_bucket() {
        let mut tracker = SessionTracker::new(TICK);
        tracker.track(at(0), SessionId(7), TIMEOUT);
        assert!(tracker.touch(at(3_000_000), SessionId(7), TIMEOUT));
        assert_eq!(tracker.expire(at(8_000_000)), Some(vec![]));
        assert_eq!(tracker.next_due(), at(10_000_000));
        assert_eq!(tracker.expire(at(10_000_000)), Some(vec![SessionId(7)]));
        assert_eq!(tracker.next_due(), VirtualTime::NEVER);
    }

    #[test]
    fn a_marked_session_is_refused_everywhere() {
        let mut tracker = SessionTracker::new(TICK);
        tracker.track(at(0), SessionId(7), TIMEOUT);
        assert!(tracker.mark_closing(SessionId(7)));
        assert!(!tracker.touch(at(1), SessionId(7), TIMEOUT));
        assert!(matches!(
            tracker.check_at(&mut 0, SessionId(7), ServerId(0)),
            Err(ZkError::SessionExpired)
        ));
    }

    #[test]
    fn only_the_owner_speaks_for_a_session() {
        let mut tracker = SessionTracker::new(TICK);
        tracker.track(at(0), SessionId(7), TIMEOUT);
        assert!(tracker.check_at(&mut 0, SessionId(7), ServerId(1)).is_ok());
        assert!(matches!(
            tracker.check_at(&mut 0, SessionId(7), ServerId(0)),
            Err(ZkError::SessionMoved)
        ));
        tracker.set_owner(SessionId(7), ServerId(0));
        assert!(tracker.check_at(&mut 0, SessionId(7), ServerId(0)).is_ok());
    }

    #[test]
    fn the_id_of_a_session_is_its_server_its_servers_clock_and_a_counter() {
        let id = first_session(ServerId(2), 0x7f12_3456_789a);
        assert_eq!(id, SessionId(0x0312_3456_789a_0000));
        // The next server begins far from where any counter comes to.
        let other = first_session(ServerId(3), 0x7f12_3456_789a);
        assert_eq!(other.0 - id.0, 1 << 56);
        assert_ne!(password_of(id), password_of(other));
    }
}
