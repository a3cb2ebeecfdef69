//! Which contender holds the lock at the moments of a run, for how long still, and how much hangs on it.

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_sim::SeenMoment;
use picklock_sim::plan::{ContenderName, FaultKind, Plan, Trigger};

use super::request_roles::RequestRole;

/// The turns of a run, and how long a session lives without a sign of life.
pub(super) struct HoldWindows {
    turns: Vec<HoldWindow>,
    /// Each contender's own: their places, and when the last of those until then is over.
    own: Vec<Vec<(usize, VirtualTime)>>,
    contenders: u32,
    session: Duration,
    /// A waiter has a place in a queue.
    queue: bool,
    /// A waiter is sent messages.
    told: bool,
    /// How long it takes until the next has the lock that one gives back, in the middle of all hand-overs.
    pub(super) hand_over: Duration,
    /// How long a section takes, in the middle of all.
    pub(super) section: Duration,
}

/// From when until when a contender has the lock.
struct HoldWindow {
    by: ContenderName,
    acquired: VirtualTime,
    /// It calls `release`; never, if it does not.
    leaves: VirtualTime,
    /// `release` has returned.
    gone: VirtualTime,
    /// How many wait for it at most.
    waiting: u32,
}

impl HoldWindows {
    pub(super) fn of(plan: &Plan, seen: &[SeenMoment]) -> Self {
        let mut turns: Vec<HoldWindow> = Vec::new();
        let never = VirtualTime::NEVER;
        for moment in seen {
            let at = moment.at;
            match moment.trigger {
                Trigger::Acquired { by, .. } => turns.push(HoldWindow {
                    by,
                    acquired: at,
                    leaves: never,
                    gone: never,
                    waiting: 0,
                }),
                Trigger::Releasing { by, .. } => {
                    if let Some(turn) = latest(&mut turns, by) {
                        turn.leaves = turn.leaves.min(at);
                    }
                }
                Trigger::Released { by, .. } => {
                    if let Some(turn) = latest(&mut turns, by) {
                        turn.gone = turn.gone.min(at);
                    }
                }
                _ => {}
            }
        }
        for turn in &mut turns {
            // Moments are in the order in which they came.
            let from = seen.partition_point(|moment| moment.at < turn.acquired);
            let during = seen[from..].iter();
            let during = during.take_while(|moment| moment.at <= turn.leaves);
            let waiting = during.map(|moment| moment.waiting);
            turn.waiting = waiting.max().unwrap_or_default();
        }
        let mut own = vec![Vec::new(); plan.workload.contenders as usize];
        for (place, turn) in turns.iter().enumerate() {
            if let Some(own) = own.get_mut(turn.by.0 as usize) {
                let before = own.last().map_or(VirtualTime::ZERO, |(_, gone)| *gone);
                own.push((place, before.max(turn.gone)));
            }
        }
        let pairs = turns.windows(2);
        let hand_overs = pairs.map(|pair| pair[1].acquired.since(pair[0].leaves));
        let ended = turns.iter().filter(|turn| turn.leaves != never);
        let sections = ended.map(|turn| turn.leaves.since(turn.acquired));
        Self {
            hand_over: middle(hand_overs.collect()),
            section: middle(sections.collect()),
            turns,
            own,
            contenders: plan.workload.contenders,
            session: plan.service.lease(),
            queue: seen
                .iter()
                .any(|moment| matches!(moment.trigger, Trigger::Queued { .. })),
            told: seen
                .iter()
                .any(|moment| matches!(moment.trigger, Trigger::Told { .. })),
        }
    }

    /// The turn that a contender has at a moment.
    fn turn(&self, by: ContenderName, at: VirtualTime) -> Option<&HoldWindow> {
        let own = self.own.get(by.0 as usize)?;
        // The first that is not over; those after it begin later.
        let (place, _) = own.get(own.partition_point(|(_, gone)| *gone < at))?;
        let turn = self.turns.get(*place)?;
        (turn.acquired <= at).then_some(turn)
    }

