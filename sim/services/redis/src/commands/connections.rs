//! About connections.

use picklock_clients::redis::{Command, ErrorReply, Value};

use super::options::{how_many, integer, is, word};
use super::{Outcome, Row, Run, Traits, about, read, wrong_number};
use crate::clients::{ClientType, ConnectionFlags};
use crate::db::Core;
use crate::errors::{NOT_AN_INTEGER, Reply, SYNTAX, refuse};
use crate::{ConnectionId, Server, numbers};

pub(super) const ROWS: &[Row] = &[
    about("client", -2, client),
    about("hello", -1, hello),
    Row {
        name: "ping",
        arity: -1,
        traits: Traits::WHILE_LISTENING,
        run: Run::Connection(ping),
        since: None,
    },
    Row {
        name: "quit",
        arity: -1,
        traits: Traits::NO_SCRIPT.and(Traits::WHILE_LISTENING),
        run: Run::Connection(quit),
        since: None,
    },
    Row {
        name: "reset",
        arity: 1,
        traits: Traits::NO_SCRIPT.and(Traits::WHILE_LISTENING),
        run: Run::Connection(reset),
        since: None,
    },
    read("command", -1, commands),
    about("wait", 3, wait),
    about("waitaof", 4, waitaof).since(Some((7, 2)), Some((7, 2))),
];

fn answer(value: Value) -> Result<Outcome, ErrorReply> {
    Ok(Outcome::Answer(value))
}

/// `PING` in a script, which has no connection.
pub(crate) fn ping_value(command: &Command) -> Reply {
    match command.len() {
        1 => Ok(Value::Status("PONG".into())),
        2 => Ok(Value::bulk(word(command, 1))),
        _ => Err(wrong_number("ping")),
    }
}

fn ping(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    let client = server.clients.get_mut(connection);
    if client.listens > 0 && !client.resp3 && command.len() <= 2 {
        let what = [Value::bulk("pong"), Value::bulk(word(command, 1))];
        return answer(Value::array(what));
    }
    ping_value(command).map(Outcome::Answer)
}

fn quit(server: &mut Server, connection: ConnectionId, _: &Command) -> Result<Outcome, ErrorReply> {
    server.clients.get_mut(connection).closing = true;
    answer(Value::OK)
}

fn reset(
    server: &mut Server,
    connection: ConnectionId,
    _: &Command,
) -> Result<Outcome, ErrorReply> {
    server.core.watches.forget(connection);
    server.core.subscriptions.forget(connection);
    let client = server.clients.get_mut(connection);
    client.end_transaction();
    client.listens = 0;
    client.resp3 = false;
    client.db = 0;
    client.flags = ConnectionFlags::default();
    client.name = [].into();
    answer(Value::Status("RESET".into()))
}

fn commands(_: &mut Core, command: &Command) -> Reply {
    let what = String::from_utf8_lossy(word(command, 1)).to_ascii_uppercase();
    refuse(format!("ERR not modelled: COMMAND {what}"))
}

fn hello(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    let mut resp3 = None;
    let mut name = None;
    if command.len() > 1 {
        resp3 = match numbers::integer(word(command, 1)) {
            Some(2) => Some(false),
            Some(3) => Some(true),
            Some(_) => return refuse("NOPROTO unsupported protocol version"),
            None => return refuse("ERR Protocol version is not an integer or out of range"),
        };
    }
    let mut index = 2;
    while index < command.len() {
        if is(command, index, "AUTH") && index + 2 < command.len() {
            // There are no passwords here; every user and password is taken.
            index += 3;
        } else if is(command, index, "SETNAME") && index + 1 < command.len() {
            name = Some(checked_name(word(command, index + 1))?);
            index += 2;
        } else {
            let option = String::from_utf8_lossy(word(command, index)).into_owned();
            return refuse(format!("ERR Syntax error in HELLO option '{option}'"));
        }
    }
    let role = server.replication.role_name();
    let version = server.core.settings.version;
    let client = server.clients.get_mut(connection);
    client.resp3 = resp3.unwrap_or(client.resp3);
    if let Some(name) = name {
        client.name = name.into();
    }
    let parts = [
        ("server", Value::bulk(version.release().0)),
        ("version", Value::bulk(version.to_string())),
        ("proto", Value::Integer(if client.resp3 { 3 } else { 2 })),
        ("id", Value::Integer(client.id)),
        ("mode", Value::bulk("standalone")),
        ("role", Value::bulk(role)),
        ("modules", Value::array([])),
    ];
    let words = parts
        .into_iter()
        .flat_map(|(name, value)| [Value::bulk(name), value]);
    answer(Value::Map(words.collect()))
}

fn checked_name(name: &[u8]) -> Result<&[u8], ErrorReply> {
    if name.iter().all(u8::is_ascii_graphic) {
        Ok(name)
    } else {
        refuse("ERR Client names cannot contain spaces, newlines or special characters.")
    }
}

