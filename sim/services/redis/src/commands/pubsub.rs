//! Messages to subscribers.

use picklock_clients::redis::{Command, ErrorReply, Value};

use super::options::{is, word};
use super::{Outcome, Row, Run, Traits, about};
use crate::db::Core;
use crate::errors::{Reply, refuse};
use crate::pubsub::Channel;
use crate::{ConnectionId, Server, glob};

/// A command that begins or ceases to listen.
const fn listening(
    name: &'static str,
    arity: i32,
    run: fn(&mut Server, ConnectionId, &Command) -> Result<Outcome, ErrorReply>,
) -> Row {
    let row = about(name, arity, run);
    Row {
        traits: row.traits.and(Traits::WHILE_LISTENING),
        ..row
    }
}

/// A command that sends a message.
const fn sending(name: &'static str, run: fn(&mut Core, &Command) -> Reply) -> Row {
    Row {
        name,
        arity: 3,
        traits: Traits::MAY_REPLICATE,
        run: Run::Keys(run),
        since: None,
    }
}

pub(super) const ROWS: &[Row] = &[
    listening("psubscribe", -2, psubscribe),
    sending("publish", publish),
    super::read("pubsub", -2, pubsub),
    listening("punsubscribe", -1, punsubscribe),
    sending("spublish", spublish),
    listening("ssubscribe", -2, ssubscribe),
    listening("subscribe", -2, subscribe),
    listening("sunsubscribe", -1, sunsubscribe),
    listening("unsubscribe", -1, unsubscribe),
];

fn publish(core: &mut Core, command: &Command) -> Reply {
    send(core, command, Channel::Named)
}

fn spublish(core: &mut Core, command: &Command) -> Reply {
    send(core, command, Channel::Shard)
}

fn send(core: &mut Core, command: &Command, kind: Channel) -> Reply {
    let (channel, message) = (word(command, 1), word(command, 2));
    let sent = core
        .subscriptions
        .publish(kind, channel, message, &mut core.out);
    match &core.cluster {
        Some(cluster) => {
            let shard = kind == Channel::Shard;
            cluster.publish(shard, channel, message, &mut core.out);
        }
        // It changes nothing, and goes to replicas all the same.
        None => core.effects.message(command),
    }
    Ok(Value::Integer(sent))
}

fn subscribe(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    Ok(listen(server, connection, command, Channel::Named))
}

fn psubscribe(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    Ok(listen(server, connection, command, Channel::Pattern))
}

fn ssubscribe(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    Ok(listen(server, connection, command, Channel::Shard))
}

fn unsubscribe(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    Ok(cease(server, connection, command, Channel::Named))
}

fn punsubscribe(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    Ok(cease(server, connection, command, Channel::Pattern))
}

fn sunsubscribe(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    Ok(cease(server, connection, command, Channel::Shard))
}

fn listen(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
    kind: Channel,
) -> Outcome {
    let Core {
        subscriptions, out, ..
    } = &mut *server.core;
    for name in command.words().skip(1) {
        subscriptions.add(kind, name, connection);
        subscriptions.confirm(connection, kind, "subscribe", Some(name), out);
    }
    server.note_listening(connection);
    Outcome::Silent
}

fn cease(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
    kind: Channel,
) -> Outcome {
    let Core {
        subscriptions, out, ..
    } = &mut *server.core;
    if command.len() == 1 {
        let names = subscriptions.of(kind, connection);
        for name in &names {
            subscriptions.remove(kind, name, connection);
            subscriptions.confirm(connection, kind, "unsubscribe", Some(name), out);
        }
        if names.is_empty() {
            subscriptions.confirm(connection, kind, "unsubscribe", None, out);
        }
    } else {
        for name in command.words().skip(1) {
            subscriptions.remove(kind, name, connection);
            subscriptions.confirm(connection, kind, "unsubscribe", Some(name), out);
        }
    }
    server.note_listening(connection);
    Outcome::Silent
}

fn pubsub(core: &mut Core, command: &Command) -> Reply {
    let what = |name: &str| is(command, 1, name);
    let shard = what("SHARDCHANNELS") || what("SHARDNUMSUB");
    let kind = if shard {
        Channel::Shard
    } else {
        Channel::Named
    };
    if what("CHANNELS") || what("SHARDCHANNELS") {
        let pattern = command.word(2).unwrap_or(b"*");
        let listened = core.subscriptions.listened(kind);
        let fitting = listened.filter(|(name, _)| glob::fits(pattern, name));
        return Ok(Value::array(fitting.map(|(name, _)| Value::bulk(name))));
    }
    if what("NUMSUB") || what("SHARDNUMSUB") {
        let counts = command.words().skip(2).flat_map(|name| {
            let mut listened = core.subscriptions.listened(kind);
            let count = listened.find(|(other, _)| other[..] == *name);
            let count = count.map_or(0, |(_, count)| count as i64);
            [Value::bulk(name), Value::Integer(count)]
        });
        return Ok(Value::array(counts));
    }
    if what("NUMPAT") && command.len() == 2 {
        let patterns = core.subscriptions.listened(Channel::Pattern);
        return Ok(Value::Integer(patterns.count() as i64));
    }
    let what = String::from_utf8_lossy(word(command, 1)).into_owned();
    refuse(format!("ERR unknown subcommand '{what}'. Try PUBSUB HELP."))
}
