//! The parameters of drawn faults: their targets, durations, and amounts.

use std::time::Duration;

use picklock_checker::time::whole_micros;
use picklock_sim::plan::{
    ContenderName, Direction, Fault, FaultKind, Field, FieldSource, FieldSpec, FieldType, LockCall,
    Plan, Rate, ServerName,
};

use super::draw::Draw;
use super::faults::Storm;

/// By how much clocks are wrong, in parts per million: from a bad crystal to a bad virtual machine.
const DRIFTS: [i32; 4] = [200, 10_000, 100_000, 300_000];

/// How many packets of a hundred are lost: from a bad cable to a link that hardly works.
const LOSSES: [u32; 5] = [2, 10, 20, 40, 60];

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

    /// How long a link that flaps is down, or up: up to four times as long once as another time.
    fn phase(&self, draw: &mut Draw) -> (Duration, Duration) {
        let most = self.delay(draw);
        let least = Duration::from_micros(whole_micros(most) / 4);
        (least.max(Duration::from_millis(1)).min(most), most)
    }

    /// How long a server is away. What has been forgotten is missed within a lease, or not at all.
    fn outage(&self, draw: &mut Draw) -> Option<Duration> {
        let short = self.plan.service.row().replicates_asynchronously && draw.once_in(2);
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
        let service = &self.plan.service;
        if !service.row().has_roles {
            // Mostly the one that has the lock, if the others only follow it.
            if service.has_links() && draw.once_in(2) {
                return ServerName::Number(service.first_primary().into());
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
        let primary = u32::from(self.plan.service.first_primary());
        let further = 1 + draw.below(self.servers.saturating_sub(1));
        ServerName::Number((primary + further) % self.servers.max(1))
    }

    /// A fault of a kind. What its fields hold, their types say; where they have to fit together, see `links.rs`.
    pub(super) fn inject(&self, kind: FaultKind, target: ContenderName, draw: &mut Draw) -> Fault {
        let at_server = kind.has_field(FieldType::Server) || kind.has_field(FieldType::Servers);
        // The server that a fault strikes is drawn first, and for how long.
        let server = at_server.then(|| (self.server(draw), self.length(draw)));
        if let Some((server, length)) = server {
            match kind {
                FaultKind::Partition => return self.partition(server, length.into(), draw),
                FaultKind::HoldLink => return self.hold_link(length.into(), draw),
                FaultKind::MoveSlot => {
                    let to = another_primary(self.plan, draw);
                    return Fault::MoveSlot { to, length };
                }
                FaultKind::Promote => {
                    let target = self.replica(draw);
                    return Fault::Promote { target };
                }
                _ => {}
            }
        }
        let mut drawn = Drawn {
            storm: self,
            draw,
            target,
            server,
        };
        kind.fault(&mut drawn).unwrap_or(Fault::Cut { target })
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
}

/// What the fields of a drawn fault hold.
struct Drawn<'d, 's, 'p> {
    storm: &'s Storm<'p>,
    draw: &'d mut Draw,
    target: ContenderName,
    /// The server that a fault of servers strikes, and for how long.
    server: Option<(ServerName, Duration)>,
}

impl FieldSource for Drawn<'_, '_, '_> {
    fn field(&mut self, spec: FieldSpec) -> Option<Field> {
        let (storm, draw) = (self.storm, &mut *self.draw);
        Some(match spec.holds {
            FieldType::Contender => Field::Contender(self.target),
            FieldType::Server => Field::Server(self.server?.0),
            FieldType::Direction => Field::Direction(direction(draw)),
            FieldType::Call => Field::Call(LockCall::Acquire),
            FieldType::FaultDuration => {
                let length = self.server.map(|(_, length)| length);
                let length = length.unwrap_or_else(|| storm.length(draw));
                Field::FaultDuration(length.into())
            }
            FieldType::Duration if spec.key == "fsync" => {
                Field::Duration(draw.duration((Duration::from_millis(1), storm.session / 2)))
            }
            FieldType::Duration if spec.key == "for" => Field::Duration(storm.length(draw)),
            FieldType::Duration => Field::Duration(storm.delay(draw)),
            FieldType::Range => Field::Range(storm.phase(draw)),
            FieldType::Rate => {
                let percent = draw.one_of(&LOSSES).unwrap_or(20);
                Field::Rate(Rate::percent(percent))
            }
            FieldType::MaybeDuration => Field::MaybeDuration(match (spec.key, self.server) {
                ("restart-after", Some(_)) => storm.outage(draw),
                ("restart-after", None) => storm.restart(3, draw),
                _ => None,
            }),
            FieldType::Millis => Field::Millis(storm.jump(draw)),
            FieldType::PartsPerMillion => {
                let size = draw.one_of(&DRIFTS).unwrap_or(200);
                Field::PartsPerMillion(if draw.once_in(2) { -size } else { size })
            }
            FieldType::Flag => Field::Flag(draw.once_in(2)),
            FieldType::Contenders => Field::Contenders(Vec::new()),
            FieldType::Servers => Field::Servers(vec![self.server?.0]),
        })
    }
}

/// A primary of a cluster that does not have the lock's slot at first.
fn another_primary(plan: &Plan, draw: &mut Draw) -> ServerName {
    let primaries = plan.service.slot_owners().unwrap_or(1);
    let owner = plan.service.first_primary();
    let others = (0..primaries).filter(|index| *index != owner);
    let others: Vec<u8> = others.collect();
    ServerName::Number(draw.one_of(&others).unwrap_or(owner).into())
}

fn direction(draw: &mut Draw) -> Direction {
    let ways = [Direction::Both, Direction::ToServer, Direction::ToClient];
    draw.one_of(&ways).unwrap_or(Direction::Both)
}
