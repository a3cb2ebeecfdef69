//! What two servers cannot agree on, taken out of their answers: zxids are counted from the first that was seen,
//! sessions are numbered as they came, and of times it is only asked that each transaction has one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use picklock_clients::zookeeper::{
    Acl, Children, Data, EventType, Identity, OpResult, Permit, ReadResult, Reply, Response,
    SessionId, Stat, ZkError, Zxid,
};
use picklock_zookeeper::messages::ServerMessage;

/// What the numbers of one backend stand for.
#[derive(Clone, Debug, Default)]
pub struct Normalizer {
    /// Zxids are not shown.
    hidden: bool,
    base: Option<Zxid>,
    /// Epochs, as they were seen.
    epochs: Vec<u32>,
    sessions: Vec<SessionId>,
    times: BTreeMap<Zxid, i64>,
}

impl Normalizer {
    /// From here on zxids are counted from the next that is seen.
    pub fn rebase(&mut self) {
        self.base = None;
    }

    /// From here on zxids are not shown: where sessions may or may not be transactions they say nothing.
    pub fn hide_zxids(&mut self) {
        self.hidden = true;
    }

    fn zxid(&mut self, zxid: Zxid) -> String {
        if self.hidden {
            return "hidden".to_owned();
        }
        if zxid == Zxid(0) {
            return "0".to_owned();
        }
        let base = *self.base.get_or_insert(zxid);
        if zxid < base {
            // Of the root, and of a round that may have been set aside.
            return "earlier".to_owned();
        }
        if zxid.epoch() == base.epoch() {
            return format!(
                "{:+}",
                i64::from(zxid.counter()) - i64::from(base.counter())
            );
        }
        let epoch = zxid.epoch();
        let place = match self.epochs.iter().position(|known| *known == epoch) {
            Some(place) => place,
            None => {
                self.epochs.push(epoch);
                self.epochs.len() - 1
            }
        };
        format!("epoch-{}:{}", place + 1, zxid.counter())
    }

    fn session(&mut self, session: SessionId) -> String {
        if session == SessionId(0) {
            return "none".to_owned();
        }
        let known = self.sessions.iter().position(|known| *known == session);
        let place = known.unwrap_or_else(|| {
            self.sessions.push(session);
            self.sessions.len() - 1
        });
        format!("session-{}", place + 1)
    }

