//! Faults and triggers as people read them: `pause contender-1 for 20s when contender-1 has
//! acquired`.
//!
//! Each fault is called by the name that it has in scenario files.

use picklock_algorithms::clients::RequestKind;
use picklock_sim::plan::{
    ContenderName, Direction, Fault, Lasts, PlannedFault, ServerName, Trigger,
};

use crate::units::write_duration;

/// A text of several lines as one.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A contender's name: `contender-1`.
pub fn contender(name: ContenderName) -> String {
    format!("contender-{}", u64::from(name.0) + 1)
}

/// A server's name: `leader`, `follower-1`, `observer-1`, `server-2`, `server-of-contender-1`.
pub fn server(name: ServerName) -> String {
    match name {
        ServerName::Leader => "leader".to_owned(),
        ServerName::Follower(place) => format!("follower-{}", u64::from(place) + 1),
        ServerName::Observer(place) => format!("observer-{}", u64::from(place) + 1),
        ServerName::Of(of) => format!("server-of-{}", contender(of)),
        ServerName::Number(place) => format!("server-{}", u64::from(place) + 1),
        ServerName::Sentinel(place) => format!("sentinel-{}", u64::from(place) + 1),
    }
}

/// A fault and when it happens: `cut contender-2 5ms after contender-2 has acquired`.
pub fn planned(fault: &PlannedFault) -> String {
    let what = self::fault(&fault.inject);
    let after = write_duration(fault.after);
    match (&fault.when, fault.after.is_zero()) {
        (Trigger::At(at), _) => {
            let at = at.saturating_add(fault.after);
            format!("{what} at {}", write_duration(at))
        }
        (when, true) => format!("{what} when {}", trigger(when)),
        (when, false) => format!("{what} {after} after {}", trigger(when)),
    }
}

/// What a trigger waits for, as a clause: `contender-1 has acquired`.
pub fn trigger(trigger: &Trigger) -> String {
    let done = |by: &ContenderName, does: &str, nth: &u32| {
        let again = match nth {
            1 => String::new(),
            nth => format!(" for the {} time", ordinal(*nth)),
        };
        format!("{} {does}{again}", contender(*by))
    };
    match trigger {
        Trigger::At(at) => format!("{} have passed", write_duration(*at)),
        Trigger::Acquiring { by, nth } => done(by, "calls acquire", nth),
        Trigger::Queued { by, nth } => done(by, "is in the queue", nth),
        Trigger::Waiting { by, nth } => done(by, "waits", nth),
        Trigger::Acquired { by, nth } => done(by, "has acquired", nth),
        Trigger::Writing { by, nth } => done(by, "is about to write", nth),
        Trigger::Releasing { by, nth } => done(by, "calls release", nth),
        Trigger::Released { by, nth } => done(by, "has released", nth),
        Trigger::Sent { request, by, nth } => match nth {
            1 => format!("{} sends a {}", contender(*by), request.name()),
            nth => format!(
                "{} sends its {} {}",
                contender(*by),
                ordinal(*nth),
                request.name()
            ),
        },
        Trigger::Proposed { request, by, nth } => {
            format!("the leader has proposed {}", of(*request, *by, *nth))
        }
        Trigger::Committed { request, by, nth } => {
            format!("{} is committed", of(*request, *by, *nth))
        }
        Trigger::Answered { request, by, nth } => {
            format!("{} is answered", of(*request, *by, *nth))
        }
        Trigger::Streamed { request, by, nth } => {
            let what = of(*request, *by, *nth);
            format!("the primary has sent its replicas {what}")
        }
        Trigger::Applied {
            request,
            by,
            nth,
            at,
        } => format!("{} has {}", server(*at), of(*request, *by, *nth)),
        Trigger::Told { by, nth } => done(by, "is sent a message", nth),
        Trigger::SessionExpired { by } => format!("the session of {} has expired", contender(*by)),
        Trigger::Disconnected { by, nth } => done(by, "loses its connection", nth),
        Trigger::Reconnected { by, nth } => done(by, "is connected again", nth),
        Trigger::SessionLost { by, nth } => done(by, "learns that its session is gone", nth),
        Trigger::Elected { nth: 1 } => "another server leads".to_owned(),
        Trigger::Elected { nth } => format!("another server leads for the {} time", ordinal(*nth)),
        Trigger::Fired { fault } => format!("fault {} has fired", fault.saturating_add(1)),
    }
}

