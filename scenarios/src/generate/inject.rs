//! What drawn faults do: whom they strike, for how long, and by how much.

use std::time::Duration;

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::{ContenderName, Direction, Fault, Lasts, Plan, ServerName, Service};

use super::draw::Draw;
use super::faults::Storm;
use crate::fault_kind::FaultKind;

/// By how much clocks are wrong, in parts per million: from a bad crystal to a bad virtual machine.
const DRIFTS: [i32; 4] = [200, 10_000, 100_000, 300_000];

impl Storm<'_> {
    /// Shorter than a session, about as long, or longer: what happens differs, and the shorter, the less.
    pub(super) fn length(&self, draw: &mut Draw) -> Duration {
        let session = self.session;
        let least = Duration::from_millis(1);
        let long = session * 3 / 2;
        let ranges = [
            (1, (least, session / 2)),
            (2, (session / 2, long)),
            (3, (long, session * 2)),
            (2, (session * 2, session * 4)),
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

    /// How long a server is away. What has been forgotten is missed within a lease, or not at all.
    fn outage(&self, draw: &mut Draw) -> Option<Duration> {
        let short = self.plan.service.kind() == ServiceKind::Redis && draw.once_in(2);
        match short {
            true => Some(draw.duration((Duration::from_millis(1), self.session / 2))),
            false => self.restart(8, draw),
        }
    }

    /// A contender often stays away. Servers mostly come back, and see `for_good.rs`.
    fn restart(&self, stays_away: u32, draw: &mut Draw) -> Option<Duration> {
        (!draw.once_in(stays_away)).then(|| self.length(draw))
    }

    pub(super) fn server(&self, draw: &mut Draw) -> ServerName {
        if let Service::Redis(deployment) = &self.plan.service {
            // Mostly the one that has the lock, if the others only follow it.
            if self.plan.service.has_links() && draw.once_in(2) {
                return ServerName::Number(deployment.first_primary().into());
            }
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

    /// One that does not have the lock, if there is any.
    fn replica(&self, draw: &mut Draw) -> ServerName {
        let primary = match &self.plan.service {
            Service::Redis(deployment) => u32::from(deployment.first_primary()),
            Service::ZooKeeper(_) => 0,
        };
        let further = 1 + draw.below(self.servers.saturating_sub(1));
        ServerName::Number((primary + further) % self.servers.max(1))
    }

    pub(super) fn inject(&self, kind: FaultKind, target: ContenderName, draw: &mut Draw) -> Fault {
        match kind {
            FaultKind::Pause => Fault::Pause {
                target,
                length: self.length(draw).into(),
            },
            FaultKind::BlockEvents => Fault::BlockEvents {
                target,
                length: self.length(draw).into(),
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
                    length: length.into(),
                }
            }
            FaultKind::SlowLink => {
                let (direction, by, length) =
                    (direction(draw), self.delay(draw), self.length(draw));
                Fault::SlowLink {
                    target,
                    direction,
                    by,
                    length: length.into(),
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
                    length: None,
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
        let lasts = self.length(draw);
        let length = Lasts::For(lasts);
        match kind {
            FaultKind::CrashServer => Fault::CrashServer {
                target,
                restart_after: self.outage(draw),
            },
            FaultKind::PowerLoss => Fault::PowerLoss {
                target,
                restart_after: self.outage(draw),
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
                length: lasts,
            },
            FaultKind::EvictKey => Fault::EvictKey { target },
            FaultKind::Promote => Fault::Promote {
                target: self.replica(draw),
            },
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
    let ways = [Direction::Both, Direction::ToServer, Direction::ToClient];
    draw.one_of(&ways).unwrap_or(Direction::Both)
}
