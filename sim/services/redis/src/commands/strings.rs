//! Strings.

use picklock_clients::redis::{Bytes, Command, ErrorReply, Value};

use super::options::{integer, word};
use super::{Row, read, write, wrong_number};
use crate::db::Core;
use crate::errors::{NO_SUCH_KEY, Reply, SYNTAX, refuse};
use crate::keyspace_events::Class;
use crate::version::Comparison;

pub(super) const ROWS: &[Row] = &[
    write("append", 3, append),
    read("get", 2, get),
    write("getdel", 2, getdel),
    write("getex", -2, getex),
    read("getrange", 4, getrange),
    write("getset", 3, getset),
    read("mget", -2, mget),
    write("mset", -3, mset),
    write("msetnx", -3, msetnx),
    write("psetex", 4, psetex),
    write("set", -3, set),
    write("setex", 4, setex),
    write("setnx", 3, setnx),
    write("setrange", 4, setrange),
    read("strlen", 2, strlen),
    read("substr", 4, getrange),
];

/// How `SET` and its like are to go about it.
#[derive(Default)]
struct Options {
    /// Only if the key is not there.
    if_missing: bool,
    /// Only if it is.
    if_there: bool,
    /// Only if the value compares so with the word at this place.
    compared: Option<(Comparison, usize)>,
    /// Answer with what was there before.
    get: bool,
    /// It expires when it had before.
    keep: bool,
    /// It does not expire any more (`GETEX`).
    persist: bool,
    /// When it expires: the unit, and the word that says when.
    expiry: Option<(Unit, usize)>,
}

/// What the number of an expiry means.
#[derive(Clone, Copy)]
pub(super) enum Unit {
    Seconds,
    Millis,
    AtSecond,
    AtMilli,
}

impl Unit {
    /// What the option of this name is followed by.
    fn of(name: &[u8]) -> Option<Self> {
        let units = [
            ("EX", Self::Seconds),
            ("PX", Self::Millis),
            ("EXAT", Self::AtSecond),
            ("PXAT", Self::AtMilli),
        ];
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        let found = units.into_iter().find(|(known, _)| is(known));
        found.map(|(_, unit)| unit)
    }

    /// When that is, in milliseconds since the Unix epoch; `None` if it is before all time or after it, or not after
    /// zero.
    pub(super) fn at(self, number: i64, now: i64) -> Option<i64> {
        let millis = match self {
            Self::Seconds | Self::AtSecond => number.checked_mul(1_000)?,
            Self::Millis | Self::AtMilli => number,
        };
        match self {
            Self::Seconds | Self::Millis => millis.checked_add(now),
            Self::AtSecond | Self::AtMilli => Some(millis),
        }
    }
}

impl Options {
    /// Reads the options from this place on. `set` says that those of `SET` are meant, and not those of `GETEX`.
    fn parse(core: &Core, command: &Command, from: usize, set: bool) -> Result<Self, ErrorReply> {
        let mut options = Self::default();
        let mut index = from;
        while index < command.len() {
            let option = word(command, index);
            let is = |name: &str| option.eq_ignore_ascii_case(name.as_bytes());
            let timed = options.keep || options.persist || options.expiry.is_some();
            let more = index + 1 < command.len();
            if set && is("NX") && !options.if_there && options.compared.is_none() {
                options.if_missing = true;
            } else if set && is("XX") && !options.if_missing && options.compared.is_none() {
                options.if_there = true;
            } else if set && is("GET") {
                options.get = true;
            } else if set && is("KEEPTTL") && options.expiry.is_none() {
                options.keep = true;
            } else if !set && is("PERSIST") && options.expiry.is_none() {
                options.persist = true;
            } else if let Some(unit) = Unit::of(option)
                && !timed
                && more
            {
                index += 1;
                options.expiry = Some((unit, index));
            } else if let Some(comparison) = Comparison::of(option)
                && set
                && more
                && !(options.if_missing || options.if_there || options.compared.is_some())
                && core.settings.version.has(comparison.since())
            {
                index += 1;
                options.compared = Some((comparison, index));
            } else {
                return refuse(SYNTAX);
            }
            index += 1;
        }
        Ok(options)
    }

    /// When the key expires, in milliseconds since the Unix epoch, if an option says so.
    fn expires(&self, core: &Core, command: &Command) -> Result<Option<i64>, ErrorReply> {
        match self.expiry {
            None => Ok(None),
            Some((unit, index)) => expires(core, command, unit, index).map(Some),
        }
    }
}

