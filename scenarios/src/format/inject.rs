//! `inject`: what breaks.

mod links;

use std::ops::Range;
use std::time::Duration;

use picklock_sim::plan::{ContenderName, Direction, Fault, Lasts, ServerName};

use super::choice::{choose, named};
use super::participants::Cast;
use super::reader::{Fields, Item, Mistake, Mistakes, Zero, expected};
use crate::fault_kind::FaultKind as Kind;

const DIRECTIONS: [(&str, Direction); 3] = [
    ("to-server", Direction::ToServer),
    ("to-client", Direction::ToClient),
    ("both", Direction::Both),
];

/// Reads the value of `inject`; also where the fault's name stands.
pub(super) fn inject(
    item: &Item,
    cast: Cast,
    mistakes: &mut Mistakes,
) -> Option<(Fault, Range<usize>)> {
    if item.as_text().is_none() && named(item, mistakes).is_empty() {
        return None;
    }
    let chosen = choose(item, "fault", &Kind::NAMED, mistakes)?;
    if let Some(service) = chosen.kind.service()
        && service != cast.service
    {
        let (name, of, here) = (chosen.name, service.title(), cast.service.title());
        let possible: Vec<&str> = Kind::named_on(cast.service).map(|(name, _)| name).collect();
        let mistake = Mistake::new(format!("`{name}` is a fault of {of}"))
            .label(format!("but this scenario stands on {here}"))
            .help(expected(&possible));
        mistakes.add(chosen.span, mistake);
        return None;
    }
    let fields = chosen.fields(mistakes)?;
    let mut body = Body {
        fields,
        cast,
        mistakes,
    };
    let fault = body.read(chosen.kind);
    body.fields.finish(body.mistakes);
    Some((fault?, chosen.span))
}

/// The fields of a fault.
struct Body<'a, 'm, 't> {
    fields: Fields<'a>,
    cast: Cast,
    mistakes: &'m mut Mistakes<'t>,
}

