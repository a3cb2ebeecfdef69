//! Storm and calm, and how a run ends.

use std::time::Duration;

use picklock_checker::{Broken, ContenderId, Ended, EventKind, LockId, VirtualTime};

use super::SimulatedService;
use super::World;
use crate::event::Event;
use crate::ownership::Ownership;
use crate::plan::{Arrival, Fault, FaultDuration, Hold, Plan, PlannedFault, Section, Trigger};

/// The storm lasts this long at most.
pub(crate) fn storm_limit(plan: &Plan) -> Duration {
    plan.workload.storm.unwrap_or_else(|| {
        let faults: Duration = plan.faults.iter().map(length).sum();
        faults + plan.service.lease_at_most() * 3 + sections(plan)
    })
}

/// How long every contender has to get the lock once the storm is over: the time for what the dead have left to go, for
/// a leader to be found and clients to come back, for every section that is still to come, and for single messages that
/// are late to come. A plan that says it itself does not count the messages.
pub(crate) fn progress_bound(plan: &Plan) -> Duration {
    let bound = plan.workload.progress_bound;
    bound.unwrap_or_else(|| plan.time_to_recover() + left_to_others(plan) + sections(plan))
        + late_messages(plan)
}

/// What contenders that want no lock have to do for the others: two turns of the slowest reaper, at the second of which
/// at the latest it sees what the dead have left, and each release, for which a lease has to do where the releaser is
/// dead.
fn left_to_others(plan: &Plan) -> Duration {
    let workload = &plan.workload;
    let own = workload.contender_settings.values();
    let slowest = own.filter_map(|own| own.reaper_interval).max();
    let releases = workload.releaser().map_or(0, |_| workload.sections());
    slowest.unwrap_or_default() * 2 + plan.service.lease_at_most().saturating_mul(releases)
}

impl Plan {
    /// How long it takes until what the dead have left is gone, a leader is found, and clients are back.
    pub fn time_to_recover(&self) -> Duration {
        self.service.lease_at_most() * 2 + self.service.recovery()
    }
}

/// When the last contender comes at the latest, where the plan says so.
fn last_arrival(plan: &Plan) -> Duration {
    let span = match plan.workload.arrive {
        Arrival::Within(span) => span,
        Arrival::Together
        | Arrival::InOrder
        | Arrival::BehindHolder
        | Arrival::InOrderBehindHolder => Duration::ZERO,
    };
    let own = plan.workload.contender_settings.values();
    let last = own.filter_map(|own| own.arrive_after).max();
    span + last.unwrap_or_default()
}

/// By how much single messages come late, one behind the other. The faults that make them late are over at once.
fn late_messages(plan: &Plan) -> Duration {
    let late = plan.faults.iter().map(|fault| match fault.inject {
        Fault::DelayRequest { by, .. } | Fault::DelayReply { by, .. } => {
            by.saturating_mul(fault.strikes())
        }
        // What was lost again and again is sent again at most as long after the end as it has been tried until then.
        Fault::LosePackets { length, .. } => length,
        _ => Duration::ZERO,
    });
    late.sum()
}

/// What all sections take, one after the other, with twenty messages to and fro for each, and what is done
/// about them.
fn sections(plan: &Plan) -> Duration {
    let workload = &plan.workload;
    let latencies = plan.latency_at_most() + plan.server_latency_at_most();
    let takes = latencies + slow_for_good(plan) + plan.processing_at_most();
    let waits = plan.service.wait_at_server(plan.recipe.requests);
    let messages = (takes.saturating_mul(20) + waits).saturating_mul(workload.locks_at_once);
    let of_each = workload.each(|name| {
        let hold = match workload.hold_of(name) {
            Hold::For(hold) => hold,
            Hold::Settled => Duration::from_secs(1),
        };
        (
            hold + workload.think_of(name).1 + messages,
            workload.rounds_of(name),
        )
    });
    let of_each = of_each.map(|((each, rounds), contenders)| {
        let number = u64::from(rounds).saturating_mul(contenders);
        each.saturating_mul(u32::try_from(number).unwrap_or(u32::MAX))
    });
    of_each.fold(Duration::ZERO, Duration::saturating_add)
}

/// How much longer messages and writes take for good, and answers of a server that gives none any more.
fn slow_for_good(plan: &Plan) -> Duration {
    let slow = plan.faults.iter().map(|fault| match fault.inject {
        Fault::SlowLink { by, length, .. }
        | Fault::LagServer { by, length, .. }
        | Fault::SlowDisk {
            fsync: by, length, ..
        } if length == FaultDuration::ForGood => by,
        _ => Duration::ZERO,
    });
    let unanswered = plan.faults.iter().any(|fault| fault.inject.is_for_good());
    let timeout = unanswered.then(|| plan.service.timeout_of_each_server());
    slow.sum::<Duration>() + timeout.unwrap_or_default()
}

fn length(fault: &PlannedFault) -> Duration {
    let until = match fault.when {
        Trigger::At(time) => time,
        _ => Duration::ZERO,
    };
    let lasts = match (fault.inject.lasts(), &fault.inject) {
        (Some(FaultDuration::For(length)), _) => length,
        (None, Fault::DelayRequest { by, .. } | Fault::DelayReply { by, .. }) => *by,
        // The storm does not wait for what nothing heals.
        (Some(FaultDuration::ForGood) | None, _) => Duration::ZERO,
    };
    until + fault.after + fault.repeats_for() + lasts
}

