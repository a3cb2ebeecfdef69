//! Keys, whatever they hold.

use picklock_clients::redis::{Bytes, Command, ErrorReply, Value};

use super::options::{integer, is, word};
use super::strings::no_such_key;
use super::{Row, read, write, wrong_number};
use crate::db::Core;
use crate::errors::{Reply, SYNTAX, refuse};
use crate::keyspace_events::Class;
use crate::value::Data;
use crate::version::Comparison;
use crate::{glob, numbers};

pub(super) const ROWS: &[Row] = &[
    read("dbsize", 1, dbsize),
    write("del", -2, del),
    write("delex", -2, delex).since(Some((8, 4)), None),
    write("delifeq", 3, delifeq).since(None, Some((9, 0))),
    read("exists", -2, exists),
    read("keys", 2, keys),
    read("object", -2, object),
    read("randomkey", 1, randomkey),
    write("rename", 3, rename),
    write("renamenx", 3, renamenx),
    read("scan", -2, scan),
    read("touch", -2, exists),
    read("type", 2, kind),
    write("unlink", -2, del),
];

fn del(core: &mut Core, command: &Command) -> Reply {
    let keys = command.words().skip(1);
    let gone = keys.filter(|key| core.remove(key)).count();
    Ok(Value::Integer(gone as i64))
}

/// `DELEX key [IFEQ value | IFNE value]` of Redis 8.4.
fn delex(core: &mut Core, command: &Command) -> Reply {
    if command.len() == 2 {
        return del(core, command);
    }
    if command.len() != 4 {
        return Err(wrong_number("delex"));
    }
    match Comparison::of(word(command, 2)) {
        Some(comparison) => delete_if(core, command, comparison, word(command, 3)),
        None if is(command, 2, "IFDEQ") || is(command, 2, "IFDNE") => {
            refuse("ERR not modelled: DELEX with a digest")
        }
        None => refuse(SYNTAX),
    }
}

/// `DELIFEQ key value` of Valkey 9.0.
fn delifeq(core: &mut Core, command: &Command) -> Reply {
    delete_if(core, command, Comparison::IfEq, word(command, 2))
}

/// Deletes the key of a command if its value compares so with another: 1 if it did.
fn delete_if(core: &mut Core, command: &Command, comparison: Comparison, other: &[u8]) -> Reply {
    let key = word(command, 1);
    let there = core.read::<Bytes>(key)?;
    if !there.is_some_and(|there| comparison.holds(Some(there), other)) {
        return Ok(Value::Integer(0));
    }
    core.remove(key);
    core.instead(|| Command::new("DEL").arg(key));
    Ok(Value::Integer(1))
}

fn exists(core: &mut Core, command: &Command) -> Reply {
    let keys = command.words().skip(1);
    let there = keys.filter(|key| core.lookup_key(key)).count();
    Ok(Value::Integer(there as i64))
}

fn kind(core: &mut Core, command: &Command) -> Reply {
    let entry = core.entry(word(command, 1));
    let kind = entry.map_or("none", |entry| entry.data.kind());
    Ok(Value::Status(kind.into()))
}

/// Counts expired keys that are still there, too.
fn dbsize(core: &mut Core, _: &Command) -> Reply {
    Ok(Value::Integer(core.keys.len() as i64))
}

impl Core {
    /// The keys that fit a pattern and have not expired, in order. Those that have are left alone.
    fn fitting(&mut self, pattern: &[u8]) -> Vec<Bytes> {
        let now = self.wall_millis();
        let found = self
            .keys
            .iter()
            .filter(|(_, entry)| !entry.has_expired(now));
        let found = found.filter(|(key, _)| glob::fits(pattern, key));
        let mut found: Vec<Bytes> = found.map(|(key, _)| Bytes::clone(key)).collect();
        found.sort_unstable();
        found
    }
}

fn keys(core: &mut Core, command: &Command) -> Reply {
    let found = core.fitting(word(command, 1));
    Ok(Value::array(found.into_iter().map(Value::Bulk)))
}

