//! Drawn faults whose parts have to fit together: what they strike, when, for how long, and what comes along.
//!
//! Drawn one by one, such parts meet once in thousands of plans. What fits follows from what is known of locks in
//! general, as in the search that aims (`search/fault_parameters.rs`, `search/durations.rs`), and of no recipe.

use std::time::Duration;

use picklock_sim::plan::{
    Arrival, ContenderName, Direction, Fault, FaultKind, PlannedFault, ServerName, Trigger,
};

use super::draw::Draw;
use super::faults::Storm;
use super::moments::change;

/// How soon one is back that dies again because it has to see another server.
const SOON: Duration = Duration::from_millis(100);

/// A fault, what it waits for, and how long after that it strikes.
type FittedFault = (Trigger, Duration, Fault);

impl Storm<'_> {
    /// The faults of one kind and of what has to come along, which fit together; none if nothing has to, or if it is
    /// not drawn this time. The first of them will stand at this place of the plan.
    pub(super) fn fitting(
        &self,
        kind: FaultKind,
        index: usize,
        draw: &mut Draw,
    ) -> Option<Vec<PlannedFault>> {
        let parts = match self.plan.service.session_tick() {
            Some(tick) => self.on_sessions(tick, kind, index, draw)?,
            None => self.on_leases(kind, index, draw)?,
        };
        let planned = parts.into_iter().map(|(when, after, inject)| PlannedFault {
            when,
            after,
            repeat: None,
            text: String::new(),
            inject,
        });
        Some(planned.collect())
    }

    fn on_sessions(
        &self,
        tick: Duration,
        kind: FaultKind,
        index: usize,
        draw: &mut Draw,
    ) -> Option<Vec<FittedFault>> {
        let service = &self.plan.service;
        match kind {
            FaultKind::BlackHole if draw.once_in(3) => Some(vec![self.outbound_only(tick, draw)]),
            FaultKind::CrashServer if service.voters() == 1 && draw.once_in(2) => {
                Some(vec![self.away(draw)])
            }
            FaultKind::HoldLink | FaultKind::LagServer
                if service.voters() > 1 && !draw.once_in(3) =>
            {
                self.undecided(kind, index, draw)
            }
            FaultKind::IsolateServer
                if service.reads_without_leader()
                    && self.may(FaultKind::Crash)
                    && !draw.once_in(4) =>
            {
                Some(self.left_behind(index, draw))
            }
            _ => None,
        }
    }

    /// A waiter is heard, and hears nothing, until it has given up its session for itself: two thirds of a timeout
    /// until it gives up the connection, and a whole one from then on. Servers end that session up to a tick later.
    fn outbound_only(&self, tick: Duration, draw: &mut Draw) -> FittedFault {
        let target = self.waiter(draw);
        let given_up = self.session * 5 / 3;
        let inject = Fault::BlackHole {
            target,
            direction: Direction::ToClient,
            length: draw.duration((given_up, given_up + tick)).into(),
        };
        (waiting(target), Duration::ZERO, inject)
    }

    /// The only server is away for longer than a session lasts, while a contender waits. When it is back it has all
    /// sessions again, also those that their clients have given up.
    fn away(&self, draw: &mut Draw) -> FittedFault {
        let inject = Fault::CrashServer {
            target: ServerName::Leader,
            restart_after: Some(draw.duration((self.session, self.session * 2))),
        };
        (waiting(self.waiter(draw)), Duration::ZERO, inject)
    }

    /// A change is not agreed on while its client loses the connection, and asks what has become of the change.
    fn undecided(
        &self,
        kind: FaultKind,
        index: usize,
        draw: &mut Draw,
    ) -> Option<Vec<FittedFault>> {
        let target = self.contender(draw);
        let when = change(self.plan, target, self.moment, draw);
        let session = self.session;
        let length = draw.duration((session / 2, session * 2));
        let inject = match kind {
            FaultKind::HoldLink => {
                let followers = self.servers.saturating_sub(1);
                let held = (followers / 2 + 1).min(followers);
                Fault::HoldLink {
                    from: (0..held).map(ServerName::Follower).collect(),
                    to: ServerName::Leader,
                    length: length.into(),
                }
            }
            _ => Fault::LagServer {
                target: ServerName::Leader,
                by: draw.duration((session / 2, session)),
                length: length.into(),
            },
        };
        let (breaks_when, breaks) = match self.may(FaultKind::Cut) {
            true => (Trigger::Fired { fault: index }, Fault::Cut { target }),
            false if self.may(FaultKind::LoseReply) => (when.clone(), Fault::LoseReply { target }),
            false => return None,
        };
        let at_once = Duration::ZERO;
        Some(vec![
            (when, at_once, inject),
            (breaks_when, at_once, breaks),
        ])
    }

    /// A server without a leader shows what was true before it was cut off, to a contender that was there before, and
    /// died meanwhile. A contender that comes back to one of several servers dies until it has seen most of them.
    fn left_behind(&self, index: usize, draw: &mut Draw) -> Vec<FittedFault> {
        let target = self.contender(draw);
        let isolate = Fault::IsolateServer {
            target: ServerName::Of(target),
            length: draw.duration((self.session * 4, self.session * 10)).into(),
        };
        let when = Trigger::Acquired { by: target, nth: 1 };
        let mut parts = vec![(when, Duration::ZERO, isolate)];
        let mut away = draw.duration((self.session * 3 / 2, self.session * 5 / 2));
        let mut after = Duration::ZERO;
        for death in 0..usize::from(self.plan.service.voters()) + 1 {
            let inject = Fault::Crash {
                target,
                restart_after: Some(away),
            };
            let fault = index + death;
            parts.push((Trigger::Fired { fault }, after, inject));
            after = away + self.session / 6;
            away = SOON;
        }
        parts
    }

    /// A server has forgotten a holder who stands still: another comes in, and both write.
    fn on_leases(
        &self,
        kind: FaultKind,
        index: usize,
        draw: &mut Draw,
    ) -> Option<Vec<FittedFault>> {
        let forgets = matches!(kind, FaultKind::CrashServer | FaultKind::PowerLoss);
        if !forgets || !self.may(FaultKind::Pause) || draw.once_in(2) {
            return None;
        }
        let target = self.contender(draw);
        let lease = self.session;
        let (when, ends) = match draw.once_in(3) {
            true => (Trigger::Acquired { by: target, nth: 1 }, lease),
            false => (Trigger::Writing { by: target, nth: 1 }, lease * 2),
        };
        let restart_after = Some(draw.duration((Duration::from_millis(1), lease / 4)));
        let server = self.server(draw);
        let forgets = match kind {
            FaultKind::PowerLoss => Fault::PowerLoss {
                target: server,
                restart_after,
            },
            _ => Fault::CrashServer {
                target: server,
                restart_after,
            },
        };
        let length = draw.duration((lease / 2, ends));
        let fired = Trigger::Fired { fault: index };
        let stands = (
            fired,
            Duration::ZERO,
            Fault::Pause {
                target,
                length: length.into(),
            },
        );
        Some(vec![(when, Duration::ZERO, forgets), stands])
    }

    /// A contender that waits for another at first: not the first, where they come in order.
    fn waiter(&self, draw: &mut Draw) -> ContenderName {
        let workload = &self.plan.workload;
        let drawn = self.contender(draw);
        match workload.arrive {
            Arrival::InOrder | Arrival::BehindHolder | Arrival::InOrderBehindHolder => {
                ContenderName(drawn.0.max(1).min(workload.contenders.saturating_sub(1)))
            }
            Arrival::Together | Arrival::Within(_) => drawn,
        }
    }
}

fn waiting(by: ContenderName) -> Trigger {
    Trigger::Waiting { by, nth: 1 }
}
