//! About replication.

use std::time::Duration;

use picklock_clients::redis::{Command, ErrorReply, Value};

use super::options::{is, small, word};
use super::{Outcome, Row, Run, Traits, about, wrong_number};
use crate::errors::{Reply, refuse};
use crate::keyspace_events::KeyspaceEvents;
use crate::replication_protocol::Address;
use crate::{ConnectionId, Server, numbers};

pub(super) const ROWS: &[Row] = &[
    about("config", -2, config),
    Row {
        name: "info",
        arity: -1,
        traits: Traits::NONE,
        run: Run::Connection(info),
        since: None,
    },
    about("replicaof", 3, replicaof),
    about("role", 1, role),
    about("slaveof", 3, replicaof),
];

fn role(server: &mut Server, _: ConnectionId, _: &Command) -> Result<Outcome, ErrorReply> {
    Ok(Outcome::Answer(server.replication.role()))
}

fn info(server: &mut Server, _: ConnectionId, command: &Command) -> Result<Outcome, ErrorReply> {
    section(server, command).map(Outcome::Answer)
}

fn section(server: &Server, command: &Command) -> Reply {
    if command.len() > 2 {
        return Err(wrong_number("info"));
    }
    let all = ["all", "default", "everything"];
    let wants = |section: &str| {
        command.len() == 1 || is(command, 1, section) || all.iter().any(|name| is(command, 1, name))
    };
    let (wall, monotonic) = (server.core.wall_millis(), server.core.now.monotonic);
    let about_itself = wants("server").then(|| server.section());
    let replication = wants("replication").then(|| server.replication.section(wall, monotonic));
    let sections: Vec<String> = about_itself.into_iter().chain(replication).collect();
    if sections.is_empty() {
        let section = small(word(command, 1));
        return refuse(format!("ERR not modelled: INFO {section}"));
    }
    Ok(Value::bulk(sections.join("\r\n")))
}

fn replicaof(
    server: &mut Server,
    _: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    if server.core.cluster.is_some() {
        return refuse("ERR REPLICAOF not allowed in cluster mode.");
    }
    if is(command, 1, "NO") && is(command, 2, "ONE") {
        server.lead();
        return Ok(Outcome::Answer(Value::OK));
    }
    let port = numbers::integer(word(command, 2)).and_then(|port| u16::try_from(port).ok());
    let Some(port) = port else {
        return refuse("ERR Invalid master port");
    };
    let host = String::from_utf8_lossy(word(command, 1)).as_ref().into();
    let address = Address { host, port };
    let primary = server.replication.primary.as_ref();
    if primary.is_some_and(|primary| primary.address == address) {
        let text = "OK Already connected to specified master";
        return Ok(Outcome::Answer(Value::Status(text.into())));
    }
    server.follow(address);
    Ok(Outcome::Answer(Value::OK))
}

/// `CONFIG REWRITE`: from now on a restart does not change the role. `CONFIG SET` of what decides whether it serves.
fn config(server: &mut Server, _: ConnectionId, command: &Command) -> Result<Outcome, ErrorReply> {
    if is(command, 1, "REWRITE") && command.len() == 2 {
        let primary = server.replication.primary.as_ref();
        server.configured = primary.map(|primary| primary.address.clone());
        return Ok(Outcome::Answer(Value::OK));
    }
    let what = small(word(command, 1)).to_ascii_uppercase();
    if what == "SET" && command.len() == 4 {
        return set(server, command);
    }
    if what == "GET" && command.len() == 3 {
        return get(server, &small(word(command, 2)));
    }
    refuse(format!("ERR not modelled: CONFIG {what}"))
}

/// The answer to `CONFIG GET` of a setting that can be changed here.
fn get(server: &Server, name: &str) -> Result<Outcome, ErrorReply> {
    let value = match name {
        "notify-keyspace-events" => server.core.keyspace_events.letters(),
        "busy-reply-threshold" | "lua-time-limit" => {
            server.core.busy_reply_threshold.as_millis().to_string()
        }
        _ => return refuse(format!("ERR not modelled: CONFIG GET {name}")),
    };
    let both = [Value::bulk(name), Value::bulk(value)];
    Ok(Outcome::Answer(Value::Map(both.into_iter().collect())))
}

/// The error for a setting that cannot be set to this.
fn failed<T>(name: &str, why: &str) -> Result<T, ErrorReply> {
    refuse(format!(
        "ERR CONFIG SET failed (possibly related to argument '{name}') - {why}"
    ))
}

fn set_keyspace_events(server: &mut Server, letters: &[u8]) -> Result<(), ErrorReply> {
    match KeyspaceEvents::parse(&String::from_utf8_lossy(letters)) {
        Ok(events) => server.core.keyspace_events = events,
        Err('m') => return refuse("ERR not modelled: CONFIG SET notify-keyspace-events with m"),
        Err(_) => {
            let why = "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.";
            return failed("notify-keyspace-events", why);
        }
    }
    Ok(())
}

/// How many bytes a server without keys uses, at the least.
const BYTES_OF_NOTHING: i64 = 500_000;

fn set(server: &mut Server, command: &Command) -> Result<Outcome, ErrorReply> {
    let (name, value) = (small(word(command, 2)), word(command, 3));
    let yes = is(command, 3, "yes");
    match &*name {
        // What keys weigh is not known; less than a server without any is less than there is, and nothing is no limit.
        "maxmemory" => match numbers::integer(value) {
            Some(bytes) if (0..BYTES_OF_NOTHING).contains(&bytes) => {
                server.core.degraded.memory_is_full = bytes > 0;
            }
            _ => return refuse("ERR not modelled: CONFIG SET maxmemory to more than nothing"),
        },
        "min-replicas-to-write" => match numbers::integer(value).map(usize::try_from) {
            Some(Ok(least)) => server.core.min_replicas = least,
            _ => return refuse("ERR not modelled: CONFIG SET min-replicas-to-write to no number"),
        },
        "replica-serve-stale-data" if yes || is(command, 3, "no") => {
            server.core.serves_stale_data = yes;
        }
        "notify-keyspace-events" => set_keyspace_events(server, value)?,
        "busy-reply-threshold" | "lua-time-limit" => match numbers::integer(value) {
            Some(millis) if millis >= 0 => {
                server.core.busy_reply_threshold = Duration::from_millis(millis.unsigned_abs());
            }
            Some(_) => return refuse(format!("ERR not modelled: CONFIG SET {name} to that")),
            None => return failed(&name, "argument couldn't be parsed into an integer"),
        },
        _ => return refuse(format!("ERR not modelled: CONFIG SET {name}")),
    }
    Ok(Outcome::Answer(Value::OK))
}