/// What breaks: `pause contender-1 for 20s`.
pub fn fault(fault: &Fault) -> String {
    let time = |duration| write_duration(duration);
    match fault {
        Fault::Pause { target, length } => {
            format!("pause {} {}", contender(*target), lasting(*length))
        }
        Fault::BlockEvents { target, length } => {
            format!(
                "block-events of {} {}",
                contender(*target),
                lasting(*length)
            )
        }
        Fault::Crash {
            target,
            restart_after,
        } => format!("crash {}{}", contender(*target), restart(*restart_after)),
        Fault::Cancel { target } => format!("cancel {}", contender(*target)),
        Fault::ExpireSession { target } => format!("expire-session {}", contender(*target)),
        Fault::Cut { target } => format!("cut {}", contender(*target)),
        Fault::BlackHole {
            target,
            direction,
            length,
        } => {
            let (who, way) = (contender(*target), way(*direction));
            format!("black-hole {who} {way} {}", lasting(*length))
        }
        Fault::SlowLink {
            target,
            direction,
            by,
            length,
        } => {
            let (who, way) = (contender(*target), way(*direction));
            let (by, lasting) = (time(*by), lasting(*length));
            format!("slow-link of {who} {way} by {by} {lasting}")
        }
        Fault::LoseRequest { target } => format!("lose-request of {}", contender(*target)),
        Fault::LoseReply { target } => format!("lose-reply to {}", contender(*target)),
        Fault::SwallowReply { target } => format!("swallow-reply to {}", contender(*target)),
        Fault::LoseMessage { target } => format!("lose-message to {}", contender(*target)),
        Fault::DelayRequest { target, by } => {
            format!("delay-request of {} by {}", contender(*target), time(*by))
        }
        Fault::DelayReply { target, by } => {
            format!("delay-reply to {} by {}", contender(*target), time(*by))
        }
        Fault::ClockJump { target, by_millis } => {
            let (who, by) = (contender(*target), signed_millis(*by_millis));
            format!("clock-jump of {who} by {by}")
        }
        Fault::ClockDrift {
            target,
            parts_per_million,
            length,
        } => {
            let who = contender(*target);
            let lasting = length.map(|length| format!(" for {}", time(length)));
            let lasting = lasting.unwrap_or_default();
            format!("clock-drift of {who} by {parts_per_million} parts per million{lasting}")
        }
        Fault::CrashServer { .. }
        | Fault::PowerLoss { .. }
        | Fault::HangServer { .. }
        | Fault::IsolateServer { .. }
        | Fault::Partition { .. }
        | Fault::HoldLink { .. }
        | Fault::LagServer { .. }
        | Fault::SlowDisk { .. }
        | Fault::ServerClockJump { .. }
        | Fault::Promote { .. }
        | Fault::FullMemory { .. }
        | Fault::FullDisk { .. }
        | Fault::MoveSlot { .. }
        | Fault::EvictKey { .. } => server_fault(fault),
        Fault::DeleteNode { of } => format!("delete-node of {}", contender(*of)),
        Fault::RecreateLock => "recreate-lock".to_owned(),
    }
}

