//! memcached and Tair as their clients see them: commands, answers, and a handle. The commands of memcached are named
//! as its `doc/protocol.txt` names them, those of Tair as its client and the module TairString do.

mod display;

use std::rc::Rc;
use std::time::Duration;

use thiserror::Error;

use crate::RequestKind;
use crate::completion::{Completion, completion};

/// Which server it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Product {
    /// memcached 1.6.
    Memcached,
    /// Tair's cache engine (MDB): `put` with a version.
    TairMdb,
    /// The module TairString in a server of Redis's protocol: CAS, CAD, and EXSET.
    TairString,
}

impl Product {
    /// All, with their names in scenario files.
    pub const ALL: [(&'static str, Self); 3] = [
        ("memcached", Self::Memcached),
        ("tair-mdb", Self::TairMdb),
        ("tair-string", Self::TairString),
    ];
}

/// A storage command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Stores in any case.
    Set,
    /// Stores only if there is no such item.
    Add,
    /// Stores only if there is one.
    Replace,
    /// Stores only if no client has stored since this number was read by `gets`.
    Cas(u64),
}

/// A command with what it carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `set`, `add`, `replace`, or `cas`.
    Storage {
        /// Which.
        verb: Verb,
        /// The key.
        key: Rc<str>,
        /// The data block.
        value: Rc<str>,
        /// In seconds: 0 is never, less is at once, and more than 30 days is a Unix time.
        exptime: i64,
    },
    /// `get`, or `gets`, which answers the cas number too.
    Get {
        /// The key.
        key: Rc<str>,
        /// Whether it is `gets`.
        with_cas: bool,
    },
    /// `gat`: a `get` that sets when the item expires.
    Gat(Rc<str>, i64),
    /// `delete`, whichever client has stored the item.
    Delete(Rc<str>),
    /// `incr`: adds to a decimal number, which wraps at 2^64.
    Incr(Rc<str>, u64),
    /// `decr`: takes from it, down to zero.
    Decr(Rc<str>, u64),
    /// `touch`: sets when the item expires, and reads nothing.
    Touch(Rc<str>, i64),
    /// `flush_all`, after so many seconds.
    FlushAll(i64),
    /// `put` of Tair (MDB): stores if the version is 0, or that of the item, or there is no item.
    Put {
        /// The key.
        key: Rc<str>,
        /// The value.
        value: Rc<str>,
        /// The version that the caller knows; 0: whatever it is.
        version: u64,
        /// In seconds; 0 is never.
        expire: i64,
    },
    /// `SET key value NX EX seconds`, of a plain string beside TairString's own values.
    SetNx(Rc<str>, Rc<str>, Duration),
    /// `CAS key old new [PX time]`: sets a plain string that is as it was, and without a time for ever.
    CompareAndSet {
        /// The key.
        key: Rc<str>,
        /// What it has to be.
        old: Rc<str>,
        /// What it becomes.
        new: Rc<str>,
        /// For how long; `None`: for ever, however long it was to live.
        time: Option<Duration>,
    },
    /// `CAD key value`: deletes a plain string that is as it was.
    CompareAndDelete(Rc<str>, Rc<str>),
    /// `EXSET key value [PX time] [NX] [VER version]`
    ExSet {
        /// The key.
        key: Rc<str>,
        /// The value.
        value: Rc<str>,
        /// For how long; `None`: for ever.
        time: Option<Duration>,
        /// Whether only a key that is missing is set.
        if_missing: bool,
        /// The version that it must have, if it is there.
        version: Option<u64>,
    },
    /// `EXGET key`: the value and its version.
    ExGet(Rc<str>),
    /// `EXCAS key value version`: sets a value of this version, for ever.
    ExCas(Rc<str>, Rc<str>, u64),
    /// `EXCAD key version`: deletes a value of this version.
    ExCad(Rc<str>, u64),
}