    /// Whether a contender acquires the lock then or later.
    pub(super) fn acquires_again(&self, by: ContenderName, at: VirtualTime) -> bool {
        let own = self.own.get(by.0 as usize);
        let last = own.and_then(|own| own.last());
        let turn = last.and_then(|(place, _)| self.turns.get(*place));
        turn.is_some_and(|turn| turn.acquired >= at)
    }

    /// What is left of the lease of a holder; a whole one for all others, and for holders that have it renewed.
    pub(super) fn lease_left(&self, by: ContenderName, at: VirtualTime) -> Duration {
        let held = self.turn(by, at).map(|turn| at.since(turn.acquired));
        let left = self.session.checked_sub(held.unwrap_or_default());
        left.unwrap_or(self.session)
    }

    /// How long a holder goes on with its section; `None` of all others.
    pub(super) fn stays(&self, by: ContenderName, at: VirtualTime) -> Option<Duration> {
        let turn = self.turn(by, at)?;
        Some(turn.leaves.since(at))
    }

    /// How much hangs on a moment, from 0 to 20. A holder is in the way of all who wait for the lock, and a request
    /// that lets its sender in decides. Of the others, those count who have contenders before and behind them. What a
    /// contender does for the second time is less promising than the first: one that asks again and again would take
    /// all turns.
    pub(super) fn suspense(
        &self,
        moment: &SeenMoment,
        (by, nth): (ContenderName, u32),
        role: RequestRole,
    ) -> u32 {
        let first_time = u32::from(nth == 1) * 10;
        let role = match self.turn(by, moment.at) {
            Some(turn) => 2 + turn.waiting.min(3) * 2,
            None if role == RequestRole::Entry => 8,
            None => {
                let last = self.contenders.saturating_sub(1);
                let between = by.0 > 0 && by.0 < last;
                u32::from(moment.held) * 2 + u32::from(moment.waiting > 0) + u32::from(between) * 4
            }
        };
        role + first_time
    }

    /// Whether the next contender is told that its turn has come, and can miss that.
    pub(super) fn can_miss_its_turn(&self) -> bool {
        self.queue || self.told
    }

    /// How much less promising it is that a waiter dies or gives up without a place in a queue: it leaves nothing
    /// behind.
    pub(super) fn leaves_no_place(&self, kind: FaultKind, moment: &SeenMoment) -> u32 {
        let goes = matches!(kind, FaultKind::Crash | FaultKind::Cancel);
        let waits = matches!(moment.trigger, Trigger::Waiting { .. });
        u32::from(goes && waits && !self.queue) * 40
    }

    /// How much less promising a fault is that bites only when a session ends, if the holder that it strikes is gone
    /// by then.
    pub(super) fn too_late(&self, kind: FaultKind, moment: &SeenMoment, by: ContenderName) -> u32 {
        let Some(turn) = self.turn(by, moment.at).filter(|_| takes_a_session(kind)) else {
            return 0;
        };
        match turn.leaves.since(moment.at) < self.session {
            true => 40,
            false => 0,
        }
    }
}

/// The one in the middle; nothing if there are none.
fn middle(mut durations: Vec<Duration>) -> Duration {
    durations.sort_unstable();
    durations
        .get(durations.len() / 2)
        .copied()
        .unwrap_or_default()
}

fn latest(turns: &mut [HoldWindow], by: ContenderName) -> Option<&mut HoldWindow> {
    turns.iter_mut().rev().find(|turn| turn.by == by)
}

/// Whether a fault lets its victim go on, and does nothing until the session behind it ends.
pub(crate) fn takes_a_session(kind: FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::BlockEvents
            | FaultKind::BlackHole
            | FaultKind::SlowLink
            | FaultKind::LosePackets
            | FaultKind::Flap
            | FaultKind::ClockDrift
            | FaultKind::HangServer
            | FaultKind::IsolateServer
            | FaultKind::Partition
    )
}
