//! The faults of a drawn plan.

use std::time::Duration;

use picklock_sim::plan::{Arrival, ContenderName, FaultKind, Plan, PlannedFault, Trigger};

use super::draw::Draw;
use super::moments::{aimed, struck, timed};
use super::spread::{SamplePoint, felt, shown_by, turns};
use crate::describe;
use crate::excuses::excuses;
use crate::sampled_parameters::AnyFaults;

/// What a seed makes of the faults that it may draw.
pub(super) struct Storm<'p> {
    pub(super) plan: &'p Plan,
    /// All that may be drawn.
    possible: Vec<FaultKind>,
    /// The few of them that are.
    kinds: Vec<FaultKind>,
    /// No fault takes a promise from every lock that the first has left.
    spares: bool,
    number: u32,
    aim: Aim,
    at_most: usize,
    /// How far through the moments the first fault strikes.
    pub(super) moment: u32,
    pub(super) servers: u32,
    pub(super) session: Duration,
}

/// What the faults of a plan wait for.
#[derive(Clone, Copy)]
enum Aim {
    Moments,
    Times,
    Either,
}

/// What is drawn is up to ten sessions long, and a file says no more than 366 days.
const LONGEST_SESSION: Duration = Duration::from_secs(36 * 24 * 3_600);

/// How long a session, or a lease, is for what is drawn.
pub(super) fn session(plan: &Plan) -> Duration {
    plan.service.lease().min(LONGEST_SESSION)
}

impl<'p> Storm<'p> {
    /// Draws a few kinds, and how many faults there are to be.
    pub(super) fn gather(plan: &'p Plan, any: &AnyFaults, seed: u64, draw: &mut Draw) -> Self {
        let servers = plan.service.servers().into();
        let session = session(plan);
        let possible = turns(plan, &felt(plan, FaultKind::possible_in(plan, &any.kinds)));
        let turn = SamplePoint::of(seed, possible.len());
        let mut kinds: Vec<FaultKind> = possible.get(turn.kind).copied().into_iter().collect();
        // One to three kinds: what is left out is what makes a plan different.
        for _ in 1..draw.number((1, 3)) {
            kinds.extend(draw.one_of(&possible));
        }
        let first = kinds.first().copied();
        kinds.extend(first.and_then(|kind| draw.one_of(&shown_by(plan, kind, &possible))));
        let number = match kinds.is_empty() {
            true => 0,
            // None is the least likely number.
            false if draw.once_in(16) => 0,
            false => number(any.at_most.max(1), draw),
        };
        let aims = [(6, Aim::Moments), (1, Aim::Times), (1, Aim::Either)];
        let aim = draw.weighed(&aims).unwrap_or(Aim::Either);
        let spares = !draw.once_in(5) && plan.service.row().has_quorum;
        Self {
            plan,
            possible,
            kinds,
            spares,
            number,
            at_most: any.at_most.max(1) as usize,
            aim,
            moment: turn.moment,
            servers,
            session,
        }
    }

    /// Draws the faults.
    pub(super) fn faults(&self, draw: &mut Draw) -> Vec<PlannedFault> {
        let before = self.plan.faults.len();
        let mut faults = self.plan.faults.clone();
        let mut excused = 0;
        for nth in 0..self.number {
            let there = faults.len() - before;
            if there >= self.number as usize {
                break;
            }
            let kind = match nth {
                0 => self.kinds.first().copied(),
                _ => draw.one_of(&self.kinds),
            };
            let Some(kind) = kind else { break };
            match self.fitting(kind, faults.len(), draw) {
                Some(fitting) => faults.extend(fitting.into_iter().take(self.at_most - there)),
                None => {
                    let target = self.contender(draw);
                    let fault = self.fault(kind, target, before..faults.len(), draw);
                    faults.push(fault);
                }
            }
            if self.spares {
                let now = excuses(self.plan, &faults).len();
                match nth {
                    0 => excused = now,
                    _ if now > excused => faults.truncate(before + there),
                    _ => {}
                }
            }
        }
        self.leave_enough(&mut faults, before, draw);
        let mut drawn = faults.split_off(before);
        // Only of those that stay: to write a text costs as much as to draw a fault.
        for fault in &mut drawn {
            describe::update_text(fault);
        }
        drawn
    }

    /// Whether faults of a kind may be drawn.
    pub(super) fn may(&self, kind: FaultKind) -> bool {
        self.possible.contains(&kind)
    }

    fn fault(
        &self,
        kind: FaultKind,
        target: ContenderName,
        earlier: std::ops::Range<usize>,
        draw: &mut Draw,
    ) -> PlannedFault {
        let inject = self.inject(kind, target, draw);
        let (when, after) = match kind.strikes_message() {
            Some(strikes) => {
                let request = self.share(&earlier, draw);
                (
                    struck(self.plan, target, strikes, request, draw),
                    Duration::ZERO,
                )
            }
            None if !earlier.is_empty() && draw.once_in(3) => {
                let fault = draw.number((earlier.start as u32, earlier.end as u32 - 1)) as usize;
                (Trigger::Fired { fault }, self.soon(draw))
            }
            None => {
                let moment = self.share(&earlier, draw);
                (self.trigger(kind, target, moment, draw), self.soon(draw))
            }
        };
        PlannedFault {
            when,
            after,
            repeat: None,
            inject,
            text: String::new(),
        }
    }

    /// How far through the moments a fault strikes: the first where it is its turn, the others anywhere.
    fn share(&self, earlier: &std::ops::Range<usize>, draw: &mut Draw) -> u32 {
        match earlier.is_empty() {
            true => self.moment,
            false => draw.share(),
        }
    }

    fn trigger(
        &self,
        kind: FaultKind,
        target: ContenderName,
        moment: u32,
        draw: &mut Draw,
    ) -> Trigger {
        let at_moment = match self.aim {
            Aim::Moments => true,
            Aim::Times => false,
            Aim::Either => draw.once_in(2),
        };
        if !at_moment {
            return timed(self.plan, draw);
        }
        // Mostly at a moment of its own victim.
        if draw.once_in(6) {
            return aimed(self.plan, self.contender(draw), None, moment, draw);
        }
        aimed(self.plan, target, Some(kind), moment, draw)
    }

    /// Mostly at once: that is what the moment was drawn for. Else shortly after.
    fn soon(&self, draw: &mut Draw) -> Duration {
        match draw.below(10) {
            0 => draw.duration((Duration::ZERO, self.plan.network.client_latency.1 * 4)),
            1 => draw.duration((Duration::ZERO, self.session)),
            _ => Duration::ZERO,
        }
    }

    /// Mostly one of the first, if they come in order: the last has no waiter behind it that could take the lock.
    pub(super) fn contender(&self, draw: &mut Draw) -> ContenderName {
        let workload = &self.plan.workload;
        let times = match workload.arrive {
            Arrival::Together | Arrival::Within(_) => 1,
            Arrival::InOrder | Arrival::BehindHolder | Arrival::InOrderBehindHolder => 3,
        };
        let indices = (0..times).map(|_| draw.below(workload.contenders));
        ContenderName(indices.min().unwrap_or_default())
    }
}

/// How many faults a plan has. Mostly many: most of them never strike, or change nothing, and then it was not a run for
/// nothing. Else few, for what is only seen if nothing else happens.
fn number(at_most: u32, draw: &mut Draw) -> u32 {
    match draw.once_in(3) {
        true => draw.number((1, at_most.div_ceil(4))),
        false => draw.number((at_most.div_ceil(2), at_most)),
    }
}