fn client(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    let what = |name: &str, words: usize| -> Result<bool, ErrorReply> {
        let meant = is(command, 1, name);
        if meant && words > 0 && command.len() != words {
            return Err(wrong_number(&format!(
                "client|{}",
                name.to_ascii_lowercase()
            )));
        }
        Ok(meant)
    };
    if what("ID", 2)? {
        return answer(Value::Integer(server.clients.get_mut(connection).id));
    }
    if what("GETNAME", 2)? {
        let name = &server.clients.get_mut(connection).name;
        let value = if name.is_empty() {
            Value::Nil
        } else {
            Value::bulk(name)
        };
        return answer(value);
    }
    if what("SETNAME", 3)? {
        let name = checked_name(word(command, 2))?;
        server.clients.get_mut(connection).name = name.into();
        return answer(Value::OK);
    }
    if what("UNPAUSE", 2)? {
        server.unpause();
        return answer(Value::OK);
    }
    if what("PAUSE", 0)? {
        return pause(server, command);
    }
    if what("KILL", 0)? {
        return kill(server, connection, command);
    }
    if what("UNBLOCK", 0)? {
        return unblock(server, command);
    }
    let known = [
        "CACHING",
        "GETREDIR",
        "HELP",
        "INFO",
        "LIST",
        "NO-EVICT",
        "REPLY",
        "TRACKING",
        "TRACKINGINFO",
    ];
    let given = String::from_utf8_lossy(word(command, 1)).into_owned();
    match known.iter().find(|name| given.eq_ignore_ascii_case(name)) {
        Some(name) => refuse(format!("ERR not modelled: CLIENT {name}")),
        None => refuse(format!(
            "ERR unknown subcommand '{given}'. Try CLIENT HELP."
        )),
    }
}

fn pause(server: &mut Server, command: &Command) -> Result<Outcome, ErrorReply> {
    let writes_only = match command.len() {
        3 => false,
        4 if is(command, 3, "WRITE") => true,
        4 if is(command, 3, "ALL") => false,
        4 => return refuse("ERR CLIENT PAUSE mode must be WRITE or ALL"),
        _ => return Err(wrong_number("client|pause")),
    };
    let Some(millis) = numbers::integer(word(command, 2)) else {
        return refuse("ERR timeout is not an integer or out of range");
    };
    if millis < 0 {
        return refuse("ERR timeout is negative");
    }
    server.pause(millis, writes_only);
    answer(Value::OK)
}

fn unblock(server: &mut Server, command: &Command) -> Result<Outcome, ErrorReply> {
    if !(3..=4).contains(&command.len()) {
        return Err(wrong_number("client|unblock"));
    }
    let error = match command.len() {
        3 => None,
        _ if is(command, 3, "TIMEOUT") => None,
        _ if is(command, 3, "ERROR") => Some("UNBLOCKED client unblocked via CLIENT UNBLOCK"),
        _ => return refuse("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"),
    };
    let Some(id) = numbers::integer(word(command, 2)) else {
        return refuse(NOT_AN_INTEGER);
    };
    let meant = server.clients.iter().find(|(_, client)| client.id == id);
    let meant = meant.map(|(connection, _)| connection);
    let waited = meant.is_some_and(|connection| server.unblock(connection, error));
    answer(Value::Integer(i64::from(waited)))
}

/// Which connections are to be closed.
#[derive(Default)]
struct KillFilter {
    id: Option<i64>,
    kind: Option<ClientType>,
    skipme: bool,
}

fn kill(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    if command.len() == 2 {
        return Err(wrong_number("client|kill"));
    }
    if command.len() == 3 {
        // By address, and connections have none here.
        return refuse("ERR No such client");
    }
    let mut filter = KillFilter {
        skipme: true,
        ..KillFilter::default()
    };
    let mut index = 2;
    while index < command.len() {
        let value = word(command, index + 1);
        if index + 1 == command.len() {
            return refuse(SYNTAX);
        } else if is(command, index, "ID") {
            let Some(id) = numbers::integer(value).filter(|id| *id > 0) else {
                return refuse("ERR client-id should be greater than 0");
            };
            filter.id = Some(id);
        } else if is(command, index, "TYPE") {
            let Some(kind) = ClientType::of(value) else {
                let name = String::from_utf8_lossy(value).into_owned();
                return refuse(format!("ERR Unknown client type '{name}'"));
            };
            filter.kind = Some(kind);
        } else if is(command, index, "SKIPME") && value.eq_ignore_ascii_case(b"yes") {
            filter.skipme = true;
        } else if is(command, index, "SKIPME") && value.eq_ignore_ascii_case(b"no") {
            filter.skipme = false;
        } else if ["ADDR", "LADDR", "USER"]
            .iter()
            .any(|name| is(command, index, name))
        {
            let name = String::from_utf8_lossy(word(command, index)).to_ascii_uppercase();
            return refuse(format!("ERR not modelled: CLIENT KILL {name}"));
        } else {
            return refuse(SYNTAX);
        }
        index += 2;
    }
    let killed = server.kill(connection, |other, client| {
        let is_id = filter.id.is_none_or(|id| id == client.id);
        let is_kind = filter.kind.is_none_or(|kind| kind == client.kind());
        is_id && is_kind && !(filter.skipme && other == connection)
    });
    answer(Value::Integer(killed))
}

fn wait(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    let (Some(count), Some(millis)) = (
        numbers::integer(word(command, 1)),
        numbers::integer(word(command, 2)),
    ) else {
        let timeout_only = numbers::integer(word(command, 1)).is_some();
        return refuse(if timeout_only {
            "ERR timeout is not an integer or out of range"
        } else {
            NOT_AN_INTEGER
        });
    };
    if millis < 0 {
        return refuse("ERR timeout is negative");
    }
    server.wait(connection, count, millis)
}

/// `WAITAOF numlocal numreplicas timeout` of Redis 7.2.
fn waitaof(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    let local = integer(command, 1)?;
    if !(0..=1).contains(&local) {
        return refuse("ERR value is out of range, value must between 0 and 1");
    }
    let replicas = how_many(command, 2)? as i64;
    let Some(millis) = numbers::integer(word(command, 3)) else {
        return refuse("ERR timeout is not an integer or out of range");
    };
    if millis < 0 {
        return refuse("ERR timeout is negative");
    }
    server.wait_aof(connection, (local == 1, replicas), millis)
}
