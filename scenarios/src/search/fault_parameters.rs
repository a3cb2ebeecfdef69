//! The parameters of a fault of some kind at a moment: those with which it is most likely to break a lock.

use std::time::Duration;

use picklock_sim::SeenMoment;
use picklock_sim::plan::{ContenderName, Direction, Fault, FaultKind, Plan, ServerName, Trigger};

use super::default_fields::DefaultFields;
use super::durations::{SOON, given_up, restart, slot_move, whole};
use super::fault_variants::Variant;
use super::hold_windows::HoldWindows;

/// A contender at a moment, and the times that matter to it then.
pub(super) struct AimedFault<'p> {
    pub(super) plan: &'p Plan,
    pub(super) target: ContenderName,
    /// How long a session, or a lease, lives.
    pub(super) lease: Duration,
    /// Until another holds the lock, and is in the middle of its section.
    overlap: Duration,
    /// Until the contender has left its section.
    pub(super) stay: Option<Duration>,
    /// What strikes here has to outlast the next one's section, and not to meet it.
    outlasts: bool,
    /// How much longer than else a contender that dies is dead.
    early: Duration,
}

impl<'p> AimedFault<'p> {
    pub(super) fn at(
        plan: &'p Plan,
        holds: &HoldWindows,
        moment: &SeenMoment,
        target: ContenderName,
    ) -> Self {
        let lease = plan.service.lease();
        let left = match plan.service.session_tick() {
            // Sessions are kept alive, and end in steps of a tick.
            Some(tick) => lease + tick,
            None => holds.lease_left(target, moment.at),
        };
        Self {
            plan,
            target,
            lease,
            overlap: left + holds.hand_over + holds.section / 2,
            stay: holds.stays(target, moment.at),
            outlasts: matches!(moment.trigger, Trigger::Writing { .. }),
            early: Duration::ZERO,
        }
    }

    /// The same, if it strikes so much earlier than what it belongs to.
    pub(super) fn earlier(self, early: Duration) -> Self {
        Self { early, ..self }
    }

    /// The faults of a kind, each with how long after the one before it. Several, where one alone decides nothing: of
    /// servers of which a majority is asked, and of connections, which lead to any server.
    pub(super) fn faults(&self, kind: FaultKind, variant: Variant) -> Vec<(Fault, Duration)> {
        let servers = u32::from(self.plan.service.servers());
        let at_once = std::iter::repeat(Duration::ZERO);
        if let Some(faults) = self.faults_of_replicas(kind, variant) {
            return faults.into_iter().zip(at_once).collect();
        }
        if let Some(deaths) = self.deaths(kind, variant) {
            return deaths;
        }
        if let Some(faults) = self.at_several_servers(kind, variant) {
            return faults.into_iter().zip(at_once).collect();
        }
        let (times, pause) = match kind {
            FaultKind::ServerClockJump
            | FaultKind::CrashServer
            | FaultKind::PowerLoss
            | FaultKind::HangServer
            | FaultKind::EvictKey
                if self.plan.service.asks_majority() =>
            {
                (servers / 2 + 1, Duration::ZERO)
            }
            FaultKind::Cut if variant == Variant::Follows && self.plan.service.row().has_roles => {
                (servers, self.lease / 5)
            }
            _ => (1, Duration::ZERO),
        };
        let fault = |nth: u32| {
            let after = if nth == 0 { Duration::ZERO } else { pause };
            let server = ServerName::Number(self.first_primary() + nth);
            (self.fault(kind, server, variant), after)
        };
        (0..times.max(1)).map(fault).collect()
    }

    /// Faults of a kind at the primary and its replicas, where there are several and it matters which of them a fault
    /// strikes.
    fn faults_of_replicas(&self, kind: FaultKind, variant: Variant) -> Option<Vec<Fault>> {
        let number = |index: u8| ServerName::Number(index.into());
        let service = &self.plan.service;
        let (primary, replicas) = (service.first_primary(), service.first_replicas());
        if replicas.len() < 2 {
            return None;
        }
        match (kind, variant) {
            (FaultKind::HoldLink, Variant::Best) => {
                let hold = |replica: &u8| self.hold_link_to(number(*replica));
                Some(replicas.iter().map(hold).collect())
            }
            (FaultKind::CrashServer | FaultKind::PowerLoss, Variant::WithReplicas) => {
                let all = replicas[1..].iter().chain([&primary]);
                let dies = |server: &u8| self.at_server(kind, number(*server));
                Some(all.map(dies).collect())
            }
            _ => None,
        }
    }

