//! Hashes.

use picklock_clients::redis::{Bytes, Command, ErrorReply, Value};

use super::counters::{number_of, sum, text};
use super::options::{integer, small, word};
use super::{Row, read, write, wrong_number};
use crate::db::Core;
use crate::errors::{OVERFLOW, Reply, refuse};
use crate::keyspace_events::Class;
use crate::value::Hash;

pub(super) const ROWS: &[Row] = &[
    write("hdel", -3, hdel),
    read("hexists", 3, hexists),
    read("hget", 3, hget),
    read("hgetall", 2, hgetall),
    write("hincrby", 4, hincrby),
    write("hincrbyfloat", 4, hincrbyfloat),
    read("hkeys", 2, hkeys),
    read("hlen", 2, hlen),
    read("hmget", -3, hmget),
    write("hmset", -4, hmset),
    write("hset", -4, hset),
    write("hsetnx", 4, hsetnx),
    read("hstrlen", 3, hstrlen),
    read("hvals", 2, hvals),
];

fn set_fields(core: &mut Core, command: &Command) -> Result<i64, ErrorReply> {
    if !command.len().is_multiple_of(2) {
        return Err(wrong_number(&small(command.name())));
    }
    let key = word(command, 1);
    core.expire_fields(key);
    let hash = core.write_or_make::<Hash>(key)?;
    let mut new = 0;
    for index in (2..command.len()).step_by(2) {
        let value = Bytes::from(word(command, index + 1));
        // As `SET` does with a key, it lets the field stay.
        hash.1.clear(word(command, index));
        match hash.0.get_mut(word(command, index)) {
            Some(old) => *old = value,
            None => {
                hash.0.insert(word(command, index).into(), value);
                new += 1;
            }
        }
    }
    core.changed(key, Class::Hash, "hset");
    Ok(new)
}

fn hset(core: &mut Core, command: &Command) -> Reply {
    set_fields(core, command).map(Value::Integer)
}

fn hmset(core: &mut Core, command: &Command) -> Reply {
    set_fields(core, command).map(|_| Value::OK)
}

fn hsetnx(core: &mut Core, command: &Command) -> Reply {
    let (key, field) = (word(command, 1), word(command, 2));
    let there = core.read_hash(key)?;
    if there.is_some_and(|hash| hash.0.contains_key(field)) {
        return Ok(Value::Integer(0));
    }
    let hash = core.write_or_make::<Hash>(key)?;
    hash.0.insert(field.into(), word(command, 3).into());
    core.changed(key, Class::Hash, "hset");
    Ok(Value::Integer(1))
}

fn bulk(bytes: &Bytes) -> Value {
    Value::Bulk(Bytes::clone(bytes))
}

fn hget(core: &mut Core, command: &Command) -> Reply {
    let hash = core.read_hash(word(command, 1))?;
    let hash = hash.as_deref();
    let value = hash.and_then(|hash| hash.0.get(word(command, 2)));
    Ok(value.map_or(Value::Nil, bulk))
}

fn hmget(core: &mut Core, command: &Command) -> Reply {
    let hash = core.read_hash(word(command, 1))?;
    let hash = hash.as_deref();
    let fields = command.words().skip(2);
    let values = fields.map(|field| hash.and_then(|hash| hash.0.get(field)));
    Ok(Value::array(
        values.map(|value| value.map_or(Value::Nil, bulk)),
    ))
}

fn hgetall(core: &mut Core, command: &Command) -> Reply {
    let hash = core.read_hash(word(command, 1))?;
    let hash = hash.as_deref();
    let pairs = hash.into_iter().flat_map(|hash| hash.0.iter());
    let words = pairs.flat_map(|(field, value)| [bulk(field), bulk(value)]);
    Ok(Value::Map(words.collect()))
}

fn hkeys(core: &mut Core, command: &Command) -> Reply {
    let hash = core.read_hash(word(command, 1))?;
    let hash = hash.as_deref();
    let fields = hash.into_iter().flat_map(|hash| hash.0.keys());
    Ok(Value::array(fields.map(bulk)))
}

fn hvals(core: &mut Core, command: &Command) -> Reply {
    let hash = core.read_hash(word(command, 1))?;
    let hash = hash.as_deref();
    let values = hash.into_iter().flat_map(|hash| hash.0.values());
    Ok(Value::array(values.map(bulk)))
}

fn hlen(core: &mut Core, command: &Command) -> Reply {
    let hash = core.read::<Hash>(word(command, 1))?;
    Ok(Value::Integer(hash.map_or(0, |hash| hash.0.len() as i64)))
}

fn hexists(core: &mut Core, command: &Command) -> Reply {
    let hash = core.read_hash(word(command, 1))?;
    let hash = hash.as_deref();
    let there = hash.is_some_and(|hash| hash.0.contains_key(word(command, 2)));
    Ok(Value::Integer(i64::from(there)))
}

fn hstrlen(core: &mut Core, command: &Command) -> Reply {
    let hash = core.read_hash(word(command, 1))?;
    let hash = hash.as_deref();
    let value = hash.and_then(|hash| hash.0.get(word(command, 2)));
    Ok(Value::Integer(value.map_or(0, |value| value.len() as i64)))
}

fn hdel(core: &mut Core, command: &Command) -> Reply {
    let key = word(command, 1);
    core.expire_fields(key);
    let Some(hash) = core.write::<Hash>(key)? else {
        return Ok(Value::Integer(0));
    };
    let fields = command.words().skip(2);
    let gone = fields.filter(|field| hash.remove(field));
    let gone = gone.count();
    if gone > 0 {
        core.changed(key, Class::Hash, "hdel");
    }
    Ok(Value::Integer(gone as i64))
}

fn hincrby(core: &mut Core, command: &Command) -> Reply {
    let (key, field, more) = (word(command, 1), word(command, 2), integer(command, 3)?);
    let hash = core.read_hash(key)?;
    let hash = hash.as_deref();
    let before = match number_of(hash.and_then(|hash| hash.0.get(field))) {
        Ok(before) => before,
        Err(_) => return refuse("ERR hash value is not an integer"),
    };
    let Some(number) = before.checked_add(more) else {
        return refuse(OVERFLOW);
    };
    put_field(core, (key, "hincrby"), field, text(number))?;
    Ok(Value::Integer(number))
}

fn hincrbyfloat(core: &mut Core, command: &Command) -> Reply {
    let (key, field) = (word(command, 1), word(command, 2));
    let hash = core.read_hash(key)?;
    let before = hash.as_deref().and_then(|hash| hash.0.get(field));
    let sum = sum(before, word(command, 3), "ERR hash value is not a float")?;
    put_field(core, (key, "hincrbyfloat"), field, sum.as_bytes().into())?;
    core.instead(|| Command::new("HSET").arg(key).arg(field).arg(&sum));
    Ok(Value::bulk(sum))
}

fn put_field(
    core: &mut Core,
    (key, event): (&[u8], &'static str),
    field: &[u8],
    value: Bytes,
) -> Result<(), ErrorReply> {
    let hash = core.write_or_make::<Hash>(key)?;
    match hash.0.get_mut(field) {
        Some(old) => *old = value,
        None => {
            hash.0.insert(field.into(), value);
        }
    }
    core.changed(key, Class::Hash, event);
    Ok(())
}
