//! Databases: to select one, and to move keys from one to another.

use picklock_clients::redis::{Command, ErrorReply, Value};

use super::options::{integer, is, word};
use super::{Row, Run, Traits, write};
use crate::databases::DATABASES;
use crate::db::Core;
use crate::errors::{Reply, SYNTAX, refuse};
use crate::key_observer::RemovalReason;
use crate::keyspace_events::Class;
use crate::numbers;

pub(super) const ROWS: &[Row] = &[
    write("copy", -3, copy),
    write("flushall", -1, flushall),
    write("flushdb", -1, flushdb),
    write("move", 3, move_key),
    Row {
        name: "select",
        arity: 2,
        traits: Traits::NONE,
        run: Run::Keys(select),
        since: None,
    },
    write("swapdb", 3, swapdb),
];

fn database(number: i64) -> Result<u8, ErrorReply> {
    match u8::try_from(number).ok().filter(|db| *db < DATABASES) {
        Some(db) => Ok(db),
        None => refuse("ERR DB index is out of range"),
    }
}

fn select(core: &mut Core, command: &Command) -> Reply {
    let number = integer(command, 1)?;
    if core.cluster.is_some() && number != 0 {
        return refuse("ERR SELECT is not allowed in cluster mode");
    }
    core.select(database(number)?);
    Ok(Value::OK)
}

fn check_flush(command: &Command) -> Result<(), ErrorReply> {
    let plain = command.len() == 1;
    if !plain && (command.len() > 2 || !(is(command, 1, "SYNC") || is(command, 1, "ASYNC"))) {
        return refuse(SYNTAX);
    }
    Ok(())
}

fn flushdb(core: &mut Core, command: &Command) -> Reply {
    check_flush(command)?;
    core.clear_selected();
    // Replicas are told even if there was nothing to flush.
    core.effects.dirty += 1;
    Ok(Value::OK)
}

fn flushall(core: &mut Core, command: &Command) -> Reply {
    check_flush(command)?;
    let selected = core.selected;
    for db in core.in_use() {
        core.select(db);
        core.clear_selected();
    }
    core.select(selected);
    core.effects.dirty += 1;
    Ok(Value::OK)
}

fn swapdb(core: &mut Core, command: &Command) -> Reply {
    if core.cluster.is_some() {
        return refuse("ERR SWAPDB is not allowed in cluster mode");
    }
    let number = |index: usize, which: &str| match numbers::integer(word(command, index)) {
        Some(number) => Ok(number),
        None => refuse(format!("ERR invalid {which} DB index")),
    };
    let (one, other) = (number(1, "first")?, number(2, "second")?);
    let (one, other) = (database(one)?, database(other)?);
    if one != other {
        core.swap_databases(one, other);
    }
    core.effects.dirty += 1;
    Ok(Value::OK)
}

fn move_key(core: &mut Core, command: &Command) -> Reply {
    if core.cluster.is_some() {
        return refuse("ERR MOVE is not allowed in cluster mode");
    }
    let (key, from) = (word(command, 1), core.selected);
    let to = database(integer(command, 2)?)?;
    if from == to {
        return refuse("ERR source and destination objects are the same");
    }
    let Some(entry) = core.entry(key).cloned() else {
        return Ok(Value::Integer(0));
    };
    core.select(to);
    let there = core.lookup_key(key);
    if !there {
        core.put(key, entry.data, entry.expires);
    }
    core.select(from);
    if there {
        return Ok(Value::Integer(0));
    }
    core.keys.remove(key);
    core.note_removed(key, RemovalReason::Deleted);
    core.changed(key, Class::Generic, "move_from");
    core.select(to);
    core.notify(Class::Generic, "move_to", key);
    core.select(from);
    Ok(Value::Integer(1))
}

fn copy(core: &mut Core, command: &Command) -> Reply {
    let (from, to) = (word(command, 1), word(command, 2));
    let selected = core.selected;
    let (mut replace, mut db) = (false, selected);
    let mut index = 3;
    while index < command.len() {
        if is(command, index, "REPLACE") {
            replace = true;
        } else if is(command, index, "DB") && index + 1 < command.len() {
            index += 1;
            db = database(integer(command, index)?)?;
        } else {
            return refuse(SYNTAX);
        }
        index += 1;
    }
    if core.cluster.is_some() && db != 0 {
        return refuse("ERR Copying to another database is not allowed in cluster mode");
    }
    if from == to && db == selected {
        return refuse("ERR source and destination objects are the same");
    }
    let Some(entry) = core.entry(from).cloned() else {
        return Ok(Value::Integer(0));
    };
    core.select(db);
    let copies = replace || !core.lookup_key(to);
    if copies {
        core.lookup_key(to);
        core.put(to, entry.data, entry.expires);
        core.notify(Class::Generic, "copy_to", to);
    }
    core.select(selected);
    Ok(Value::Integer(i64::from(copies)))
}