/// When a key expires that expires after zero, in milliseconds since the Unix epoch.
fn expires(core: &Core, command: &Command, unit: Unit, index: usize) -> Result<i64, ErrorReply> {
    let number = integer(command, index)?;
    let at = (number > 0)
        .then(|| unit.at(number, core.wall_millis()))
        .flatten();
    match at {
        Some(at) => Ok(at),
        None => {
            let name = super::options::small(command.name());
            refuse(format!("ERR invalid expire time in '{name}' command"))
        }
    }
}

fn set(core: &mut Core, command: &Command) -> Reply {
    let options = Options::parse(core, command, 3, true)?;
    let (key, text) = (word(command, 1), word(command, 2));
    let expires = options.expires(core, command)?;
    let mut before = Value::Nil;
    if options.get {
        before = text_or_nil(core, key)?;
    }
    let there = core.lookup_key(key);
    if (options.if_missing && there) || (options.if_there && !there) {
        return Ok(before);
    }
    if let Some((comparison, index)) = options.compared {
        let there = core.read::<Bytes>(key)?;
        if !comparison.holds(there.map(|there| &**there), word(command, index)) {
            return Ok(before);
        }
    }
    let expires = if options.keep {
        core.keys.get(key).and_then(|entry| entry.expires)
    } else {
        expires
    };
    core.put_text(key, text.into(), expires);
    if let (Some(at), false) = (expires, options.keep) {
        core.notify(Class::Generic, "expire", key);
        core.instead(|| absolute(key, text, at));
    } else if options.compared.is_some() {
        core.instead(|| without_comparison(command, options.keep));
    } else if options.get {
        core.instead(|| without_get(command));
    }
    Ok(if options.get { before } else { Value::OK })
}

/// The `SET` that replicas are told: when the key expires is a time of our clock, whatever theirs says.
fn absolute(key: &[u8], text: &[u8], at: i64) -> Command {
    let command = Command::new("SET").arg(key).arg(text);
    command.arg("PXAT").number(at)
}

/// The `SET` that replicas are told if it asked for what was there.
fn without_get(command: &Command) -> Command {
    let options = command.words().skip(3);
    let options = options.filter(|word| !word.eq_ignore_ascii_case(b"GET"));
    options.fold(plain(word(command, 1), word(command, 2)), Command::arg)
}

/// The `SET` that replicas are told if it compared values.
fn without_comparison(command: &Command, keeps: bool) -> Command {
    let plain = plain(word(command, 1), word(command, 2));
    if keeps { plain.arg("KEEPTTL") } else { plain }
}

/// A `SET` without options.
fn plain(key: &[u8], text: &[u8]) -> Command {
    Command::new("SET").arg(key).arg(text)
}

fn text_or_nil(core: &mut Core, key: &[u8]) -> Reply {
    let text = core.read::<Bytes>(key)?;
    Ok(text.map_or(Value::Nil, |text| Value::Bulk(Bytes::clone(text))))
}

fn get(core: &mut Core, command: &Command) -> Reply {
    text_or_nil(core, word(command, 1))
}

fn setnx(core: &mut Core, command: &Command) -> Reply {
    let key = word(command, 1);
    if core.lookup_key(key) {
        return Ok(Value::Integer(0));
    }
    core.put_text(key, word(command, 2).into(), None);
    Ok(Value::Integer(1))
}

fn setex(core: &mut Core, command: &Command) -> Reply {
    set_for(core, command, Unit::Seconds)
}

fn psetex(core: &mut Core, command: &Command) -> Reply {
    set_for(core, command, Unit::Millis)
}

fn set_for(core: &mut Core, command: &Command, unit: Unit) -> Reply {
    let (key, text) = (word(command, 1), word(command, 3));
    let at = expires(core, command, unit, 2)?;
    core.lookup_key(key);
    core.put_text(key, text.into(), Some(at));
    core.notify(Class::Generic, "expire", key);
    core.instead(|| absolute(key, text, at));
    Ok(Value::OK)
}

fn getset(core: &mut Core, command: &Command) -> Reply {
    let (key, text) = (word(command, 1), word(command, 2));
    let before = text_or_nil(core, key)?;
    core.put_text(key, text.into(), None);
    core.instead(|| plain(key, text));
    Ok(before)
}

fn getdel(core: &mut Core, command: &Command) -> Reply {
    let key = word(command, 1);
    let before = text_or_nil(core, key)?;
    if core.remove(key) {
        core.instead(|| Command::new("DEL").arg(key));
    }
    Ok(before)
}