/// Every field is read before any is missed, so that all mistakes are reported together.
impl Body<'_, '_, '_> {
    fn read(&mut self, kind: Kind) -> Option<Fault> {
        match kind {
            Kind::Pause => self.pause(),
            Kind::BlockEvents => self.block_events(),
            Kind::Crash => self.crash(),
            Kind::Cancel => self.target().map(|target| Fault::Cancel { target }),
            Kind::ExpireSession => self.target().map(|target| Fault::ExpireSession { target }),
            Kind::Cut => self.target().map(|target| Fault::Cut { target }),
            Kind::BlackHole => self.black_hole(),
            Kind::SlowLink => self.slow_link(),
            Kind::LoseRequest => self.target().map(|target| Fault::LoseRequest { target }),
            Kind::LoseReply => self.target().map(|target| Fault::LoseReply { target }),
            Kind::SwallowReply => self.target().map(|target| Fault::SwallowReply { target }),
            Kind::LoseMessage => self.target().map(|target| Fault::LoseMessage { target }),
            Kind::DelayRequest => self.delay(|target, by| Fault::DelayRequest { target, by }),
            Kind::DelayReply => self.delay(|target, by| Fault::DelayReply { target, by }),
            Kind::ClockJump => self.clock_jump(),
            Kind::ClockDrift => self.clock_drift(),
            Kind::CrashServer => self.crash_server(),
            Kind::PowerLoss => self.power_loss(),
            Kind::HangServer => self.hang_server(),
            Kind::IsolateServer => self.isolate_server(),
            Kind::Partition => self.partition(),
            Kind::HoldLink => self.hold_link(),
            Kind::LagServer => self.lag_server(),
            Kind::SlowDisk => self.slow_disk(),
            Kind::ServerClockJump => self.server_clock_jump(),
            Kind::Promote => self.promote(),
            Kind::FullMemory => self.filled(|target, length| Fault::FullMemory { target, length }),
            Kind::FullDisk => self.full_disk(),
            Kind::MoveSlot => self.move_slot(),
            Kind::EvictKey => {
                let target = self.server();
                self.refuse_sentinel(target);
                target.map(|target| Fault::EvictKey { target })
            }
            Kind::DeleteNode => {
                let of = self
                    .cast
                    .need_contender(&mut self.fields, "of", self.mistakes);
                of.map(|of| Fault::DeleteNode { of })
            }
            Kind::RecreateLock => Some(Fault::RecreateLock),
        }
    }

    fn target(&mut self) -> Option<ContenderName> {
        self.cast
            .need_contender(&mut self.fields, "target", self.mistakes)
    }

    fn server(&mut self) -> Option<ServerName> {
        self.cast
            .need_server(&mut self.fields, "target", self.mistakes)
    }

    fn time(&mut self, key: &'static str, example: &str) -> Option<Duration> {
        let item = self.fields.need(key, example)?;
        item.duration(Zero::Senseless, self.mistakes)
    }

    /// What does not say for how long is for good. `None` is a mistake.
    fn length(&mut self) -> Option<Lasts> {
        match self.fields.get("for") {
            Some(item) => item
                .duration(Zero::Senseless, self.mistakes)
                .map(Lasts::For),
            None => Some(Lasts::ForGood),
        }
    }

    fn by(&mut self) -> Option<Duration> {
        self.time("by", "by = \"200ms\"")
    }

    /// The outer `None` is a mistake, the inner one says that nothing comes back.
    fn restart_after(&mut self) -> Option<Option<Duration>> {
        match self.fields.get("restart-after") {
            Some(item) => item.duration(Zero::Allowed, self.mistakes).map(Some),
            None => Some(None),
        }
    }

    fn direction(&mut self) -> Option<Direction> {
        let Some(item) = self.fields.get("direction") else {
            return Some(Direction::Both);
        };
        let chosen = choose(&item, "direction", &DIRECTIONS, self.mistakes)?;
        chosen.bare(self.mistakes);
        Some(chosen.kind)
    }

    fn pause(&mut self) -> Option<Fault> {
        let (target, length) = (self.target(), self.length());
        Some(Fault::Pause {
            target: target?,
            length: length?,
        })
    }

    fn block_events(&mut self) -> Option<Fault> {
        if !self.cast.has_event_thread {
            let mistake = Mistake::new("the Rust client has no event thread")
                .label("each watch has a channel of its own")
                .help("give [service.zookeeper] a `client` of `java` or `kazoo`");
            self.mistakes.add(self.fields.span(), mistake);
        }
        let (target, length) = (self.target(), self.length());
        Some(Fault::BlockEvents {
            target: target?,
            length: length?,
        })
    }

    fn crash(&mut self) -> Option<Fault> {
        let (target, restart_after) = (self.target(), self.restart_after());
        Some(Fault::Crash {
            target: target?,
            restart_after: restart_after?,
        })
    }

    fn black_hole(&mut self) -> Option<Fault> {
        let (target, direction, length) = (self.target(), self.direction(), self.length());
        Some(Fault::BlackHole {
            target: target?,
            direction: direction?,
            length: length?,
        })
    }

    fn slow_link(&mut self) -> Option<Fault> {
        let (target, direction) = (self.target(), self.direction());
        let (by, length) = (self.by(), self.length());
        Some(Fault::SlowLink {
            target: target?,
            direction: direction?,
            by: by?,
            length: length?,
        })
    }

    fn delay(&mut self, make: fn(ContenderName, Duration) -> Fault) -> Option<Fault> {
        let (target, by) = (self.target(), self.by());
        Some(make(target?, by?))
    }

    fn clock_jump(&mut self) -> Option<Fault> {
        let (target, by_millis) = (self.target(), self.jump());
        Some(Fault::ClockJump {
            target: target?,
            by_millis: by_millis?,
        })
    }

    fn server_clock_jump(&mut self) -> Option<Fault> {
        let (target, by_millis) = (self.server(), self.jump());
        Some(Fault::ServerClockJump {
            target: target?,
            by_millis: by_millis?,
        })
    }

    /// By how many milliseconds a clock jumps, back if negative.
    fn jump(&mut self) -> Option<i64> {
        let item = self.fields.need("by", "by = \"-5s\"")?;
        let (back, by) = item.signed(self.mistakes)?;
        let wrong = if by.is_zero() {
            Some("a clock that jumps by nothing does not jump")
        } else if by.subsec_micros() % 1_000 != 0 {
            Some("clocks jump by whole milliseconds")
        } else {
            None
        };
        if let Some(wrong) = wrong {
            let mistake = Mistake::new("`by` cannot be used").label(wrong);
            let mistake = mistake.help(r#"expected a duration such as "20s" or "-5ms""#);
            self.mistakes.add(item.span, mistake);
            return None;
        }
        let by_millis = i64::try_from(by.as_millis()).ok()?;
        Some(if back { -by_millis } else { by_millis })
    }

    fn clock_drift(&mut self) -> Option<Fault> {
        let target = self.target();
        let length = match self.fields.get("for") {
            Some(item) => item.duration(Zero::Senseless, self.mistakes).map(Some),
            None => Some(None),
        };
        let key = "parts-per-million";
        let item = self.fields.need(key, "parts-per-million = 200")?;
        let drift = item.integer(-900_000..=1_000_000, self.mistakes)?;
        if drift == 0 {
            let mistake = Mistake::new(format!("`{key}` is zero"))
                .label("a clock that drifts by nothing does not drift")
                .help("positive runs fast, negative runs slow");
            self.mistakes.add(item.span, mistake);
            return None;
        }
        Some(Fault::ClockDrift {
            target: target?,
            parts_per_million: i32::try_from(drift).ok()?,
            length: length?,
        })
    }

    fn crash_server(&mut self) -> Option<Fault> {
        let (target, restart_after) = (self.server(), self.restart_after());
        Some(Fault::CrashServer {
            target: target?,
            restart_after: restart_after?,
        })
    }

    fn power_loss(&mut self) -> Option<Fault> {
        let (target, restart_after) = (self.server(), self.restart_after());
        Some(Fault::PowerLoss {
            target: target?,
            restart_after: restart_after?,
        })
    }

    fn filled(&mut self, make: fn(ServerName, Lasts) -> Fault) -> Option<Fault> {
        let (target, length) = (self.server(), self.length());
        self.refuse_sentinel(target);
        Some(make(target?, length?))
    }

    fn full_disk(&mut self) -> Option<Fault> {
        if !self.cast.writes_and_goes_on {
            let mistake = Mistake::new("a full disk stops nobody here")
                .label("or ends the server: with `aof-always` it exits")
                .help("give [service.redis] a `persistence` of `rdb`, `aof-no`, or `aof-everysec`");
            self.mistakes.add(self.fields.span(), mistake);
        }
        self.filled(|target, length| Fault::FullDisk { target, length })
    }

    fn hang_server(&mut self) -> Option<Fault> {
        let (target, length) = (self.server(), self.length());
        Some(Fault::HangServer {
            target: target?,
            length: length?,
        })
    }

    /// A replica becomes the primary by hand, unless there are others to decide that.
    fn promote(&mut self) -> Option<Fault> {
        self.refuse_without_replicas();
        if self.cast.sentinels > 0 {
            let mistake = Mistake::new("the Sentinels choose the primary")
                .label("they would not know of this one")
                .help("crash or hang the primary, or leave out `sentinels`");
            self.mistakes.add(self.fields.span(), mistake);
        }
        if self.cast.in_cluster {
            let mistake = Mistake::new("the nodes of a cluster elect their primaries")
                .label("they would not know of this one")
                .help("crash, hang, or isolate the primary, or leave out `cluster`");
            self.mistakes.add(self.fields.span(), mistake);
        }
        self.server().map(|target| Fault::Promote { target })
    }

    /// Sentinels have no keys.
    fn refuse_sentinel(&mut self, target: Option<ServerName>) {
        if let Some(ServerName::Sentinel(_)) = target {
            let mistake = Mistake::new("a Sentinel has no keys").help("name a server");
            self.mistakes.add(self.fields.span(), mistake);
        }
    }

    fn lag_server(&mut self) -> Option<Fault> {
        let (target, by, length) = (self.server(), self.by(), self.length());
        Some(Fault::LagServer {
            target: target?,
            by: by?,
            length: length?,
        })
    }

    fn slow_disk(&mut self) -> Option<Fault> {
        let target = self.server();
        let (fsync, length) = (self.time("fsync", "fsync = \"200ms\""), self.length());
        Some(Fault::SlowDisk {
            target: target?,
            fsync: fsync?,
            length: length?,
        })
    }
}