impl Command {
    /// The key that it is about, if it is about one.
    pub fn key(&self) -> Option<&Rc<str>> {
        match self {
            Self::Storage { key, .. }
            | Self::Get { key, .. }
            | Self::Gat(key, _)
            | Self::Delete(key)
            | Self::Incr(key, _)
            | Self::Decr(key, _)
            | Self::Touch(key, _)
            | Self::Put { key, .. }
            | Self::SetNx(key, ..)
            | Self::CompareAndSet { key, .. }
            | Self::CompareAndDelete(key, _)
            | Self::ExSet { key, .. }
            | Self::ExGet(key)
            | Self::ExCas(key, ..)
            | Self::ExCad(key, _) => Some(key),
            Self::FlushAll(_) => None,
        }
    }

    /// What a fault can wait for.
    pub fn kind(&self) -> RequestKind {
        match self {
            Self::Storage { verb, .. } => match verb {
                Verb::Add => RequestKind::Add,
                Verb::Cas(_) => RequestKind::Cas,
                Verb::Set | Verb::Replace => RequestKind::Storage,
            },
            Self::Get { .. } | Self::ExGet(_) => RequestKind::Retrieval,
            Self::Gat(..) | Self::Touch(..) => RequestKind::Touch,
            Self::Delete(_) | Self::CompareAndDelete(..) | Self::ExCad(..) => RequestKind::Deletion,
            Self::Incr(..) | Self::Decr(..) => RequestKind::IncrDecr,
            Self::FlushAll(_) => RequestKind::FlushAll,
            Self::Put { .. } => RequestKind::TairPut,
            Self::CompareAndSet { .. } | Self::ExCas(..) => RequestKind::Cas,
            Self::SetNx(..) | Self::ExSet { .. } => RequestKind::Storage,
        }
    }
}

/// An item that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its value.
    pub value: Rc<str>,
    /// Its cas number (memcached), or its version (Tair); 0 where it was not asked for.
    pub cas: u64,
}

/// What a server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// `STORED`; of Tair, that it was done.
    Stored,
    /// `NOT_STORED`: the condition of `add` or `replace` is not met; of TairString, that there was such a key already.
    NotStored,
    /// `EXISTS`: another client has stored since; of Tair, another value or another version.
    Exists,
    /// `NOT_FOUND`
    NotFound,
    /// `DELETED`
    Deleted,
    /// `TOUCHED`
    Touched,
    /// `OK`
    Ok,
    /// The number that `incr` or `decr` has made.
    Number(u64),
    /// `VALUE` and `END`, or only `END`.
    Value(Option<Found>),
    /// `CLIENT_ERROR`, with its text.
    ClientError(&'static str),
    /// `ERROR`: there is no such command.
    Error,
}

/// A command, by its number: a client counts what it sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientMessage {
    /// The number.
    pub number: u32,
    /// The command.
    pub command: Command,
}

/// The answer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerMessage {
    /// The number of the command.
    pub number: u32,
    /// The answer.
    pub reply: Reply,
}

/// Why a command has no answer.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum MemcachedError {
    /// There is no connection, so the command was not sent.
    #[error("no server took the connection")]
    NotConnected,
    /// The connection broke. The command may have been done.
    #[error("the connection was lost; the command may have been done")]
    ConnectionLoss,
    /// No answer came in time. The command may have been done, or may still be.
    #[error("no answer in time; the command may have been done")]
    TimedOut,
    /// The server says that the command is none.
    #[error("the server refused the command")]
    Refused,
}

/// What a call comes to.
pub type MemcachedResult<T> = Result<T, MemcachedError>;

/// What stands behind a handle.
pub trait Transport {
    /// Sends a command to the server of its key. The completion is filled when the answer is there, or will not come.
    fn submit(&self, command: Command, completion: Completion<MemcachedResult<Reply>>);
}

