//! Sets.

use picklock_clients::redis::{Bytes, Command, Value};

use super::options::word;
use super::{Row, read, write};
use crate::db::Core;
use crate::errors::Reply;
use crate::keyspace_events::Class;
use crate::value::Set;

pub(super) const ROWS: &[Row] = &[
    write("sadd", -3, sadd),
    read("scard", 2, scard),
    read("sismember", 3, sismember),
    read("smembers", 2, smembers),
    read("smismember", -3, smismember),
    write("srem", -3, srem),
];

fn sadd(core: &mut Core, command: &Command) -> Reply {
    let key = word(command, 1);
    let set = core.write_or_make::<Set>(key)?;
    let members = command.words().skip(2);
    let new = members.filter(|member| set.0.insert(Bytes::from(*member)));
    let new = new.count();
    if new > 0 {
        core.changed(key, Class::Set, "sadd");
    }
    Ok(Value::Integer(new as i64))
}

fn srem(core: &mut Core, command: &Command) -> Reply {
    let key = word(command, 1);
    let Some(set) = core.write::<Set>(key)? else {
        return Ok(Value::Integer(0));
    };
    let members = command.words().skip(2);
    let gone = members.filter(|member| set.0.remove(*member)).count();
    if gone > 0 {
        core.changed(key, Class::Set, "srem");
    }
    Ok(Value::Integer(gone as i64))
}

fn scard(core: &mut Core, command: &Command) -> Reply {
    let set = core.read::<Set>(word(command, 1))?;
    Ok(Value::Integer(set.map_or(0, |set| set.0.len() as i64)))
}

fn sismember(core: &mut Core, command: &Command) -> Reply {
    let set = core.read::<Set>(word(command, 1))?;
    let there = set.is_some_and(|set| set.0.contains(word(command, 2)));
    Ok(Value::Integer(i64::from(there)))
}

fn smismember(core: &mut Core, command: &Command) -> Reply {
    let set = core.read::<Set>(word(command, 1))?;
    let members = command.words().skip(2);
    let there = members.map(|member| set.is_some_and(|set| set.0.contains(member)));
    Ok(Value::array(
        there.map(|there| Value::Integer(i64::from(there))),
    ))
}

fn smembers(core: &mut Core, command: &Command) -> Reply {
    let set = core.read::<Set>(word(command, 1))?;
    let members = set.into_iter().flat_map(|set| set.0.iter());
    let members = members.map(|member| Value::Bulk(Bytes::clone(member)));
    Ok(Value::Set(members.collect()))
}
