//! Spells out `[[fault]]`.

use std::time::Duration;

use picklock_algorithms::clients::RequestKind;
use picklock_sim::plan::{ContenderName, Direction, Fault, Lasts, PlannedFault, Trigger};

use crate::describe::{contender, server, signed_millis};
use crate::units::write_duration;

/// The lines of a fault.
pub(super) fn lines(planned: &PlannedFault) -> Vec<String> {
    let mut lines = vec![
        "[[fault]]".to_owned(),
        format!("when.{}", trigger(&planned.when)),
    ];
    if !planned.after.is_zero() {
        lines.push(format!("after = {}", time(planned.after)));
    }
    lines.push(format!("inject.{}", fault(&planned.inject)));
    lines.push(String::new());
    lines
}

fn time(duration: Duration) -> String {
    format!("\"{}\"", write_duration(duration))
}

fn step(name: &str, by: ContenderName, nth: u32) -> String {
    format!("{name} = {{ by = \"{}\", nth = {nth} }}", contender(by))
}

fn request(name: &str, request: RequestKind, by: ContenderName, nth: u32) -> String {
    let (request, by) = (request.name(), contender(by));
    format!("{name} = {{ request = \"{request}\", by = \"{by}\", nth = {nth} }}")
}

fn trigger(trigger: &Trigger) -> String {
    match *trigger {
        Trigger::At(at) => format!("at = {}", time(at)),
        Trigger::Acquiring { by, nth } => step("acquiring", by, nth),
        Trigger::Queued { by, nth } => step("queued", by, nth),
        Trigger::Waiting { by, nth } => step("waiting", by, nth),
        Trigger::Acquired { by, nth } => step("acquired", by, nth),
        Trigger::Writing { by, nth } => step("writing", by, nth),
        Trigger::Releasing { by, nth } => step("releasing", by, nth),
        Trigger::Released { by, nth } => step("released", by, nth),
        Trigger::Sent {
            request: kind,
            by,
            nth,
        } => request("sent", kind, by, nth),
        Trigger::Proposed {
            request: kind,
            by,
            nth,
        } => request("proposed", kind, by, nth),
        Trigger::Committed {
            request: kind,
            by,
            nth,
        } => request("committed", kind, by, nth),
        Trigger::Answered {
            request: kind,
            by,
            nth,
        } => request("answered", kind, by, nth),
        Trigger::Streamed {
            request: kind,
            by,
            nth,
        } => request("streamed", kind, by, nth),
        Trigger::Applied {
            request: kind,
            by,
            nth,
            at,
        } => {
            let (kind, by, at) = (kind.name(), contender(by), server(at));
            format!(
                "applied = {{ request = \"{kind}\", by = \"{by}\", nth = {nth}, at = \"{at}\" }}"
            )
        }
        Trigger::Told { by, nth } => step("told", by, nth),
        Trigger::SessionExpired { by } => {
            format!("session-expired = {{ by = \"{}\" }}", contender(by))
        }
        Trigger::Disconnected { by, nth } => step("disconnected", by, nth),
        Trigger::Reconnected { by, nth } => step("reconnected", by, nth),
        Trigger::SessionLost { by, nth } => step("session-lost", by, nth),
        Trigger::Elected { nth } => format!("elected = {{ nth = {nth} }}"),
        Trigger::Fired { fault } => format!("fired = {{ fault = {} }}", fault + 1),
    }
}

/// `name = { target = "contender-1", more }`
fn on(name: &str, target: &str, more: &[String]) -> String {
    let fields = [format!("target = \"{target}\"")];
    let fields: Vec<&str> = fields.iter().chain(more).map(String::as_str).collect();
    format!("{name} = {{ {} }}", fields.join(", "))
}

/// What lasts for good says nothing.
fn lasting(lasts: Lasts) -> Option<String> {
    let length = lasts.duration()?;
    Some(format!("for = {}", time(length)))
}

/// What a fault says besides, and how long it lasts.
fn and_lasting<const N: usize>(more: [String; N], lasts: Lasts) -> Vec<String> {
    more.into_iter().chain(lasting(lasts)).collect()
}

/// `name = { target = "contender-1", for = "20s" }`
fn for_so_long(name: &str, target: &str, lasts: Lasts) -> String {
    on(name, target, &and_lasting([], lasts))
}

fn by(by: Duration) -> String {
    format!("by = {}", time(by))
}

fn restart(after: Option<Duration>) -> Vec<String> {
    let restart = after.map(|after| format!("restart-after = {}", time(after)));
    restart.into_iter().collect()
}

fn jump(by_millis: i64) -> String {
    format!("by = \"{}\"", signed_millis(by_millis))
}

fn way(direction: Direction) -> String {
    let name = match direction {
        Direction::ToServer => "to-server",
        Direction::ToClient => "to-client",
        Direction::Both => "both",
    };
    format!("direction = \"{name}\"")
}

