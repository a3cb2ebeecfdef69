//! What a command is: a row of the table of commands. The table itself is put together in `commands.rs`, above the
//! files whose rows it lists, so that these can name what a row is without knowing each other.

use picklock_clients::redis::{Command, ErrorReply, Value};

use crate::db::Core;
use crate::errors::Reply;
use crate::version::{Release, ServerVersion, Since};
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
    /// Since when servers have it; `None` if Redis 7.0.15 has.
    pub(crate) since: Option<Since>,
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
pub(crate) const fn read(
    name: &'static str,
    arity: i32,
    run: fn(&mut Core, &Command) -> Reply,
) -> Row {
    Row {
        name,
        arity,
        traits: Traits::NONE,
        run: Run::Keys(run),
        since: None,
    }
}

/// A command on keys that writes.
pub(crate) const fn write(
    name: &'static str,
    arity: i32,
    run: fn(&mut Core, &Command) -> Reply,
) -> Row {
    Row {
        name,
        arity,
        traits: Traits::WRITE,
        run: Run::Keys(run),
        since: None,
    }
}

/// A command about the connection, which scripts cannot call.
pub(crate) const fn about(
    name: &'static str,
    arity: i32,
    run: fn(&mut Server, ConnectionId, &Command) -> Result<Outcome, ErrorReply>,
) -> Row {
    Row {
        name,
        arity,
        traits: Traits::NO_SCRIPT,
        run: Run::Connection(run),
        since: None,
    }
}

impl Row {
    /// The same command, which servers have since these versions of Redis and of Valkey.
    pub(crate) const fn since(mut self, redis: Option<Release>, valkey: Option<Release>) -> Self {
        self.since = Some(Since { redis, valkey });
        self
    }

    /// Whether a server of this version has it.
    pub(crate) fn is_of(&self, version: ServerVersion) -> bool {
        self.since.is_none_or(|since| version.has(since))
    }

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
        Some(part)
            if [
                "client", "cluster", "function", "script", "pubsub", "object",
            ]
            .contains(&name) =>
        {
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