fn server_fault(fault: &Fault) -> String {
    let time = |duration| write_duration(duration);
    match fault {
        Fault::CrashServer {
            target,
            restart_after,
        } => format!(
            "crash-server {}{}",
            server(*target),
            restart(*restart_after)
        ),
        Fault::PowerLoss {
            target,
            restart_after,
        } => format!(
            "power-loss of {}{}",
            server(*target),
            restart(*restart_after)
        ),
        Fault::HangServer { target, length } => {
            format!("hang-server {} {}", server(*target), lasting(*length))
        }
        Fault::IsolateServer { target, length } => {
            format!("isolate-server {} {}", server(*target), lasting(*length))
        }
        Fault::Partition {
            servers,
            contenders,
            length,
        } => {
            let servers = servers.iter().map(|name| server(*name));
            let contenders = contenders.iter().map(|name| contender(*name));
            let side: Vec<String> = servers.chain(contenders).collect();
            let side = listed(&side);
            format!("partition {side} from all others {}", lasting(*length))
        }
        Fault::HoldLink { from, to, length } => {
            let from: Vec<String> = from.iter().map(|name| server(*name)).collect();
            let (from, to) = (listed(&from), server(*to));
            format!("hold-link from {from} to {to} {}", lasting(*length))
        }
        Fault::LagServer { target, by, length } => {
            let who = server(*target);
            format!("lag-server {who} by {} {}", time(*by), lasting(*length))
        }
        Fault::SlowDisk {
            target,
            fsync,
            length,
        } => {
            let (who, fsync, lasting) = (server(*target), time(*fsync), lasting(*length));
            format!("slow-disk of {who} with an fsync of {fsync} {lasting}")
        }
        Fault::ServerClockJump { target, by_millis } => {
            let (who, by) = (server(*target), signed_millis(*by_millis));
            format!("server-clock-jump of {who} by {by}")
        }
        Fault::Promote { target } => format!("promote {}", server(*target)),
        Fault::FullMemory { target, length } => {
            format!("full-memory of {} {}", server(*target), lasting(*length))
        }
        Fault::FullDisk { target, length } => {
            format!("full-disk of {} {}", server(*target), lasting(*length))
        }
        Fault::MoveSlot { to, length } => {
            format!("move-slot to {} for {}", server(*to), time(*length))
        }
        Fault::EvictKey { target } => format!("evict-key from {}", server(*target)),
        Fault::Pause { .. }
        | Fault::BlockEvents { .. }
        | Fault::Crash { .. }
        | Fault::Cancel { .. }
        | Fault::ExpireSession { .. }
        | Fault::Cut { .. }
        | Fault::BlackHole { .. }
        | Fault::SlowLink { .. }
        | Fault::LoseRequest { .. }
        | Fault::LoseReply { .. }
        | Fault::SwallowReply { .. }
        | Fault::LoseMessage { .. }
        | Fault::DelayRequest { .. }
        | Fault::DelayReply { .. }
        | Fault::ClockJump { .. }
        | Fault::ClockDrift { .. }
        | Fault::DeleteNode { .. }
        | Fault::RecreateLock => self::fault(fault),
    }
}

fn of(request: RequestKind, by: ContenderName, nth: u32) -> String {
    let (who, what) = (contender(by), request.name());
    match nth {
        1 => format!("{who}'s {what}"),
        nth => format!("{who}'s {} {what}", ordinal(nth)),
    }
}

fn restart(after: Option<std::time::Duration>) -> String {
    match after {
        Some(after) => format!(" and restart it after {}", write_duration(after)),
        None => " for good".to_owned(),
    }
}

/// `for 20s`, or `for good`.
fn lasting(lasts: Lasts) -> String {
    match lasts {
        Lasts::For(length) => format!("for {}", write_duration(length)),
        Lasts::ForGood => "for good".to_owned(),
    }
}

fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::ToServer => "towards the server",
        Direction::ToClient => "towards the client",
        Direction::Both => "both ways",
    }
}

/// Milliseconds with a sign if negative: `-5s`.
pub(crate) fn signed_millis(millis: i64) -> String {
    let length = std::time::Duration::from_millis(millis.unsigned_abs());
    let sign = if millis < 0 { "-" } else { "" };
    format!("{sign}{}", write_duration(length))
}

fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        (_, _) => "th",
    };
    format!("{number}{ending}")
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "nobody".to_owned(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}