fn fault(fault: &Fault) -> String {
    match fault {
        Fault::Pause { target, length } => for_so_long("pause", &contender(*target), *length),
        Fault::BlockEvents { target, length } => {
            for_so_long("block-events", &contender(*target), *length)
        }
        Fault::Crash {
            target,
            restart_after,
        } => on("crash", &contender(*target), &restart(*restart_after)),
        Fault::Cancel { target } => on("cancel", &contender(*target), &[]),
        Fault::ExpireSession { target } => on("expire-session", &contender(*target), &[]),
        Fault::Cut { target } => on("cut", &contender(*target), &[]),
        Fault::BlackHole {
            target,
            direction,
            length,
        } => {
            let more = and_lasting([way(*direction)], *length);
            on("black-hole", &contender(*target), &more)
        }
        Fault::SlowLink {
            target,
            direction,
            by: more,
            length,
        } => {
            let more = and_lasting([way(*direction), by(*more)], *length);
            on("slow-link", &contender(*target), &more)
        }
        Fault::LoseRequest { target } => on("lose-request", &contender(*target), &[]),
        Fault::LoseReply { target } => on("lose-reply", &contender(*target), &[]),
        Fault::SwallowReply { target } => on("swallow-reply", &contender(*target), &[]),
        Fault::LoseMessage { target } => on("lose-message", &contender(*target), &[]),
        Fault::DelayRequest { target, by: more } => {
            on("delay-request", &contender(*target), &[by(*more)])
        }
        Fault::DelayReply { target, by: more } => {
            on("delay-reply", &contender(*target), &[by(*more)])
        }
        Fault::ClockJump { target, by_millis } => {
            on("clock-jump", &contender(*target), &[jump(*by_millis)])
        }
        Fault::ClockDrift {
            target,
            parts_per_million,
            length,
        } => {
            let drift = format!("parts-per-million = {parts_per_million}");
            let more = and_lasting([drift], (*length).into());
            on("clock-drift", &contender(*target), &more)
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
        | Fault::FullMemory { .. }
        | Fault::FullDisk { .. }
        | Fault::MoveSlot { .. }
        | Fault::EvictKey { .. }
        | Fault::Promote { .. }
        | Fault::DeleteNode { .. }
        | Fault::RecreateLock => of_service(fault),
    }
}

/// `from = ["server-1", "server-2"]`.
fn list(key: &str, names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    format!("{key} = [{}]", names.join(", "))
}

fn of_service(broken: &Fault) -> String {
    match broken {
        Fault::CrashServer {
            target,
            restart_after,
        } => on("crash-server", &server(*target), &restart(*restart_after)),
        Fault::PowerLoss {
            target,
            restart_after,
        } => on("power-loss", &server(*target), &restart(*restart_after)),
        Fault::HangServer { target, length } => {
            for_so_long("hang-server", &server(*target), *length)
        }
        Fault::IsolateServer { target, length } => {
            for_so_long("isolate-server", &server(*target), *length)
        }
        Fault::Partition {
            servers,
            contenders,
            length,
        } => {
            let servers = list("servers", servers.iter().map(|it| server(*it)));
            let named = list("contenders", contenders.iter().map(|it| contender(*it)));
            let clients = (!contenders.is_empty()).then_some(named);
            let all = [servers].into_iter().chain(clients);
            let all: Vec<String> = all.chain(lasting(*length)).collect();
            format!("partition = {{ {} }}", all.join(", "))
        }
        Fault::HoldLink { from, to, length } => {
            let from = list("from", from.iter().map(|it| server(*it)));
            let to = format!("to = \"{}\"", server(*to));
            let all = and_lasting([from, to], *length);
            format!("hold-link = {{ {} }}", all.join(", "))
        }
        Fault::LagServer {
            target,
            by: more,
            length,
        } => on(
            "lag-server",
            &server(*target),
            &and_lasting([by(*more)], *length),
        ),
        Fault::SlowDisk {
            target,
            fsync,
            length,
        } => {
            let fsync = format!("fsync = {}", time(*fsync));
            on(
                "slow-disk",
                &server(*target),
                &and_lasting([fsync], *length),
            )
        }
        Fault::ServerClockJump { target, by_millis } => {
            on("server-clock-jump", &server(*target), &[jump(*by_millis)])
        }
        Fault::Promote { target } => on("promote", &server(*target), &[]),
        Fault::FullMemory { target, length } => {
            for_so_long("full-memory", &server(*target), *length)
        }
        Fault::FullDisk { target, length } => for_so_long("full-disk", &server(*target), *length),
        Fault::MoveSlot { to, length } => {
            let (to, length) = (server(*to), time(*length));
            format!("move-slot = {{ to = \"{to}\", for = {length} }}")
        }
        Fault::EvictKey { target } => on("evict-key", &server(*target), &[]),
        Fault::DeleteNode { of } => format!("delete-node = {{ of = \"{}\" }}", contender(*of)),
        Fault::RecreateLock => "recreate-lock = {}".to_owned(),
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
        | Fault::ClockDrift { .. } => fault(broken),
    }
}
