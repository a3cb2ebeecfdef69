//! Messages between clients and servers in words, as traces show them.

use std::fmt;

use picklock_clients::zookeeper::{Reply, Response};

use crate::messages::{ClientMessage, ServerMessage, WatchTables};

impl fmt::Display for ClientMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect { session, .. } if session.0 == 0 => write!(out, "connect, new session"),
            Self::Connect { session, .. } => write!(out, "connect, session {session}"),
            Self::Request { xid, request } => write!(out, "#{} {request}", xid.0),
            Self::Authenticate { scheme, .. } => write!(out, "authenticate by {scheme}"),
            Self::Ping => write!(out, "ping"),
            Self::SetWatches(watches) => set_watches(out, watches),
            Self::Close { xid } => write!(out, "#{} close-session", xid.0),
        }
    }
}

impl fmt::Display for ServerMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connected { session, .. } => write!(out, "connected, session {session}"),
            Self::Expired => write!(out, "session expired"),
            Self::Reply { xid, reply, .. } => write!(out, "#{} {}", xid.0, ReplyText(reply)),
            Self::Authenticated => write!(out, "authenticated"),
            Self::AuthFailed => write!(out, "authentication failed"),
            Self::Pong => write!(out, "pong"),
            Self::Notification { kind, path } => write!(out, "event {kind:?} {path}"),
            Self::WatchesSet { .. } => write!(out, "watches set"),
        }
    }
}

/// `set-watches since 0x100000004: data [/locks/a/x-0000000001]`
fn set_watches(out: &mut fmt::Formatter<'_>, watches: &WatchTables) -> fmt::Result {
    write!(out, "set-watches since {}:", watches.relative_zxid)?;
    let tables = [
        ("data", &watches.data),
        ("exist", &watches.exist),
        ("child", &watches.child),
        ("persistent", &watches.persistent),
        ("recursive", &watches.recursive),
    ];
    let mut set = tables.iter().filter(|(_, paths)| !paths.is_empty());
    set.try_for_each(|(name, paths)| write!(out, " {name} [{}]", paths.join(" ")))
}

struct ReplyText<'a>(&'a Reply);

impl fmt::Display for ReplyText<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let response = match self.0 {
            Ok(response) => response,
            Err(error) => return write!(out, "{error:?}"),
        };
        match response {
            Response::Created { path, .. } => write!(out, "created {path}"),
            Response::Deleted => write!(out, "deleted"),
            Response::Exists(stat) => write!(out, "exists, version {}", stat.version),
            Response::Data { data, stat } => match data.bytes() {
                Some(bytes) => write!(out, "{} bytes, version {}", bytes.len(), stat.version),
                None => write!(out, "null, version {}", stat.version),
            },
            Response::Children(children) | Response::ChildrenWithStat { children, .. } => {
                let names: Vec<&str> = children.names().map(|name| &**name).collect();
                write!(out, "children [{}]", names.join(" "))
            }
            Response::Set(stat) => write!(out, "set, version {}", stat.version),
            Response::Synced => write!(out, "synced"),
            Response::Multi(_) => write!(out, "all done"),
            Response::MultiFailed(failed) => write!(out, "nothing done: {:?}", failed.error),
            Response::MultiRead(_) => write!(out, "read"),
            Response::Watching => write!(out, "watching"),
            Response::Ephemerals(paths) => write!(out, "ephemerals [{}]", paths.join(" ")),
            Response::AllChildrenNumber(number) => write!(out, "{number} nodes"),
            Response::ClientInfo(known) => {
                let known = known.iter();
                let names: Vec<String> = known
                    .map(|who| format!("{}:{}", who.scheme, who.id))
                    .collect();
                write!(out, "known as [{}]", names.join(" "))
            }
            Response::Acl { .. } => write!(out, "acl"),
            Response::Closed => write!(out, "closed"),
        }
    }
}
