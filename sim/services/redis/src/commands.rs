//! The commands: what each is called, how many words it takes, and what it does.

mod blocking;
mod cluster;
mod connections;
mod counters;
mod databases;
mod expiry;
mod flags;
mod hashes;
mod keys;
mod lists;
mod options;
mod pubsub;
mod replicating;
mod scripting;
mod server;
mod sets;
mod strings;
mod transactions;
mod unsupported;
mod zset;
mod zset_ranges;

pub(crate) use blocking::BlockingPop;
pub(crate) use cluster::check_part as check_cluster_part;
pub(crate) use connections::ping_value;

use std::sync::LazyLock;

use indexmap::IndexMap;
use picklock_clients::redis::{Command, ErrorReply, Value, short_name};
use rustc_hash::FxBuildHasher;

use crate::db::Core;
use crate::errors::Reply;
use crate::{ConnectionId, Server};

/// A command.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its name in small letters.
    pub(crate) name: &'static str,
    /// How many words it takes, its name included; at least so many, if negative.
    pub(crate) arity: i32,
    pub(crate) traits: Traits,
    pub(crate) run: Run,
}

/// What is to be known of a command before it is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Traits(u8);

impl Traits {
    pub(crate) const NONE: Self = Self(0);
    /// It changes keys.
    pub(crate) const WRITE: Self = Self(1);
    /// Scripts cannot call it.
    pub(crate) const NO_SCRIPT: Self = Self(2);
    /// It may have effects elsewhere, though it changes no key by itself: it waits while writers are paused.
    pub(crate) const MAY_REPLICATE: Self = Self(4);
    /// It is answered also while a connection that speaks RESP2 listens to channels.
    pub(crate) const WHILE_LISTENING: Self = Self(8);

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// How a command is run.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    /// By what it finds in the keys.
    Keys(fn(&mut Core, &Command) -> Reply),
    /// By what is known of the connection.
    Connection(fn(&mut Server, ConnectionId, &Command) -> Result<Outcome, ErrorReply>),
    /// It is not modelled.
    Not,
}

impl std::fmt::Debug for Run {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Keys(_) => "Keys",
            Self::Connection(_) => "Connection",
            Self::Not => "Not",
        })
    }
}

/// What comes of a command at once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// An answer.
    Answer(Value),
    /// No answer, or one that was given already.
    Silent,
    /// It will be answered later.
    Blocked,
}

/// A command on keys that reads.
const fn read(name: &'static str, arity: i32, run: fn(&mut Core, &Command) -> Reply) -> Row {
    Row {
        name,
        arity,
        traits: Traits::NONE,
        run: Run::Keys(run),
    }
}

/// A command on keys that writes.
const fn write(name: &'static str, arity: i32, run: fn(&mut Core, &Command) -> Reply) -> Row {
    Row {
        name,
        arity,
        traits: Traits::WRITE,
        run: Run::Keys(run),
    }
}

/// A command about the connection, which scripts cannot call.
const fn about(
    name: &'static str,
    arity: i32,
    run: fn(&mut Server, ConnectionId, &Command) -> Result<Outcome, ErrorReply>,
) -> Row {
    Row {
        name,
        arity,
        traits: Traits::NO_SCRIPT,
        run: Run::Connection(run),
    }
}

const LISTS: &[&[Row]] = &[
    blocking::ROWS,
    cluster::ROWS,
    connections::ROWS,
    counters::ROWS,
    databases::ROWS,
    expiry::ROWS,
    hashes::ROWS,
    keys::ROWS,
    lists::ROWS,
    pubsub::ROWS,
    replicating::ROWS,
    scripting::ROWS,
    server::ROWS,
    sets::ROWS,
    zset::ROWS,
    zset_ranges::ROWS,
    strings::ROWS,
    transactions::ROWS,
    unsupported::ROWS,
];

type Table<K> = IndexMap<K, &'static Row, FxBuildHasher>;

fn rows() -> impl Iterator<Item = &'static Row> {
    LISTS.iter().flat_map(|list| list.iter())
}

static TABLE: LazyLock<Table<&'static [u8]>> =
    LazyLock::new(|| rows().map(|row| (row.name.as_bytes(), row)).collect());

/// The commands with short names, by those: locks use hardly any others, and they are found twice as fast.
static SHORT: LazyLock<Table<u64>> = LazyLock::new(|| {
    let short = rows().filter_map(|row| Some((short_name(row.name.as_bytes())?, row)));
    short.collect()
});

/// The longest name of a command.
const NAME_MAX: usize = 32;

/// The command of this name, in whatever letters.
pub(crate) fn find(name: &[u8]) -> Option<&'static Row> {
    if let Some(word) = short_name(name) {
        return SHORT.get(&word).copied();
    }
    let mut small = [0; NAME_MAX];
    let small = small.get_mut(..name.len())?;
    small.copy_from_slice(name);
    small.make_ascii_lowercase();
    TABLE.get(&*small).copied()
}

impl Row {
    /// Whether it takes so many words.
    pub(crate) fn takes(&self, words: usize) -> bool {
        let words = i32::try_from(words).unwrap_or(i32::MAX);
        if self.arity < 0 {
            words >= -self.arity
        } else {
            words == self.arity
        }
    }
}

/// The name of a command with that of the part of it that is meant, if it has parts.
pub(crate) fn full_name(row: &Row, command: &Command) -> String {
    let name = row.name;
    match command.word(1) {
        Some(part) if ["client", "cluster", "script", "pubsub", "object"].contains(&name) => {
            format!(
                "{name}|{}",
                String::from_utf8_lossy(part).to_ascii_lowercase()
            )
        }
        _ => name.to_owned(),
    }
}

/// The error for too few or too many words.
pub(crate) fn wrong_number(name: &str) -> ErrorReply {
    ErrorReply::new(format!(
        "ERR wrong number of arguments for '{name}' command"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_taken_twice_and_all_are_found_in_any_letters() {
        let rows: Vec<&Row> = rows().collect();
        assert_eq!(rows.len(), TABLE.len());
        for row in rows {
            assert_eq!(row.name, row.name.to_ascii_lowercase());
            let found = find(row.name.to_ascii_uppercase().as_bytes());
            assert_eq!(found.map(|found| found.name), Some(row.name));
        }
        assert!(find(&[b'a'; 100]).is_none());
        assert!(find(b"\0get").is_none());
    }
}