    /// A contender that is to come back to one of several servers dies again and again, each time after a look around.
    fn deaths(&self, kind: FaultKind, variant: Variant) -> Option<Vec<(Fault, Duration)>> {
        if !self.plan.service.row().has_roles {
            return None;
        }
        let servers = self.plan.service.voters();
        let back = restart(self.plan, variant).filter(|_| kind == FaultKind::Crash)?;
        let look = self.lease / 6;
        let death = |nth: u8| {
            let (back, after) = match nth {
                0 => (back, Duration::ZERO),
                1 => (SOON, back + look),
                _ => (SOON, SOON + look),
            };
            let target = self.target;
            let restart_after = Some(back);
            (
                Fault::Crash {
                    target,
                    restart_after,
                },
                after,
            )
        };
        (variant == Variant::Follows).then(|| (0..2 * servers - 1).map(death).collect())
    }

    /// How long a contender is to stand still, or how late something is to come: until another is in the middle of its
    /// section, or until that is over.
    fn absence(&self, variant: Variant) -> Duration {
        match (variant, self.outlasts) {
            (Variant::Best, false) | (Variant::Other, true) => whole(self.overlap),
            (Variant::Briefly, _) => whole(self.overlap),
            _ => self.lease * 3,
        }
    }

    fn fault(&self, kind: FaultKind, nth: ServerName, variant: Variant) -> Fault {
        let (target, its_server) = (self.target, self.its_server());
        let (long, half) = (self.lease * 3, self.lease / 2);
        match kind {
            FaultKind::Pause => Fault::Pause {
                target,
                length: self.absence(variant).into(),
            },
            // What it is not told matters for as long as it believes.
            FaultKind::BlockEvents => Fault::BlockEvents {
                target,
                length: self
                    .stay
                    .map_or(long, |stay| long.max(whole(stay + self.lease)))
                    .into(),
            },
            FaultKind::Crash => Fault::Crash {
                target,
                restart_after: restart(self.plan, variant).map(|back| back + whole(self.early)),
            },
            FaultKind::BlackHole if variant == Variant::Unheard => Fault::BlackHole {
                target,
                direction: Direction::ToClient,
                length: given_up(self.plan).into(),
            },
            FaultKind::SlowLink => Fault::SlowLink {
                target,
                direction: Direction::ToClient,
                by: half / 10,
                length: self.lease.into(),
            },
            FaultKind::DelayRequest => {
                let by = self.delay(variant);
                Fault::DelayRequest { target, by }
            }
            FaultKind::DelayReply => {
                let by = self.delay(variant);
                Fault::DelayReply { target, by }
            }
            FaultKind::CrashServer if variant == Variant::Away => Fault::CrashServer {
                target: ServerName::Leader,
                restart_after: Some(self.lease + half),
            },
            FaultKind::HangServer | FaultKind::IsolateServer if variant == Variant::Outage => {
                self.outage(kind)
            }
            FaultKind::HangServer if self.plan.service.asks_majority() => Fault::HangServer {
                target: nth,
                length: (self.lease / 6).into(),
            },
            FaultKind::HangServer => Fault::HangServer {
                target: its_server,
                length: self.lease.into(),
            },
            FaultKind::ClockJump => Fault::ClockJump {
                target,
                by_millis: self.clock_jump(variant),
            },
            FaultKind::Partition => Fault::Partition {
                servers: self.other_side(),
                contenders: vec![target],
                length: long.into(),
            },
            FaultKind::LagServer => Fault::LagServer {
                target: its_server,
                by: half,
                length: self.lease.into(),
            },
            FaultKind::CrashServer
            | FaultKind::PowerLoss
            | FaultKind::HoldLink
            | FaultKind::SlowDisk
            | FaultKind::ServerClockJump
            | FaultKind::Promote
            | FaultKind::FullMemory
            | FaultKind::FullDisk
            | FaultKind::SlowScript
            | FaultKind::MoveSlot
            | FaultKind::EvictKey => self.at_server(kind, nth),
            _ => {
                let mut aimed = DefaultFields {
                    target,
                    its_server,
                    long,
                };
                kind.fault(&mut aimed).unwrap_or(Fault::Cut { target })
            }
        }
    }

