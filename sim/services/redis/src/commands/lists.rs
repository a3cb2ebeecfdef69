//! Lists.

use picklock_clients::redis::{Bytes, Command, ErrorReply, Value};

use super::options::{how_many, integer, is, range, word};
use super::strings::no_such_key;
use super::{Row, read, write};
use crate::db::Core;
use crate::errors::{OUT_OF_RANGE, Reply, SYNTAX, refuse};
use crate::keyspace_events::Class;
use crate::value::{List, ListEnd};

pub(super) const ROWS: &[Row] = &[
    read("lindex", 3, lindex),
    write("linsert", 5, linsert),
    read("llen", 2, llen),
    write("lmove", 5, lmove),
    write("lpop", -2, lpop),
    write("lpush", -3, lpush),
    write("lpushx", -3, lpushx),
    read("lrange", 4, lrange),
    write("lrem", 4, lrem),
    write("lset", 4, lset),
    write("ltrim", 4, ltrim),
    write("rpop", -2, rpop),
    write("rpoplpush", 3, rpoplpush),
    write("rpush", -3, rpush),
    write("rpushx", -3, rpushx),
];

/// The end that a word names.
pub(super) fn end_of(command: &Command, index: usize) -> Result<ListEnd, ErrorReply> {
    if is(command, index, "LEFT") {
        Ok(ListEnd::Head)
    } else if is(command, index, "RIGHT") {
        Ok(ListEnd::Tail)
    } else {
        refuse(SYNTAX)
    }
}

/// Takes so many elements from a list, as far as there are any.
pub(super) fn take(
    core: &mut Core,
    key: &[u8],
    end: ListEnd,
    count: usize,
) -> Result<Vec<Value>, ErrorReply> {
    let mut popped = Vec::new();
    if let Some(list) = core.write::<List>(key)? {
        while popped.len() < count
            && let Some(element) = end.pop(list)
        {
            popped.push(Value::Bulk(element));
        }
    }
    if !popped.is_empty() {
        core.changed(key, Class::List, end.popped());
    }
    Ok(popped)
}

fn lpush(core: &mut Core, command: &Command) -> Reply {
    push(core, command, ListEnd::Head, false)
}

fn rpush(core: &mut Core, command: &Command) -> Reply {
    push(core, command, ListEnd::Tail, false)
}

fn lpushx(core: &mut Core, command: &Command) -> Reply {
    push(core, command, ListEnd::Head, true)
}

fn rpushx(core: &mut Core, command: &Command) -> Reply {
    push(core, command, ListEnd::Tail, true)
}

fn push(core: &mut Core, command: &Command, end: ListEnd, if_there: bool) -> Reply {
    let key = word(command, 1);
    if core.read::<List>(key)?.is_none() && if_there {
        return Ok(Value::Integer(0));
    }
    let list = core.write_or_make::<List>(key)?;
    for element in command.words().skip(2) {
        end.push(list, element.into());
    }
    let length = list.0.len();
    core.changed(key, Class::List, end.pushed());
    Ok(Value::Integer(length as i64))
}

fn lpop(core: &mut Core, command: &Command) -> Reply {
    pop(core, command, ListEnd::Head)
}

fn rpop(core: &mut Core, command: &Command) -> Reply {
    pop(core, command, ListEnd::Tail)
}

fn pop(core: &mut Core, command: &Command, end: ListEnd) -> Reply {
    let key = word(command, 1);
    let count = match command.len() {
        2 => None,
        3 => Some(how_many(command, 2)?),
        _ => return Err(super::wrong_number(&super::options::small(command.name()))),
    };
    if core.write::<List>(key)?.is_none() {
        return Ok(count.map_or(Value::Nil, |_| Value::NilArray));
    }
    let mut popped = take(core, key, end, count.unwrap_or(1))?;
    Ok(match count {
        None => popped.pop().unwrap_or(Value::Nil),
        Some(_) => Value::array(popped),
    })
}

fn rpoplpush(core: &mut Core, command: &Command) -> Reply {
    let (from, to) = (word(command, 1), word(command, 2));
    move_element(core, from, to, ListEnd::Tail, ListEnd::Head)
}

fn lmove(core: &mut Core, command: &Command) -> Reply {
    let (from, to) = (end_of(command, 3)?, end_of(command, 4)?);
    move_element(core, word(command, 1), word(command, 2), from, to)
}

