//! Strings that count.

use picklock_clients::redis::{Bytes, Command, ErrorReply, Value};

use super::options::{integer, word};
use super::{Row, write};
use crate::db::Core;
use crate::errors::{NOT_A_FLOAT, NOT_AN_INTEGER, OVERFLOW, Reply, refuse};
use crate::keyspace_events::Class;
use crate::numbers::{self, Decimal};

pub(super) const ROWS: &[Row] = &[
    write("decr", 2, decr),
    write("decrby", 3, decrby),
    write("incr", 2, incr),
    write("incrby", 3, incrby),
    write("incrbyfloat", 3, incrbyfloat),
];

fn incr(core: &mut Core, command: &Command) -> Reply {
    add(core, word(command, 1), 1)
}

fn decr(core: &mut Core, command: &Command) -> Reply {
    add(core, word(command, 1), -1)
}

fn incrby(core: &mut Core, command: &Command) -> Reply {
    let more = integer(command, 2)?;
    add(core, word(command, 1), more)
}

fn decrby(core: &mut Core, command: &Command) -> Reply {
    match integer(command, 2)?.checked_neg() {
        Some(more) => add(core, word(command, 1), more),
        None => refuse("ERR decrement would overflow"),
    }
}

/// The number that a text is, which is zero if there is none.
pub(super) fn number_of(text: Option<&Bytes>) -> Result<i64, ErrorReply> {
    match text.map(|text| numbers::integer(text)) {
        None => Ok(0),
        Some(Some(number)) => Ok(number),
        Some(None) => refuse(NOT_AN_INTEGER),
    }
}

fn add(core: &mut Core, key: &[u8], more: i64) -> Reply {
    let before = number_of(core.read::<Bytes>(key)?)?;
    let Some(number) = before.checked_add(more) else {
        return refuse(OVERFLOW);
    };
    *core.write_or_make::<Bytes>(key)? = text(number);
    core.changed(key, Class::String, "incrby");
    Ok(Value::Integer(number))
}

/// A number as a string.
pub(super) fn text(number: i64) -> Bytes {
    number.to_string().into_bytes().into()
}

/// The sum of a text, which is zero if there is none, and a word.
pub(super) fn sum(
    text: Option<&Bytes>,
    more: &[u8],
    wrong: &'static str,
) -> Result<String, ErrorReply> {
    let Some(before) = text.map_or_else(|| Decimal::parse(b"0"), |text| Decimal::parse(text))
    else {
        return refuse(wrong);
    };
    let Some(more) = Decimal::parse(more) else {
        return refuse(NOT_A_FLOAT);
    };
    match before.plus(more) {
        Some(sum) => Ok(sum.text()),
        None => refuse("ERR increment would produce NaN or Infinity"),
    }
}

fn incrbyfloat(core: &mut Core, command: &Command) -> Reply {
    let key = word(command, 1);
    let sum = sum(core.read::<Bytes>(key)?, word(command, 2), NOT_A_FLOAT)?;
    *core.write_or_make::<Bytes>(key)? = sum.as_bytes().into();
    core.changed(key, Class::String, "incrbyfloat");
    // Replicas are told the sum, so that they need not add as exactly.
    core.instead(|| Command::new("SET").arg(key).arg(&sum).arg("KEEPTTL"));
    Ok(Value::bulk(sum))
}