    fn at_server(&self, kind: FaultKind, nth: ServerName) -> Fault {
        let (long, half) = (self.lease * 3, self.lease / 2);
        match kind {
            FaultKind::CrashServer => {
                let target = match self.plan.service.row().has_roles {
                    true => ServerName::Leader,
                    false => nth,
                };
                Fault::CrashServer {
                    target,
                    restart_after: Some(self.back()),
                }
            }
            FaultKind::PowerLoss => Fault::PowerLoss {
                target: nth,
                restart_after: Some(self.back()),
            },
            FaultKind::HoldLink => self.hold_link(),
            FaultKind::SlowDisk => Fault::SlowDisk {
                target: ServerName::Leader,
                fsync: half / 10,
                length: self.lease.into(),
            },
            FaultKind::ServerClockJump => Fault::ServerClockJump {
                target: nth,
                by_millis: i64::try_from(long.as_millis()).unwrap_or(i64::MAX),
            },
            FaultKind::Promote => Fault::Promote {
                target: ServerName::Number(1),
            },
            // A holder cannot leave meanwhile, and no other contender comes in before the lease is over.
            FaultKind::FullMemory => Fault::FullMemory {
                target: nth,
                length: self
                    .stay
                    .map_or(half, |stay| half.min(whole(stay * 2)))
                    .into(),
            },
            FaultKind::FullDisk => Fault::FullDisk {
                target: nth,
                length: self.lease.into(),
            },
            // Renewals are refused until the lease is over.
            FaultKind::SlowScript => Fault::SlowScript {
                target: nth,
                length: long,
            },
            FaultKind::MoveSlot => Fault::MoveSlot {
                to: ServerName::Number(u32::from(nth == ServerName::Number(0))),
                length: slot_move(self.plan),
            },
            _ => Fault::EvictKey { target: nth },
        }
    }

    /// The leader is away for long enough that another leads.
    fn outage(&self, kind: FaultKind) -> Fault {
        let target = match self.plan.service.row().has_roles {
            true => ServerName::Leader,
            false => ServerName::Number(self.first_primary()),
        };
        let length = self.plan.service.failover().unwrap_or(self.lease);
        match kind {
            FaultKind::IsolateServer => Fault::IsolateServer {
                target,
                length: length.into(),
            },
            _ => Fault::HangServer {
                target,
                length: length.into(),
            },
        }
    }

    /// How long a server is away: it is to be back before the section is over.
    pub(super) fn back(&self) -> Duration {
        let half = self.lease / 2;
        let back = self.stay.map_or(half, |stay| half.min(whole(stay / 4)));
        // The others elect a successor only if the server stays away long enough to be missed.
        back.max(self.plan.service.failover().unwrap_or_default())
    }

    /// What the primary tells a server is held.
    fn hold_link_to(&self, to: ServerName) -> Fault {
        Fault::HoldLink {
            from: vec![ServerName::Number(self.first_primary())],
            to,
            length: self.held_up().into(),
        }
    }

    /// How long messages between servers are held.
    fn held_up(&self) -> Duration {
        self.lease / 2 + self.lease / 4
    }

    fn hold_link(&self) -> Fault {
        if !self.plan.service.row().has_roles {
            // What the primary tells its replica, or, if it has none, the next node.
            let next = (self.first_primary() + 1) % u32::from(self.plan.service.servers());
            let replica = self.first_replica().unwrap_or(next);
            return self.hold_link_to(ServerName::Number(replica));
        }
        let followers = u32::from(self.plan.service.servers()).saturating_sub(1);
        // So many that the rest is no majority.
        let held = (followers / 2 + 1).min(followers);
        let from = (0..held.max(1)).map(ServerName::Follower).collect();
        Fault::HoldLink {
            from,
            to: ServerName::Leader,
            length: self.held_up().into(),
        }
    }

    /// The server that the victim is connected to, or, if that has no name, the one that has the lock.
    pub(super) fn its_server(&self) -> ServerName {
        match self.plan.service.row().has_roles {
            true => ServerName::Of(self.target),
            false => ServerName::Number(self.first_primary()),
        }
    }

    /// The server that has the lock's key at first, if it is not on several.
    fn first_primary(&self) -> u32 {
        self.plan.service.first_primary().into()
    }

    fn first_replica(&self) -> Option<u32> {
        let replicas = self.plan.service.first_replicas();
        replicas.first().copied().map(u32::from)
    }

    /// How late something is to come: of a holder, when another holds the lock; of others, within a lease, and when it
    /// is over.
    fn delay(&self, variant: Variant) -> Duration {
        match (self.stay, variant) {
            (Some(_), Variant::Other) | (None, Variant::Best) => self.lease / 2,
            (Some(_), _) => whole(self.overlap),
            (None, _) => self.lease,
        }
    }
}
