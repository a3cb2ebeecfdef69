//! Calls and answers as traces show them: the path of the HTTP API.

use std::fmt::{Display, Formatter, Result};

use super::{
    ClientMessage, Consistency, KvPair, PutIf, QueryOptions, Request, Response, ServerMessage,
    SessionId,
};

impl Display for SessionId {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "{:08x}", self.0)
    }
}

impl Display for QueryOptions {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        if self.wait_index > 0 {
            write!(out, " index={}", self.wait_index)?;
        }
        if let Some(wait) = self.wait_time {
            write!(out, " wait={}s", wait.as_secs())?;
        }
        match self.consistency {
            Consistency::Default => Ok(()),
            Consistency::Consistent => out.write_str(" consistent"),
            Consistency::Stale => out.write_str(" stale"),
        }
    }
}

impl Display for Request {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Self::SessionCreate(entry) => {
                write!(
                    out,
                    "session create, TTL {} s, lock-delay {} s",
                    entry.ttl.as_secs(),
                    entry.lock_delay.as_secs()
                )
            }
            Self::SessionRenew(session) => write!(out, "session renew {session}"),
            Self::SessionDestroy(session) => write!(out, "session destroy {session}"),
            Self::Get(key, options) => write!(out, "kv get {key}{options}"),
            Self::List(prefix, options) => write!(out, "kv get {prefix} recurse{options}"),
            Self::Put(condition, pair) => {
                let KvPair { key, value, .. } = pair;
                write!(out, "kv put {key} '{value}'")?;
                match (condition, pair.session) {
                    (PutIf::Always, _) => Ok(()),
                    (PutIf::Cas, _) => write!(out, " cas={}", pair.modify_index),
                    (PutIf::Acquire, Some(session)) => write!(out, " acquire={session}"),
                    (PutIf::Release, Some(session)) => write!(out, " release={session}"),
                    (PutIf::Acquire | PutIf::Release, None) => out.write_str(" without a session"),
                }
            }
            Self::Delete(key, None) => write!(out, "kv delete {key}"),
            Self::Delete(key, Some(index)) => write!(out, "kv delete {key} cas={index}"),
        }
    }
}

impl Display for KvPair {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(
            out,
            "{} '{}' at {}",
            self.key, self.value, self.modify_index
        )?;
        match self.session {
            Some(session) => write!(out, " held by {session}, lock index {}", self.lock_index),
            None => Ok(()),
        }
    }
}

impl Display for Response {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Self::Created(session) => write!(out, "session {session}"),
            Self::Renewed(Some(ttl)) => write!(out, "renewed, TTL {} s", ttl.as_secs()),
            Self::Renewed(None) => out.write_str("404: there is no such session"),
            Self::Done(done) => write!(out, "{done}"),
            Self::Pairs(pairs, index) => {
                write!(out, "index {index}")?;
                pairs.iter().try_for_each(|pair| write!(out, ", {pair}"))
            }
        }
    }
}

impl Display for ClientMessage {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        self.request.fmt(out)
    }
}

impl Display for ServerMessage {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match &self.result {
            Ok(response) => response.fmt(out),
            Err(error) => write!(out, "500: {error}"),
        }
    }
}