/// Answers with everything at once, so that the next cursor is always zero.
fn scan(core: &mut Core, command: &Command) -> Reply {
    if std::str::from_utf8(word(command, 1)).is_ok_and(|cursor| cursor.parse::<u64>().is_err()) {
        return refuse("ERR invalid cursor");
    }
    let (mut pattern, mut kind) = (&b"*"[..], None);
    let mut index = 2;
    while index < command.len() {
        if index + 1 == command.len() {
            return refuse(SYNTAX);
        } else if is(command, index, "MATCH") {
            pattern = word(command, index + 1);
        } else if is(command, index, "TYPE") {
            kind = Some(word(command, index + 1));
        } else if is(command, index, "COUNT") {
            if integer(command, index + 1)? < 1 {
                return refuse(SYNTAX);
            }
        } else {
            return refuse(SYNTAX);
        }
        index += 2;
    }
    let mut found = core.fitting(pattern);
    found.retain(|key| {
        let is_kind =
            |data: &Data| kind.is_none_or(|kind| kind.eq_ignore_ascii_case(data.kind().as_bytes()));
        core.keys.get(key).is_some_and(|entry| is_kind(&entry.data))
    });
    let found = Value::array(found.into_iter().map(Value::Bulk));
    Ok(Value::array([Value::bulk("0"), found]))
}

/// Any key, each as likely as another. One that is found to have expired is deleted, and another one is taken.
fn randomkey(core: &mut Core, _: &Command) -> Reply {
    while core.keys.len() > 0 {
        let index = core.random.below(core.keys.len());
        let Some(key) = core.keys.name_at(index) else {
            break;
        };
        if core.lookup_key(&key) {
            return Ok(Value::Bulk(key));
        }
        if core.keys.get(&key).is_some() {
            return random_beside_hidden(core, key);
        }
    }
    Ok(Value::Nil)
}

/// Any key that has not expired, where those that have cannot be deleted. A real server draws until it finds one.
/// If there is none, a replica answers with the last of a hundred that it has drawn; a primary whose clients are
/// paused would draw for ever.
fn random_beside_hidden(core: &mut Core, drawn: Bytes) -> Reply {
    let live = core.fitting(b"*");
    if !live.is_empty() {
        let index = core.random.below(live.len());
        return Ok(live.into_iter().nth(index).map_or(Value::Nil, Value::Bulk));
    }
    if core.is_replica {
        return Ok(Value::Bulk(drawn));
    }
    refuse("ERR not modelled: RANDOMKEY of expired keys while clients are paused")
}

fn rename(core: &mut Core, command: &Command) -> Reply {
    move_key(core, command, false).map(|_| Value::OK)
}

fn renamenx(core: &mut Core, command: &Command) -> Reply {
    let moved = move_key(core, command, true)?;
    Ok(Value::Integer(i64::from(moved)))
}

fn move_key(core: &mut Core, command: &Command, if_missing: bool) -> Result<bool, ErrorReply> {
    let (from, to) = (word(command, 1), word(command, 2));
    if !core.lookup_key(from) {
        return no_such_key();
    }
    if from == to {
        return Ok(!if_missing);
    }
    if core.lookup_key(to) && if_missing {
        return Ok(false);
    }
    if let Some(entry) = core.keys.remove(from) {
        if let Some(before) = core.keys.remove(to) {
            core.note_replaced(to, &before);
        }
        core.put(to, entry.data, entry.expires);
        core.changed(from, Class::Generic, "rename_from");
        core.notify(Class::Generic, "rename_to", to);
    }
    Ok(true)
}

fn object(core: &mut Core, command: &Command) -> Reply {
    if is(command, 1, "ENCODING") && command.len() == 3 {
        return Ok(match core.entry(word(command, 2)) {
            None => Value::Nil,
            Some(entry) => Value::bulk(encoding(&entry.data)),
        });
    }
    let what = String::from_utf8_lossy(word(command, 1)).to_ascii_uppercase();
    refuse(format!("ERR not modelled: OBJECT {what}"))
}

/// The longest string that is stored with its header.
const EMBEDDED_MAX: usize = 44;

fn encoding(data: &Data) -> &'static str {
    match data {
        Data::Text(text) if numbers::integer(text).is_some() => "int",
        Data::Text(text) if text.len() <= EMBEDDED_MAX => "embstr",
        Data::Text(_) => "raw",
        Data::Hash(_) | Data::Sorted(_) => "listpack",
        Data::List(_) => "quicklist",
        Data::Set(set)
            if set
                .0
                .iter()
                .all(|member| numbers::integer(member).is_some()) =>
        {
            "intset"
        }
        Data::Set(_) => "hashtable",
    }
}