fn getex(core: &mut Core, command: &Command) -> Reply {
    let options = Options::parse(core, command, 2, false)?;
    let key = word(command, 1);
    let text = text_or_nil(core, key)?;
    if text.is_nil() {
        return Ok(text);
    }
    if let Some(at) = options.expires(core, command)? {
        if core.expired == crate::db::Expired::Deleted && at <= core.wall_millis() {
            core.remove(key);
            core.instead(|| Command::new("DEL").arg(key));
        } else {
            core.keys.expire_at(key, Some(at));
            core.changed(key, Class::Generic, "expire");
            core.instead(|| Command::new("PEXPIREAT").arg(key).number(at));
        }
    } else if options.persist
        && core
            .keys
            .get(key)
            .is_some_and(|entry| entry.expires.is_some())
    {
        core.keys.expire_at(key, None);
        core.changed(key, Class::Generic, "persist");
        core.instead(|| Command::new("PERSIST").arg(key));
    }
    Ok(text)
}

fn mget(core: &mut Core, command: &Command) -> Reply {
    let mut values = Vec::with_capacity(command.len() - 1);
    for key in command.words().skip(1) {
        // Another type is as good as nothing here.
        values.push(text_or_nil(core, key).unwrap_or(Value::Nil));
    }
    Ok(Value::array(values))
}

fn pairs(command: &Command) -> Result<impl Iterator<Item = (&[u8], &[u8])>, ErrorReply> {
    if command.len().is_multiple_of(2) {
        return Err(wrong_number(&super::options::small(command.name())));
    }
    let indices = (1..command.len()).step_by(2);
    Ok(indices.map(|index| (word(command, index), word(command, index + 1))))
}

fn mset(core: &mut Core, command: &Command) -> Reply {
    for (key, text) in pairs(command)? {
        core.lookup_key(key);
        core.put_text(key, text.into(), None);
    }
    Ok(Value::OK)
}

fn msetnx(core: &mut Core, command: &Command) -> Reply {
    for (key, _) in pairs(command)? {
        if core.lookup_key(key) {
            return Ok(Value::Integer(0));
        }
    }
    for (key, text) in pairs(command)? {
        core.put_text(key, text.into(), None);
    }
    Ok(Value::Integer(1))
}

fn append(core: &mut Core, command: &Command) -> Reply {
    let key = word(command, 1);
    let text = core.write_or_make::<Bytes>(key)?;
    let both = [text, word(command, 2)].concat();
    *text = both.into();
    let length = text.len();
    core.changed(key, Class::String, "append");
    Ok(Value::Integer(length as i64))
}

fn strlen(core: &mut Core, command: &Command) -> Reply {
    let text = core.read::<Bytes>(word(command, 1))?;
    Ok(Value::Integer(text.map_or(0, |text| text.len() as i64)))
}

fn getrange(core: &mut Core, command: &Command) -> Reply {
    let (start, stop) = (integer(command, 2)?, integer(command, 3)?);
    let text = core.read::<Bytes>(word(command, 1))?;
    let text = text.map_or(&[][..], |text| &text[..]);
    // A stop before the beginning is the beginning, unless both count from the end and are the wrong way round.
    if start < 0 && stop < 0 && start > stop {
        return Ok(Value::bulk(""));
    }
    let stop = stop.max(-(text.len() as i64));
    let part = super::options::range(start, stop, text.len());
    Ok(Value::bulk(
        part.map_or(&[][..], |(start, stop)| &text[start..=stop]),
    ))
}

/// The longest string that Redis takes.
const TEXT_MAX: i64 = 512 * 1024 * 1024;

fn setrange(core: &mut Core, command: &Command) -> Reply {
    let (key, offset, part) = (word(command, 1), integer(command, 2)?, word(command, 3));
    if offset < 0 {
        return refuse("ERR offset is out of range");
    }
    let before = core
        .read::<Bytes>(key)?
        .map_or_else(Vec::new, |text| text.to_vec());
    if part.is_empty() {
        return Ok(Value::Integer(before.len() as i64));
    }
    if offset.saturating_add(part.len() as i64) > TEXT_MAX {
        return refuse("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
    }
    let mut text = before;
    let offset = offset as usize;
    text.resize(text.len().max(offset + part.len()), 0);
    text[offset..offset + part.len()].copy_from_slice(part);
    let length = text.len();
    *core.write_or_make::<Bytes>(key)? = text.into();
    core.changed(key, Class::String, "setrange");
    Ok(Value::Integer(length as i64))
}

/// The error for a key that has to be there.
pub(super) fn no_such_key<T>() -> Result<T, ErrorReply> {
    refuse(NO_SUCH_KEY)
}
