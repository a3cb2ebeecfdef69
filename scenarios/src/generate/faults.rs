//! The faults of a drawn plan.

use std::time::Duration;

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::{
    Arrival, ContenderName, Direction, Fault, Plan, PlannedFault, ServerName, Service, Trigger,
};

use super::draw::Draw;
use super::moments::{Strikes, aimed, struck, timed};
use super::spread::{Turn, felt, shown_by, turns};
use crate::describe;
use crate::kind::FaultKind;
use crate::open::AnyFaults;

/// By how much clocks are wrong, in parts per million: from a bad crystal to a bad virtual machine.
const DRIFTS: [i32; 4] = [200, 10_000, 100_000, 300_000];

/// What a seed makes of the faults that it may draw.
pub(super) struct Storm<'p> {
    pub(super) plan: &'p Plan,
    kinds: Vec<FaultKind>,
    number: u32,
    aim: Aim,
    /// How far through the moments the first fault strikes.
    moment: u32,
    pub(super) servers: u32,
    session: Duration,
}

/// What the faults of a plan wait for.
#[derive(Clone, Copy)]
enum Aim {
    Moments,
    Times,
    Either,
}

impl<'p> Storm<'p> {
    /// Draws a few kinds, and how many faults there are to be.
    pub(super) fn gather(plan: &'p Plan, any: &AnyFaults, seed: u64, draw: &mut Draw) -> Self {
        let (servers, session) = (plan.service.servers().into(), plan.service.lease());
        let possible = turns(plan, &felt(plan, FaultKind::possible_in(plan, &any.kinds)));
        let turn = Turn::of(seed, possible.len());
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
        Self {
            plan,
            kinds,
            number,
            aim,
            moment: turn.moment,
            servers,
            session,
        }
    }

    /// Draws the faults.
    pub(super) fn faults(&self, draw: &mut Draw) -> Vec<PlannedFault> {
        let before = self.plan.faults.len();
        let mut faults: Vec<PlannedFault> = Vec::new();
        for _ in 0..self.number {
            let kind = match faults.is_empty() {
                true => self.kinds.first().copied(),
                false => draw.one_of(&self.kinds),
            };
            let Some(kind) = kind else {
                break;
            };
            let fault = self.fault(kind, before..before + faults.len(), draw);
            faults.push(fault);
        }
        faults
    }