pub(super) fn move_element(
    core: &mut Core,
    from: &[u8],
    to: &[u8],
    pop: ListEnd,
    push: ListEnd,
) -> Reply {
    if core.read::<List>(from)?.is_none() {
        return Ok(Value::Nil);
    }
    core.read::<List>(to)?;
    let element = core.write::<List>(from)?.and_then(|list| pop.pop(list));
    let Some(element) = element else {
        return Ok(Value::Nil);
    };
    push.push(core.write_or_make::<List>(to)?, Bytes::clone(&element));
    core.changed(to, Class::List, push.pushed());
    core.changed(from, Class::List, pop.popped());
    Ok(Value::Bulk(element))
}

fn llen(core: &mut Core, command: &Command) -> Reply {
    let list = core.read::<List>(word(command, 1))?;
    Ok(Value::Integer(list.map_or(0, |list| list.0.len() as i64)))
}

/// The place of an element, which counts from the end if negative.
fn list_index(number: i64, list: &List) -> Option<usize> {
    let length = list.0.len() as i64;
    let index = if number < 0 { number + length } else { number };
    (0..length).contains(&index).then_some(index as usize)
}

fn lindex(core: &mut Core, command: &Command) -> Reply {
    let Some(list) = core.read::<List>(word(command, 1))? else {
        return Ok(Value::Nil);
    };
    let number = integer(command, 2)?;
    let element = list_index(number, list).and_then(|index| list.0.get(index));
    Ok(element.map_or(Value::Nil, |element| Value::Bulk(Bytes::clone(element))))
}

fn lrange(core: &mut Core, command: &Command) -> Reply {
    let (start, stop) = (integer(command, 2)?, integer(command, 3)?);
    let Some(list) = core.read::<List>(word(command, 1))? else {
        return Ok(Value::array([]));
    };
    let Some((start, stop)) = range(start, stop, list.0.len()) else {
        return Ok(Value::array([]));
    };
    let part = list.0.range(start..=stop).cloned();
    Ok(Value::array(part.map(Value::Bulk)))
}

fn lrem(core: &mut Core, command: &Command) -> Reply {
    let (key, count, element) = (word(command, 1), integer(command, 2)?, word(command, 3));
    let Some(list) = core.write::<List>(key)? else {
        return Ok(Value::Integer(0));
    };
    let most = match count {
        0 => usize::MAX,
        some => usize::try_from(some.unsigned_abs()).unwrap_or(usize::MAX),
    };
    let equal = |index: &usize| list.0.get(*index).is_some_and(|other| **other == *element);
    let indices = 0..list.0.len();
    let mut gone: Vec<usize> = if count < 0 {
        indices.rev().filter(equal).take(most).collect()
    } else {
        indices.filter(equal).take(most).collect()
    };
    gone.sort_unstable();
    for index in gone.iter().rev() {
        list.0.remove(*index);
    }
    if !gone.is_empty() {
        core.changed(key, Class::List, "lrem");
    }
    Ok(Value::Integer(gone.len() as i64))
}

fn lset(core: &mut Core, command: &Command) -> Reply {
    let key = word(command, 1);
    let Some(list) = core.write::<List>(key)? else {
        return no_such_key();
    };
    let number = integer(command, 2)?;
    let Some(index) = list_index(number, list) else {
        return refuse(OUT_OF_RANGE);
    };
    list.0[index] = word(command, 3).into();
    core.changed(key, Class::List, "lset");
    Ok(Value::OK)
}

fn linsert(core: &mut Core, command: &Command) -> Reply {
    let key = word(command, 1);
    let after = match () {
        () if is(command, 2, "BEFORE") => 0,
        () if is(command, 2, "AFTER") => 1,
        () => return refuse(SYNTAX),
    };
    let Some(list) = core.write::<List>(key)? else {
        return Ok(Value::Integer(0));
    };
    let pivot = word(command, 3);
    let Some(index) = list.0.iter().position(|other| **other == *pivot) else {
        return Ok(Value::Integer(-1));
    };
    list.0.insert(index + after, word(command, 4).into());
    let length = list.0.len();
    core.changed(key, Class::List, "linsert");
    Ok(Value::Integer(length as i64))
}

fn ltrim(core: &mut Core, command: &Command) -> Reply {
    let (key, start, stop) = (word(command, 1), integer(command, 2)?, integer(command, 3)?);
    let Some(list) = core.write::<List>(key)? else {
        return Ok(Value::OK);
    };
    let before = list.0.len();
    match range(start, stop, list.0.len()) {
        Some((start, stop)) => {
            list.0.truncate(stop + 1);
            list.0.drain(..start);
        }
        None => list.0.clear(),
    }
    if list.0.len() == before {
        // For clients that watch the key it has changed, and replicas are told nothing.
        core.touched(key);
        core.notify(Class::List, "ltrim", key);
    } else {
        core.changed(key, Class::List, "ltrim");
    }
    Ok(Value::OK)
}
