//! About the cluster.

use picklock_clients::redis::{Command, ErrorReply, Value};

use super::options::{integer, is, word};
use super::{Outcome, Row, Run, Traits, about, wrong_number};
use crate::cluster::{Cluster, SLOTS, names_in, slot_of};
use crate::errors::{Reply, refuse};
use crate::{ConnectionId, Server, numbers};

const DISABLED: &str = "ERR This instance has cluster support disabled";

pub(super) const ROWS: &[Row] = &[
    about("asking", 1, asking),
    about("cluster", -2, cluster),
    Row {
        name: "migrate",
        arity: -6,
        traits: Traits::WRITE,
        run: Run::Connection(Server::migrate),
        since: None,
    },
    about("readonly", 1, readonly),
    about("readwrite", 1, readwrite),
];

fn asking(server: &mut Server, by: ConnectionId, _: &Command) -> Result<Outcome, ErrorReply> {
    set_flag(server, by, |flags| flags.asking = true)
}

fn readonly(server: &mut Server, by: ConnectionId, _: &Command) -> Result<Outcome, ErrorReply> {
    set_flag(server, by, |flags| flags.readonly = true)
}

fn readwrite(server: &mut Server, by: ConnectionId, _: &Command) -> Result<Outcome, ErrorReply> {
    set_flag(server, by, |flags| flags.readonly = false)
}

fn set_flag(
    server: &mut Server,
    by: ConnectionId,
    change: impl FnOnce(&mut crate::clients::ConnectionFlags),
) -> Result<Outcome, ErrorReply> {
    if server.core.cluster.is_none() {
        return refuse(DISABLED);
    }
    change(&mut server.clients.get_mut(by).flags);
    Ok(Outcome::Answer(Value::OK))
}

/// The parts of `CLUSTER` that take so many words.
const PARTS: &[(&str, usize)] = &[
    ("countkeysinslot", 3),
    ("getkeysinslot", 4),
    ("info", 2),
    ("keyslot", 3),
    ("myid", 2),
    ("slots", 2),
];

/// Refuses a part of `CLUSTER` that has too few or too many words. A real server looks before it looks at anything
/// else, so that a transaction is spoilt by it, too.
pub(crate) fn check_part(command: &Command) -> Result<(), ErrorReply> {
    let part = PARTS.iter().find(|(name, _)| is(command, 1, name));
    match part {
        Some((name, words)) if command.len() != *words => {
            Err(wrong_number(&format!("cluster|{name}")))
        }
        _ => Ok(()),
    }
}

fn cluster(server: &mut Server, _: ConnectionId, command: &Command) -> Result<Outcome, ErrorReply> {
    if server.core.cluster.is_some() && is(command, 1, "GETKEYSINSLOT") {
        let (slot, most) = (integer(command, 2)?, integer(command, 3)?);
        let (Some(slot), Ok(most)) = (known(slot), usize::try_from(most)) else {
            return refuse("ERR Invalid slot or number of keys");
        };
        let names = server.keys_in(slot, most).into_iter().map(Value::bulk);
        return Ok(Outcome::Answer(Value::array(names)));
    }
    if server.core.cluster.is_some() && is(command, 1, "SETSLOT") && command.len() >= 4 {
        return set_slot(server, command).map(Outcome::Answer);
    }
    let keys = &server.core.keys;
    let Some(cluster) = &mut server.core.cluster else {
        return refuse(DISABLED);
    };
    let value = if is(command, 1, "KEYSLOT") {
        Value::Integer(slot_of(word(command, 2)).into())
    } else if is(command, 1, "COUNTKEYSINSLOT") {
        let Some(slot) = known(integer(command, 2)?) else {
            return refuse("ERR Invalid slot");
        };
        Value::Integer(names_in(keys, slot).count() as i64)
    } else if is(command, 1, "INFO") {
        Value::bulk(cluster.info())
    } else if is(command, 1, "MYID") {
        Value::bulk(cluster.name(cluster.me))
    } else if is(command, 1, "SLOTS") {
        cluster.table()
    } else {
        let what = String::from_utf8_lossy(word(command, 1)).to_ascii_uppercase();
        return refuse(format!("ERR not modelled: CLUSTER {what}"));
    };
    Ok(Outcome::Answer(value))
}

/// The slot of this number, if there is one.
fn known(number: i64) -> Option<u16> {
    let slot = u16::try_from(number).ok();
    slot.filter(|slot| *slot < SLOTS)
}

fn slot(word: &[u8]) -> Result<u16, ErrorReply> {
    match numbers::integer(word).and_then(known) {
        Some(slot) => Ok(slot),
        None => refuse("ERR Invalid or out of range slot"),
    }
}

fn set_slot(server: &mut Server, command: &Command) -> Reply {
    let Some(cluster) = &mut server.core.cluster else {
        return refuse(DISABLED);
    };
    if cluster.primary().is_some() {
        return refuse("ERR Please use SETSLOT only with masters.");
    }
    let slot = slot(word(command, 2))?;
    if is(command, 3, "STABLE") && command.len() == 4 {
        cluster.settle(slot);
        return Ok(Value::OK);
    }
    let node = |cluster: &Cluster, unknown: &str| {
        let name = word(command, 4);
        match cluster.named(name) {
            None => refuse(format!("ERR {unknown} {}", String::from_utf8_lossy(name))),
            Some(node) if cluster.leads(node) => Ok(node),
            Some(_) => refuse("ERR Target node is not a master"),
        }
    };
    if is(command, 3, "MIGRATING") && command.len() == 5 {
        if !cluster.serves_slot(slot) {
            return refuse(format!("ERR I'm not the owner of hash slot {slot}"));
        }
        cluster.migrate(slot, node(cluster, "I don't know about node")?);
    } else if is(command, 3, "IMPORTING") && command.len() == 5 {
        if cluster.serves_slot(slot) {
            return refuse(format!("ERR I'm already the owner of hash slot {slot}"));
        }
        cluster.import(slot, node(cluster, "I don't know about node")?);
    } else if is(command, 3, "NODE") && command.len() == 5 {
        let to = node(cluster, "Unknown node")?;
        let mut left = names_in(&server.core.keys, slot);
        if to != cluster.me && cluster.serves_slot(slot) && left.next().is_some() {
            return refuse(format!(
                "ERR Can't assign hashslot {slot} to a different node while I still hold keys for this hash slot."
            ));
        }
        cluster.set_slot_owner(slot, to, &mut server.core.out);
    } else {
        return refuse(
            "ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP",
        );
    }
    Ok(Value::OK)
}