    fn fault(
        &self,
        kind: FaultKind,
        earlier: std::ops::Range<usize>,
        draw: &mut Draw,
    ) -> PlannedFault {
        let target = self.contender(draw);
        let inject = self.inject(kind, target, draw);
        let (when, after) = match Strikes::of(kind) {
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
        let text = describe::fault(&inject);
        PlannedFault {
            when,
            after,
            inject,
            text,
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

    /// Mostly one of the first, if they come in order: whoever is last has nobody behind it who could take the lock.
    fn contender(&self, draw: &mut Draw) -> ContenderName {
        let workload = &self.plan.workload;
        let times = match workload.arrive {
            Arrival::Together | Arrival::Within(_) => 1,
            Arrival::InOrder | Arrival::BehindHolder => 3,
        };
        let places = (0..times).map(|_| draw.below(workload.contenders));
        ContenderName(places.min().unwrap_or_default())
    }

    /// Shorter than a session, about as long, or longer: what happens differs, and the shorter, the less.
    fn length(&self, draw: &mut Draw) -> Duration {
        let session = self.session;
        let least = Duration::from_millis(1);
        let ranges = [
            (1, (least, session / 2)),
            (2, (session / 2, session * 3 / 2)),
            (5, (session * 3 / 2, session * 4)),
        ];
        let range = draw.weighed(&ranges).unwrap_or((least, session));
        draw.duration(range)
    }

    /// How much later something arrives, or is done; no later than what waits for it has time to get over it.
    fn delay(&self, draw: &mut Draw) -> Duration {
        let (least, session) = (Duration::from_millis(1), self.session);
        let ranges = [(1, (least, session / 2)), (2, (session / 2, session))];
        let range = draw.weighed(&ranges).unwrap_or((least, session));
        draw.duration(range)
    }

    /// A contender often stays away. Servers mostly come back: without them there is little to see.
    fn restart(&self, stays_away: u32, draw: &mut Draw) -> Option<Duration> {
        (!draw.once_in(stays_away)).then(|| self.length(draw))
    }

    fn server(&self, draw: &mut Draw) -> ServerName {
        if self.plan.service.kind() == ServiceKind::Redis {
            return ServerName::Number(draw.below(self.servers));
        }
        let followers = self.servers - 1;
        let names = [
            (3, ServerName::Leader),
            (3, ServerName::Of(self.contender(draw))),
            (
                2 * followers.min(1),
                ServerName::Follower(draw.below(followers)),
            ),
            (1, ServerName::Number(draw.below(self.servers))),
        ];
        draw.weighed(&names).unwrap_or(ServerName::Leader)
    }

    fn inject(&self, kind: FaultKind, target: ContenderName, draw: &mut Draw) -> Fault {
        match kind {
            FaultKind::Pause => Fault::Pause {
                target,
                length: self.length(draw),
            },
            FaultKind::BlockEvents => Fault::BlockEvents {
                target,
                length: self.length(draw),
            },
            FaultKind::Crash => Fault::Crash {
                target,
                restart_after: self.restart(3, draw),
            },
            FaultKind::Cancel => Fault::Cancel { target },
            FaultKind::ExpireSession => Fault::ExpireSession { target },
            FaultKind::Cut => Fault::Cut { target },
            FaultKind::BlackHole => {
                let (direction, length) = (direction(draw), self.length(draw));
                Fault::BlackHole {
                    target,
                    direction,
                    length,
                }
            }
            FaultKind::SlowLink => {
                let (direction, by, length) =
                    (direction(draw), self.delay(draw), self.length(draw));
                Fault::SlowLink {
                    target,
                    direction,
                    by,
                    length,
                }
            }
            FaultKind::LoseRequest => Fault::LoseRequest { target },
            FaultKind::LoseReply => Fault::LoseReply { target },
            FaultKind::SwallowReply => Fault::SwallowReply { target },
            FaultKind::LoseMessage => Fault::LoseMessage { target },
            FaultKind::DelayRequest => Fault::DelayRequest {
                target,
                by: self.delay(draw),
            },
            FaultKind::DelayReply => Fault::DelayReply {
                target,
                by: self.delay(draw),
            },
            FaultKind::ClockJump => Fault::ClockJump {
                target,
                by_millis: self.jump(draw),
            },
            FaultKind::ClockDrift => {
                let size = draw.one_of(&DRIFTS).unwrap_or(200);
                let parts_per_million = if draw.once_in(2) { -size } else { size };
                Fault::ClockDrift {
                    target,
                    parts_per_million,
                }
            }
            FaultKind::CrashServer
            | FaultKind::PowerLoss
            | FaultKind::HangServer
            | FaultKind::IsolateServer
            | FaultKind::Partition
            | FaultKind::HoldLink
            | FaultKind::LagServer
            | FaultKind::SlowDisk
            | FaultKind::ServerClockJump
            | FaultKind::FullMemory
            | FaultKind::FullDisk
            | FaultKind::MoveSlot
            | FaultKind::EvictKey
            | FaultKind::Promote => self.inject_at_server(kind, draw),
            FaultKind::DeleteNode => Fault::DeleteNode { of: target },
            FaultKind::RecreateLock => Fault::RecreateLock,
        }
    }

    /// By how many milliseconds a clock jumps.
    fn jump(&self, draw: &mut Draw) -> i64 {
        let hours = draw.once_in(4);
        let most = if hours {
            Duration::from_secs(7_200)
        } else {
            self.session * 2
        };
        let by = draw.duration((Duration::from_millis(1), most));
        let millis = i64::try_from(by.as_millis()).unwrap_or(i64::MAX).max(1);
        if draw.once_in(2) { -millis } else { millis }
    }

    fn inject_at_server(&self, kind: FaultKind, draw: &mut Draw) -> Fault {
        let target = self.server(draw);
        let length = self.length(draw);
        match kind {
            FaultKind::CrashServer => Fault::CrashServer {
                target,
                restart_after: self.restart(8, draw),
            },
            FaultKind::PowerLoss => Fault::PowerLoss {
                target,
                restart_after: self.restart(8, draw),
            },
            FaultKind::HangServer => Fault::HangServer { target, length },
            FaultKind::IsolateServer => Fault::IsolateServer { target, length },
            FaultKind::Partition => self.partition(target, length, draw),
            FaultKind::LagServer => Fault::LagServer {
                target,
                by: self.delay(draw),
                length,
            },
            FaultKind::SlowDisk => {
                let fsync = draw.duration((Duration::from_millis(1), self.session / 2));
                Fault::SlowDisk {
                    target,
                    fsync,
                    length,
                }
            }
            FaultKind::ServerClockJump => Fault::ServerClockJump {
                target,
                by_millis: self.jump(draw),
            },
            FaultKind::FullMemory => Fault::FullMemory { target, length },
            FaultKind::FullDisk => Fault::FullDisk { target, length },
            FaultKind::MoveSlot => Fault::MoveSlot {
                to: another_primary(self.plan, draw),
                length,
            },
            FaultKind::EvictKey => Fault::EvictKey { target },
            FaultKind::Promote => Fault::Promote { target },
            FaultKind::HoldLink
            | FaultKind::Pause
            | FaultKind::BlockEvents
            | FaultKind::Crash
            | FaultKind::Cancel
            | FaultKind::ExpireSession
            | FaultKind::Cut
            | FaultKind::BlackHole
            | FaultKind::SlowLink
            | FaultKind::LoseRequest
            | FaultKind::LoseReply
            | FaultKind::SwallowReply
            | FaultKind::LoseMessage
            | FaultKind::DelayRequest
            | FaultKind::DelayReply
            | FaultKind::ClockJump
            | FaultKind::ClockDrift
            | FaultKind::DeleteNode
            | FaultKind::RecreateLock => self.hold_link(length, draw),
        }
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

/// A primary of a cluster that does not have the lock's slot at first.
fn another_primary(plan: &Plan, draw: &mut Draw) -> ServerName {
    let primaries = plan.service.cluster().map_or(1, |it| it.primaries);
    let owner = match &plan.service {
        Service::Redis(deployment) => deployment.first_primary(),
        Service::ZooKeeper(_) => 0,
    };
    let others = (0..primaries).filter(|place| *place != owner);
    let others: Vec<u8> = others.collect();
    ServerName::Number(draw.one_of(&others).unwrap_or(owner).into())
}

fn direction(draw: &mut Draw) -> Direction {
    let ways = [
        (2, Direction::Both),
        (1, Direction::ToServer),
        (1, Direction::ToClient),
    ];
    draw.weighed(&ways).unwrap_or(Direction::Both)
}
