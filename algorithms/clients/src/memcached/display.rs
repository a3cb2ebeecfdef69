//! Commands and answers as a trace shows them, and as the text protocol has them.

use std::fmt;
use std::time::Duration;

use super::{ClientMessage, Command, Reply, ServerMessage, Verb};

impl fmt::Display for ClientMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.command.fmt(out)
    }
}

impl fmt::Display for ServerMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reply.fmt(out)
    }
}

/// ` PX time`, if there is a time.
struct Px(Option<Duration>);

impl fmt::Display for Px {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(time) => write!(out, " PX {}", time.as_millis()),
            None => Ok(()),
        }
    }
}

/// A command of memcached is what stands on the wire, with the data block behind a space and the flags 0.
impl fmt::Display for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Storage {
                verb,
                key,
                value,
                exptime,
            } => {
                let (name, cas) = match verb {
                    Verb::Set => ("set", None),
                    Verb::Add => ("add", None),
                    Verb::Replace => ("replace", None),
                    Verb::Cas(cas) => ("cas", Some(cas)),
                };
                write!(out, "{name} {key} 0 {exptime} {}", value.len())?;
                if let Some(cas) = cas {
                    write!(out, " {cas}")?;
                }
                write!(out, "\r\n{value}")
            }
            Self::Get { key, with_cas } => match with_cas {
                true => write!(out, "gets {key}"),
                false => write!(out, "get {key}"),
            },
            Self::Gat(key, exptime) => write!(out, "gat {exptime} {key}"),
            Self::Delete(key) => write!(out, "delete {key}"),
            Self::Incr(key, by) => write!(out, "incr {key} {by}"),
            Self::Decr(key, by) => write!(out, "decr {key} {by}"),
            Self::Touch(key, exptime) => write!(out, "touch {key} {exptime}"),
            Self::FlushAll(0) => write!(out, "flush_all"),
            Self::FlushAll(delay) => write!(out, "flush_all {delay}"),
            Self::Put {
                key,
                value,
                version,
                expire,
            } => write!(out, "put {key} {value} version {version} expire {expire}"),
            Self::SetNx(key, value, time) => {
                write!(out, "SET {key} {value} NX PX {}", time.as_millis())
            }
            Self::CompareAndSet {
                key,
                old,
                new,
                time,
            } => write!(out, "CAS {key} {old} {new}{}", Px(*time)),
            Self::CompareAndDelete(key, value) => write!(out, "CAD {key} {value}"),
            Self::ExSet {
                key,
                value,
                time,
                if_missing,
                version,
            } => {
                write!(out, "EXSET {key} {value}{}", Px(*time))?;
                if *if_missing {
                    write!(out, " NX")?;
                }
                match version {
                    Some(version) => write!(out, " VER {version}"),
                    None => Ok(()),
                }
            }
            Self::ExGet(key) => write!(out, "EXGET {key}"),
            Self::ExCas(key, value, version) => write!(out, "EXCAS {key} {value} {version}"),
            Self::ExCad(key, version) => write!(out, "EXCAD {key} {version}"),
        }
    }
}

/// An answer of memcached in the words of its protocol; of a value no more than the value and its number.
impl fmt::Display for Reply {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stored => write!(out, "STORED"),
            Self::NotStored => write!(out, "NOT_STORED"),
            Self::Exists => write!(out, "EXISTS"),
            Self::NotFound => write!(out, "NOT_FOUND"),
            Self::Deleted => write!(out, "DELETED"),
            Self::Touched => write!(out, "TOUCHED"),
            Self::Ok => write!(out, "OK"),
            Self::Number(number) => write!(out, "{number}"),
            Self::Value(None) => write!(out, "END"),
            Self::Value(Some(found)) if found.cas == 0 => write!(out, "VALUE {}", found.value),
            Self::Value(Some(found)) => write!(out, "VALUE {}, {}", found.value, found.cas),
            Self::ClientError(text) => write!(out, "CLIENT_ERROR {text}"),
            Self::Error => write!(out, "ERROR"),
        }
    }
}
