//! When keys expire.

use picklock_clients::redis::{Command, ErrorReply, Value};

use super::options::{integer, is, small, word};
use super::strings::Unit;
use super::{Row, read, write};
use crate::db::{Core, Expired};
use crate::errors::{Reply, refuse};
use crate::keyspace_events::Class;

pub(super) const ROWS: &[Row] = &[
    write("expire", -3, expire),
    write("expireat", -3, expireat),
    read("expiretime", 2, expiretime),
    write("persist", 2, persist),
    write("pexpire", -3, pexpire),
    write("pexpireat", -3, pexpireat),
    read("pexpiretime", 2, pexpiretime),
    read("pttl", 2, pttl),
    read("ttl", 2, ttl),
];

fn expire(core: &mut Core, command: &Command) -> Reply {
    expire_in(core, command, Unit::Seconds)
}

fn pexpire(core: &mut Core, command: &Command) -> Reply {
    expire_in(core, command, Unit::Millis)
}

fn expireat(core: &mut Core, command: &Command) -> Reply {
    expire_in(core, command, Unit::AtSecond)
}

fn pexpireat(core: &mut Core, command: &Command) -> Reply {
    expire_in(core, command, Unit::AtMilli)
}

/// Under which conditions a key is to expire.
#[derive(Default)]
struct Conditions {
    if_none: bool,
    if_some: bool,
    if_later: bool,
    if_sooner: bool,
}

impl Conditions {
    fn parse(command: &Command) -> Result<Self, ErrorReply> {
        let mut conditions = Self::default();
        for index in 3..command.len() {
            let flag = match () {
                () if is(command, index, "NX") => &mut conditions.if_none,
                () if is(command, index, "XX") => &mut conditions.if_some,
                () if is(command, index, "GT") => &mut conditions.if_later,
                () if is(command, index, "LT") => &mut conditions.if_sooner,
                () => {
                    let option = String::from_utf8_lossy(word(command, index)).into_owned();
                    return refuse(format!("ERR Unsupported option {option}"));
                }
            };
            *flag = true;
        }
        if conditions.if_none && (conditions.if_some || conditions.if_later || conditions.if_sooner)
        {
            return refuse("ERR NX and XX, GT or LT options at the same time are not compatible");
        }
        if conditions.if_later && conditions.if_sooner {
            return refuse("ERR GT and LT options at the same time are not compatible");
        }
        Ok(conditions)
    }

    /// Whether they hold for a key that expires at `before`, if it is to expire at `at`. Never is later than any time.
    fn hold(&self, before: Option<i64>, at: i64) -> bool {
        !(self.if_none && before.is_some()
            || self.if_some && before.is_none()
            || self.if_later && before.is_none_or(|before| at <= before)
            || self.if_sooner && before.is_some_and(|before| at >= before))
    }
}

fn expire_in(core: &mut Core, command: &Command, unit: Unit) -> Reply {
    let key = word(command, 1);
    let conditions = Conditions::parse(command)?;
    let number = integer(command, 2)?;
    let Some(at) = unit.at(number, core.wall_millis()) else {
        let name = small(command.name());
        return refuse(format!("ERR invalid expire time in '{name}' command"));
    };
    let Some(before) = core.entry(key).map(|entry| entry.expires) else {
        return Ok(Value::Integer(0));
    };
    if !conditions.hold(before, at) {
        return Ok(Value::Integer(0));
    }
    // A replica does not delete: what has expired is for its primary to say.
    if at <= core.wall_millis() && core.expired == Expired::Deleted {
        core.remove(key);
        core.instead(|| Command::new("DEL").arg(key));
    } else {
        core.keys.expire_at(key, Some(at));
        core.changed(key, Class::Generic, "expire");
        core.instead(|| {
            // The conditions go with it, although they were found to hold.
            let absolute = Command::new("PEXPIREAT").arg(key).number(at);
            command.words().skip(3).fold(absolute, Command::arg)
        });
    }
    Ok(Value::Integer(1))
}

fn persist(core: &mut Core, command: &Command) -> Reply {
    let key = word(command, 1);
    let expires = core.entry(key).and_then(|entry| entry.expires);
    if expires.is_none() {
        return Ok(Value::Integer(0));
    }
    core.keys.expire_at(key, None);
    core.changed(key, Class::Generic, "persist");
    Ok(Value::Integer(1))
}

/// What there is to say of when a key expires, or what says that it never does, or is not there.
fn time_of(core: &mut Core, command: &Command, of: impl FnOnce(i64, i64) -> i64) -> Reply {
    let now = core.wall_millis();
    Ok(Value::Integer(match core.entry(word(command, 1)) {
        None => -2,
        Some(entry) => entry.expires.map_or(-1, |expires| of(expires, now)),
    }))
}

fn pttl(core: &mut Core, command: &Command) -> Reply {
    // Zero and still there: in its last millisecond.
    time_of(core, command, |expires, now| (expires - now).max(0))
}

fn ttl(core: &mut Core, command: &Command) -> Reply {
    time_of(core, command, |expires, now| {
        ((expires - now).max(0) + 500) / 1_000
    })
}

fn pexpiretime(core: &mut Core, command: &Command) -> Reply {
    time_of(core, command, |expires, _| expires)
}

fn expiretime(core: &mut Core, command: &Command) -> Reply {
    time_of(core, command, |expires, _| (expires + 500) / 1_000)
}