    /// The time of a transaction: empty if it is the one that it had before.
    fn time(&mut self, zxid: Zxid, time: i64) -> &'static str {
        if *self.times.entry(zxid).or_insert(time) == time {
            ""
        } else {
            " at another time"
        }
    }

    fn stat(&mut self, stat: &Stat) -> String {
        let ctime = self.time(stat.czxid, stat.ctime);
        let mtime = self.time(stat.mzxid, stat.mtime);
        format!(
            "czxid {}{ctime}, mzxid {}{mtime}, pzxid {}, version {}, cversion {}, aversion {}, owner {}, {} bytes, \
             {} children",
            self.zxid(stat.czxid),
            self.zxid(stat.mzxid),
            self.zxid(stat.pzxid),
            stat.version,
            stat.cversion,
            stat.aversion,
            self.session(stat.ephemeral_owner),
            stat.data_length,
            stat.num_children
        )
    }

    /// A message in words.
    pub fn message(&mut self, message: &ServerMessage) -> String {
        match message {
            ServerMessage::Connected {
                session,
                timeout,
                read_only,
                ..
            } => {
                let session = self.session(*session);
                let read_only = if *read_only { ", read-only" } else { "" };
                let millis = timeout / 1_000;
                format!("connected: {session}, timeout {millis} ms{read_only}")
            }
            ServerMessage::Expired => "expired".to_owned(),
            ServerMessage::Pong => "pong".to_owned(),
            ServerMessage::Authenticated => "authenticated".to_owned(),
            ServerMessage::AuthFailed => "authentication failed".to_owned(),
            ServerMessage::WatchesSet { zxid } => {
                format!("watches set, zxid {}", self.zxid(*zxid))
            }
            ServerMessage::Notification { kind, path } => {
                format!("event {} {path}", event(*kind))
            }
            ServerMessage::Reply { zxid, reply, .. } => {
                let zxid = self.zxid(*zxid);
                format!("{}, zxid {zxid}", self.reply(reply))
            }
        }
    }

    fn reply(&mut self, reply: &Reply) -> String {
        let response = match reply {
            Ok(response) => response,
            Err(error) => return format!("{error} ({})", error.code()),
        };
        match response {
            Response::Created { path, stat } => match stat {
                Some(stat) => format!("created {path}, {}", self.stat(stat)),
                None => format!("created {path}"),
            },
            Response::Deleted => "deleted".to_owned(),
            Response::Exists(stat) => format!("exists, {}", self.stat(stat)),
            Response::Data { data, stat } => format!("{}, {}", bytes(data), self.stat(stat)),
            Response::Children(children) => names(children),
            Response::ChildrenWithStat { children, stat } => {
                format!("{}, {}", names(children), self.stat(stat))
            }
            Response::AllChildrenNumber(number) => format!("{number} nodes below"),
            Response::ClientInfo(known) => identities(known),
            Response::Set(stat) => format!("set, {}", self.stat(stat)),
            Response::Synced => "synced".to_owned(),
            Response::Multi(results) => {
                let mut text = "multi".to_owned();
                for result in results {
                    // Writing to a string cannot fail.
                    let _ = write!(text, "; {}", self.part(result));
                }
                text
            }
            Response::MultiFailed(failed) => {
                let code = |error: Option<ZkError>| error.map_or(0, ZkError::code).to_string();
                let codes: Vec<String> = failed.errors().map(code).collect();
                format!("multi failed: {}", codes.join(", "))
            }
            Response::MultiRead(results) => {
                let parts = results.iter().map(|result| match result {
                    Ok(ReadResult::Data { data, stat }) => {
                        format!("; {}, {}", bytes(data), self.stat(stat))
                    }
                    Ok(ReadResult::Children(children)) => format!("; {}", names(children)),
                    Err(error) => format!("; {error} ({})", error.code()),
                });
                format!("read{}", parts.collect::<String>())
            }
            Response::Acl { acl, stat } => format!("{}, {}", list(acl), self.stat(stat)),
            Response::Watching => "watches changed".to_owned(),
            Response::Ephemerals(paths) => {
                let mut paths: Vec<&str> = paths.iter().map(|path| &**path).collect();
                paths.sort_unstable();
                format!("ephemerals [{}]", paths.join(" "))
            }
            Response::Closed => "closed".to_owned(),
        }
    }

    fn part(&mut self, result: &OpResult) -> String {
        match result {
            OpResult::Created(path) => format!("created {path}"),
            OpResult::Deleted => "deleted".to_owned(),
            OpResult::Set(stat) => format!("set, {}", self.stat(stat)),
            OpResult::Checked => "checked".to_owned(),
        }
    }
}

/// A list of children, which is in no order.
fn names(children: &Children) -> String {
    let mut names: Vec<&str> = children.names().map(|name| &**name).collect();
    names.sort_unstable();
    format!("children [{}]", names.join(" "))
}

/// The identities of a client, which are in no order.
fn identities(known: &[Identity]) -> String {
    let known = known.iter();
    let mut names: Vec<String> = known
        .map(|who| format!("{}:{}", who.scheme, who.id))
        .collect();
    names.sort_unstable();
    format!("known as [{}]", names.join(" "))
}

/// A list of who may do what. Several identities of one client stand in it in any order.
fn list(acl: &Acl) -> String {
    let mut permits = acl.permits();
    permits.sort_unstable();
    let lines = permits
        .iter()
        .map(|Permit { permissions, who }| format!("{} {}:{}", permissions.0, who.scheme, who.id));
    format!("acl [{}]", lines.collect::<Vec<String>>().join(", "))
}

/// A kind of event, as ZooKeeper calls it.
fn event(kind: EventType) -> &'static str {
    match kind {
        EventType::Session(_) => "None",
        EventType::NodeCreated => "NodeCreated",
        EventType::NodeDeleted => "NodeDeleted",
        EventType::NodeDataChanged => "NodeDataChanged",
        EventType::NodeChildrenChanged => "NodeChildrenChanged",
        EventType::DataWatchRemoved => "DataWatchRemoved",
        EventType::ChildWatchRemoved => "ChildWatchRemoved",
        EventType::PersistentWatchRemoved => "PersistentWatchRemoved",
    }
}

/// Data: as text if it is short, or else its length and a sum; `null` is not the same as none.
fn bytes(data: &Data) -> String {
    if data.is_null() {
        return "data null".to_owned();
    }
    if data.len() <= 24 {
        return format!("data \"{}\"", data.escape_ascii());
    }
    let sum = data.iter().fold(0_u64, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u64::from(*byte))
    });
    format!("data of {} bytes ({sum:x})", data.len())
}
