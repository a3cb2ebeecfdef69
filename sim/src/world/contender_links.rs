//! What breaks on the way between a contender and the service: nothing gets through, everything is late, packets are
//! lost, or the link is down and up in turn.

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_checker::time::whole_micros;
use picklock_machines::Chance;

use super::SimulatedService;
use super::World;
use super::for_good::LastingStrike;
use crate::event::Event;
use crate::network::{Latency, Obstacle};
use crate::plan::{ContenderName, Direction, Fault, Rate};

/// How long TCP waits for an acknowledgement before it sends a segment again, besides the round trip (`TCP_RTO_MIN` of
/// Linux: where round trips are steady, the time-out is the round trip and this).
const RTO_MIN: Duration = Duration::from_millis(200);
/// The same for the first segment of each side, as long as no round trip is known (`TCP_TIMEOUT_INIT`).
const RTO_INITIAL: Duration = Duration::from_secs(1);
/// Each time that it is sent again it waits twice as long, up to this (`TCP_RTO_MAX`).
const RTO_MAX: Duration = Duration::from_secs(120);

impl<S: SimulatedService> World<S> {
    /// Breaks something on the link of a contender's process; answers how long it lasts.
    pub(super) fn inject_on_link(&mut self, fault: &Fault) -> Option<Duration> {
        match *fault {
            Fault::BlackHole {
                target,
                direction,
                length,
            } => {
                let until = self.until(length);
                self.on_link(target, direction, |obstacle| obstacle.hold(until));
                length.duration()
            }
            Fault::SlowLink {
                target,
                direction,
                by,
                length,
            } => {
                let (by, until) = (whole_micros(by), self.until(length));
                self.on_link(target, direction, |obstacle| obstacle.slow(by, until));
                self.lasts_until(until);
                length.duration()
            }
            Fault::LosePackets {
                target,
                direction,
                rate,
                length,
            } => {
                let (parts, until) = (rate.parts(), self.now + length);
                self.on_link(target, direction, |obstacle| obstacle.lose(parts, until));
                self.lasts_until(until);
                Some(length)
            }
            Fault::Flap { length, .. } => {
                self.link_goes_down(self.striking, self.now + length);
                Some(length)
            }
            _ => None,
        }
    }

    /// What made a link slow or lossy is over. Others that do may be not.
    pub(super) fn delays_end(&mut self, fault: usize, target: ContenderName) {
        self.is_over(fault);
        let process = self.process_named(target);
        if let Some(link) = self.client_links.get_mut(&process) {
            link.to_server.clear_delays();
            link.to_client.clear_delays();
        }
        let plan = std::rc::Rc::clone(&self.plan);
        for LastingStrike { fault, until } in self.struck.lasting.clone() {
            match plan.faults[fault].inject {
                Fault::SlowLink {
                    target,
                    direction,
                    by,
                    ..
                } if self.process_named(target) == process => {
                    let by = whole_micros(by);
                    self.on_link(target, direction, |obstacle| obstacle.slow(by, until));
                }
                Fault::LosePackets {
                    target,
                    direction,
                    rate,
                    ..
                } if self.process_named(target) == process => {
                    self.on_link(target, direction, |link| link.lose(rate.parts(), until));
                }
                _ => {}
            }
        }
    }

    fn on_link(
        &mut self,
        target: ContenderName,
        direction: Direction,
        change: impl Fn(&mut Obstacle),
    ) {
        self.links_clear = false;
        let process = self.process_named(target);
        let link = self.client_links.entry(process).or_default();
        if matches!(direction, Direction::ToServer | Direction::Both) {
            change(&mut link.to_server);
        }
        if matches!(direction, Direction::ToClient | Direction::Both) {
            change(&mut link.to_client);
        }
    }

    /// A link that flaps goes down, and up again after a while; it stays up when the fault is over.
    #[cold]
    pub(super) fn link_goes_down(&mut self, fault: usize, until: VirtualTime) {
        let plan = std::rc::Rc::clone(&self.plan);
        let Fault::Flap {
            target,
            direction,
            down,
            up,
            ..
        } = plan.faults[fault].inject
        else {
            return;
        };
        let comes_up = (self.now + self.draw(down)).min(until);
        self.on_link(target, direction, |obstacle| obstacle.hold(comes_up));
        self.trace_link_down(self.process_named(target), direction, comes_up);
        if comes_up < until {
            let goes_down = comes_up + self.draw(up);
            if goes_down < until {
                self.timeline
                    .add(goes_down, Event::LinkDown { fault, until });
            }
        }
    }

    /// When the copy of a segment leaves that gets through. One that is lost is sent again when the time-out of TCP is
    /// over, each time after twice as long; whatever is sent behind it on its connection waits for it. Lock traffic is
    /// a segment at a time, so that no later ones tell the sender sooner.
    #[inline]
    pub(crate) fn departure(
        &mut self,
        obstacle: Option<Obstacle>,
        latency: Latency,
        departs: VirtualTime,
        is_first: bool,
    ) -> VirtualTime {
        match obstacle {
            Some(obstacle) if obstacle.leaves(departs).1 > 0 => {
                self.retransmission(obstacle, latency, departs, is_first)
            }
            Some(_) | None => departs,
        }
    }

    #[cold]
    fn retransmission(
        &mut self,
        obstacle: Obstacle,
        latency: Latency,
        departs: VirtualTime,
        is_first: bool,
    ) -> VirtualTime {
        let round_trip = latency.most() * 2;
        let mut timeout = match is_first {
            true => RTO_INITIAL,
            false => (RTO_MIN + round_trip).min(RTO_MAX),
        };
        let mut leaves = departs;
        loop {
            let (copy_leaves, parts) = obstacle.leaves(leaves);
            // The boring choice is that it is not lost.
            if self.tape.choose(Rate::WHOLE) < Rate::WHOLE - parts {
                return copy_leaves;
            }
            leaves = copy_leaves + timeout;
            timeout = (timeout * 2).min(RTO_MAX);
            if obstacle.leaves(leaves).1 == 0 {
                return leaves;
            }
        }
    }
}