/// A client. It asks one thing at a time.
#[derive(Clone)]
pub struct Memcached(Rc<dyn Transport>);

impl Memcached {
    /// A client over a transport.
    pub fn new(transport: impl Transport + 'static) -> Self {
        Self(Rc::new(transport))
    }

    /// Sends a command, and waits for its answer.
    ///
    /// # Errors
    ///
    /// [`MemcachedError`], if there is none, or the server refuses it.
    pub async fn execute(&self, command: Command) -> MemcachedResult<Reply> {
        let (done, answer) = completion();
        self.0.submit(command, done);
        match answer.await? {
            Reply::ClientError(_) | Reply::Error => Err(MemcachedError::Refused),
            reply => Ok(reply),
        }
    }

    async fn store(
        &self,
        verb: Verb,
        key: &str,
        value: &str,
        exptime: i64,
    ) -> MemcachedResult<Reply> {
        self.execute(Command::Storage {
            verb,
            key: key.into(),
            value: value.into(),
            exptime,
        })
        .await
    }

    /// `add`: whether it was stored.
    ///
    /// # Errors
    ///
    /// As of [`execute`](Self::execute), here and below.
    pub async fn add(&self, key: &str, value: &str, exptime: i64) -> MemcachedResult<bool> {
        let reply = self.store(Verb::Add, key, value, exptime).await?;
        Ok(reply == Reply::Stored)
    }

    /// `set`
    ///
    /// # Errors
    ///
    /// As above.
    pub async fn set(&self, key: &str, value: &str, exptime: i64) -> MemcachedResult<()> {
        self.store(Verb::Set, key, value, exptime).await?;
        Ok(())
    }

    /// `cas`: whether it was stored.
    ///
    /// # Errors
    ///
    /// As above.
    pub async fn cas(
        &self,
        key: &str,
        value: &str,
        exptime: i64,
        cas: u64,
    ) -> MemcachedResult<bool> {
        let reply = self.store(Verb::Cas(cas), key, value, exptime).await?;
        Ok(reply == Reply::Stored)
    }

    /// `get`: the value, if there is one.
    ///
    /// # Errors
    ///
    /// As above.
    pub async fn get(&self, key: &str) -> MemcachedResult<Option<Rc<str>>> {
        let command = Command::Get {
            key: key.into(),
            with_cas: false,
        };
        Ok(found(self.execute(command).await?).map(|found| found.value))
    }

    /// `gets`: the value and its cas number.
    ///
    /// # Errors
    ///
    /// As above.
    pub async fn gets(&self, key: &str) -> MemcachedResult<Option<Found>> {
        let command = Command::Get {
            key: key.into(),
            with_cas: true,
        };
        Ok(found(self.execute(command).await?))
    }

    /// `delete`: whether there was such an item.
    ///
    /// # Errors
    ///
    /// As above.
    pub async fn delete(&self, key: &str) -> MemcachedResult<bool> {
        Ok(self.execute(Command::Delete(key.into())).await? == Reply::Deleted)
    }

    /// `incr`: the number that it has become, if there was one.
    ///
    /// # Errors
    ///
    /// As above.
    pub async fn incr(&self, key: &str, by: u64) -> MemcachedResult<Option<u64>> {
        let reply = self.execute(Command::Incr(key.into(), by)).await?;
        Ok(number(reply))
    }

    /// `decr`: the number that it has become, if there was one.
    ///
    /// # Errors
    ///
    /// As above.
    pub async fn decr(&self, key: &str, by: u64) -> MemcachedResult<Option<u64>> {
        let reply = self.execute(Command::Decr(key.into(), by)).await?;
        Ok(number(reply))
    }
}

fn found(reply: Reply) -> Option<Found> {
    match reply {
        Reply::Value(found) => found,
        _ => None,
    }
}

fn number(reply: Reply) -> Option<u64> {
    match reply {
        Reply::Number(number) => Some(number),
        _ => None,
    }
}