impl Section {
    /// What the resource holds at first.
    pub(crate) fn initial_value(self) -> i64 {
        match self {
            Self::Sell(sold) => sold.stock.into(),
            Self::Write | Self::Count | Self::DelayedWrite(_) | Self::Nothing => 0,
        }
    }

    /// What one section does to the value of the resource, if it depends on it.
    pub(crate) fn step(self) -> Option<i64> {
        match self {
            Self::Sell(_) => Some(-1),
            Self::Count => Some(1),
            Self::Write | Self::DelayedWrite(_) | Self::Nothing => None,
        }
    }
}

impl<S: SimulatedService> World<S> {
    /// Whether nothing new breaks any more.
    pub(crate) fn is_calm(&self) -> bool {
        self.calm
    }

    /// Whether a contender still has rounds to do.
    pub(crate) fn contenders_are_active(&self) -> bool {
        self.contenders_active > 0
    }

    /// Ends the storm if every fault has struck and is over, and nothing is late because of one.
    pub(crate) fn begin_calm_if_over(&mut self) {
        let is_over = self.faults_armed == 0 && self.faults_active == 0;
        if !self.calm && is_over && self.now >= self.late_until {
            match S::struck_until(self).filter(|until| *until > self.now) {
                Some(until) => self.hold_off_calm(until.since(self.now)),
                None => self.begin_calm(),
            }
        }
    }

    /// Something comes so much later because of a fault: the calm does not begin before.
    pub(crate) fn hold_off_calm(&mut self, by: Duration) {
        let until = self.now + by;
        self.late_until = self.late_until.max(until);
        self.timeline.add(until, Event::StormMayEnd);
    }

    /// The storm has lasted long enough: what has not struck yet will not.
    #[cold]
    pub(crate) fn storm_ends(&mut self) {
        for fault in &mut self.faults {
            fault.armed = false;
            fault.strikes_left = 0;
        }
        self.faults_armed = 0;
        self.begin_calm_if_over();
    }

    #[cold]
    fn begin_calm(&mut self) {
        self.calm = true;
        self.record(EventKind::CalmBegan);
        // A contender that comes later has as long from then on.
        let all_have_come = VirtualTime::ZERO + last_arrival(&self.plan);
        let from = self.now.max(all_have_come);
        self.timeline
            .add(from + self.progress_bound, Event::BoundReached);
    }

    /// A contender has done what it came for, or is dead for good.
    pub fn leaves(&mut self, by: ContenderId) {
        let contender = &mut self.contenders[by.0 as usize];
        if !std::mem::replace(&mut contender.finished, true) {
            self.contenders_active -= 1;
            // It may go before it ever waited or held: the next contender arrives all the same.
            self.start_next(by);
        }
    }

    /// Whether there is anything to be asked about the end of the run.
    #[inline(always)]
    pub fn may_be_over(&self) -> bool {
        self.contenders_active == 0 || self.ended.is_some()
    }

    /// Ends the run when all contenders have left and nothing is under way. What is left of the lock gets time to go.
    #[inline(never)]
    pub fn end_if_over(&mut self) {
        if self.contenders_active > 0 || self.resource_in_flight > 0 || self.ended.is_some() {
            return;
        }
        if self.ownerships.iter().all(Ownership::is_clear) {
            self.ended = Some(Ended::AllFinished);
        } else if !std::mem::replace(&mut self.settling, true) {
            self.timeline.add(self.now + self.lease * 2, Event::Drained);
        }
    }

    /// Writes down what is left when the run ends.
    pub fn write_the_end(&mut self, why: Ended) {
        self.beliefs_end();
        self.record(EventKind::Ended { why });
        if why == Ended::BoundReached {
            self.recorder.history.too_long = S::list_too_long(self);
            for index in 0..self.contenders.len() {
                if self.contenders[index].acquiring {
                    let by = ContenderId(index as u32);
                    let (behind, owner) = S::waits_behind(self, by).unzip();
                    self.record(EventKind::StillWaiting {
                        by,
                        lock: self.contenders[index].lock,
                        behind,
                        owner,
                    });
                }
            }
        }
        if why == Ended::AllFinished {
            self.record_leftovers();
        }
        for index in 0..self.storages.len() {
            let (lock, value) = (LockId(index as u32), self.storages[index].value());
            self.record(EventKind::Final { lock, value });
        }
        let grants = self.grants();
        let counts = &mut self.recorder.counts;
        counts.grants = grants;
        counts.virtual_time_micros = self.now.micros();
    }

    /// Writes down what is left of each lock at the service.
    fn record_leftovers(&mut self) {
        for index in 0..self.ownerships.len() {
            for (name, owner) in self.ownerships[index].leftovers() {
                self.record(EventKind::Leftover {
                    lock: LockId(index as u32),
                    name,
                    owner: Some(owner),
                });
            }
        }
    }

    /// Writes down that the run broke off. The world may have been in the middle of something: nothing else is read.
    pub fn break_off(&mut self, why: Broken) {
        self.record(EventKind::Ended { why: Ended::Broken });
        self.recorder.history.broken = Some(why);
        self.recorder.counts.virtual_time_micros = self.now.micros();
    }
}
