//! When fields of hashes expire, by the documents of Redis 7.4 and Valkey 9.0.

use picklock_clients::redis::{Bytes, Command, ErrorReply, Value};

use super::options::{integer, is, small, word};
use super::strings::Unit;
use super::{Row, read, write};
use crate::db::{Core, Expired};
use crate::errors::{Reply, refuse};
use crate::keyspace_events::Class;
use crate::numbers;
use crate::value::Hash;
use crate::version::Release;

const REDIS: Option<Release> = Some((7, 4));
const VALKEY: Option<Release> = Some((9, 0));

pub(super) const ROWS: &[Row] = &[
    write("hexpire", -6, |core, command| {
        expire(core, command, Unit::Seconds)
    })
    .since(REDIS, VALKEY),
    write("hexpireat", -6, |core, command| {
        expire(core, command, Unit::AtSecond)
    })
    .since(REDIS, VALKEY),
    read("hexpiretime", -5, |core, command| {
        time(core, command, Unit::AtSecond)
    })
    .since(REDIS, VALKEY),
    write("hpersist", -5, persist).since(REDIS, VALKEY),
    write("hpexpire", -6, |core, command| {
        expire(core, command, Unit::Millis)
    })
    .since(REDIS, VALKEY),
    write("hpexpireat", -6, |core, command| {
        expire(core, command, Unit::AtMilli)
    })
    .since(REDIS, VALKEY),
    read("hpexpiretime", -5, |core, command| {
        time(core, command, Unit::AtMilli)
    })
    .since(REDIS, VALKEY),
    read("hpttl", -5, |core, command| {
        time(core, command, Unit::Millis)
    })
    .since(REDIS, VALKEY),
    read("httl", -5, |core, command| {
        time(core, command, Unit::Seconds)
    })
    .since(REDIS, VALKEY),
];

/// What is answered of a field that is not there, and of one that does not expire.
const NO_FIELD: Value = Value::Integer(-2);
const NO_TIME: Value = Value::Integer(-1);

/// The latest time at which a field can expire.
const LATEST: i64 = 1 << 46;

/// Where the fields begin that a command names, after the word `FIELDS` at this place and how many there are.
fn fields(command: &Command, at: usize, no_number: &'static str) -> Result<usize, ErrorReply> {
    if !is(command, at, "FIELDS") {
        return refuse("ERR Mandatory argument FIELDS is missing or not at the right position");
    }
    let Some(number) = numbers::integer(word(command, at + 1)).filter(|number| *number > 0) else {
        return refuse(no_number);
    };
    if usize::try_from(number) != Ok(command.len() - at - 2) {
        return refuse("ERR The `numfields` parameter must match the number of arguments");
    }
    Ok(at + 2)
}

/// What is answered for each field.
fn each(command: &Command, from: usize, answer: impl FnMut(&[u8]) -> Value) -> Reply {
    Ok(Value::array(command.words().skip(from).map(answer)))
}

/// Whether a condition holds for a field that expires at `before`, if it is to expire at `at`.
fn holds(condition: Option<&str>, before: Option<i64>, at: i64) -> bool {
    match condition {
        Some("NX") => before.is_none(),
        Some("XX") => before.is_some(),
        Some("GT") => before.is_some_and(|before| at > before),
        Some("LT") => before.is_none_or(|before| at < before),
        _ => true,
    }
}

fn expire(core: &mut Core, command: &Command, unit: Unit) -> Reply {
    let (key, now) = (word(command, 1), core.wall_millis());
    let is_there = core.read_hash(key)?.is_some();
    let number = integer(command, 2)?;
    if number < 0 {
        return refuse("ERR invalid expire time, must be >= 0");
    }
    let Some(at) = unit.at(number, now).filter(|at| *at < LATEST) else {
        let name = small(command.name());
        return refuse(format!("ERR invalid expire time in '{name}' command"));
    };
    let condition = ["NX", "XX", "GT", "LT"]
        .into_iter()
        .find(|name| is(command, 3, name));
    let place = if condition.is_some() { 4 } else { 3 };
    let no_number = "ERR Parameter `numFields` should be greater than 0";
    let from = fields(command, place, no_number)?;
    if !is_there {
        return each(command, from, |_| NO_FIELD);
    }
    // A replica does not delete: what is over is for its primary to say.
    let deletes = at <= now && core.expired == Expired::Deleted;
    let mut met: Vec<Bytes> = Vec::new();
    let Some(hash) = core.write::<Hash>(key)? else {
        return each(command, from, |_| NO_FIELD);
    };
    let answer = each(command, from, |field| {
        if !hash.0.contains_key(field) {
            return NO_FIELD;
        }
        if !holds(condition, hash.1.of(field), at) {
            return Value::Integer(0);
        }
        met.push(field.into());
        if deletes {
            hash.remove(field);
            return Value::Integer(2);
        }
        hash.1.set(field, at);
        Value::Integer(1)
    });
    if met.is_empty() {
        return answer;
    }
    core.keys.note_field_time(at);
    core.changed(key, Class::Hash, if deletes { "hdel" } else { "hexpire" });
    let of_key = |name: &str| Command::new(name).arg(key);
    if deletes {
        let last = met.pop().unwrap_or_default();
        for field in met {
            core.effects.add_with(|| of_key("HDEL").arg(field));
        }
        core.instead(|| of_key("HDEL").arg(last));
    } else {
        core.instead(|| {
            let expires = condition
                .into_iter()
                .fold(of_key("HPEXPIREAT").number(at), Command::arg);
            met.iter()
                .fold(expires.arg("FIELDS").number(met.len() as i64), Command::arg)
        });
    }
    answer
}

fn persist(core: &mut Core, command: &Command) -> Reply {
    let key = word(command, 1);
    core.read_hash(key)?;
    let from = fields(
        command,
        2,
        "ERR Number of fields must be a positive integer",
    )?;
    let Some(hash) = core.write::<Hash>(key)? else {
        return each(command, from, |_| NO_FIELD);
    };
    let mut persisted = 0;
    let answer = each(command, from, |field| match hash.0.contains_key(field) {
        false => NO_FIELD,
        true if !hash.1.clear(field) => NO_TIME,
        true => {
            persisted += 1;
            Value::Integer(1)
        }
    });
    if persisted > 0 {
        core.changed(key, Class::Hash, "hpersist");
    }
    answer
}

fn time(core: &mut Core, command: &Command, unit: Unit) -> Reply {
    let now = core.wall_millis();
    let hash = core.read_hash(word(command, 1))?;
    let from = fields(
        command,
        2,
        "ERR Number of fields must be a positive integer",
    )?;
    each(command, from, |field| {
        let Some(hash) = hash.as_deref().filter(|hash| hash.0.contains_key(field)) else {
            return NO_FIELD;
        };
        match hash.1.of(field) {
            None => NO_TIME,
            Some(at) if at <= now => NO_FIELD,
            Some(at) => Value::Integer(match unit {
                Unit::Seconds => (at - now + 999) / 1_000,
                Unit::Millis => at - now,
                Unit::AtSecond => (at + 999) / 1_000,
                Unit::AtMilli => at,
            }),
        }
    })
}
