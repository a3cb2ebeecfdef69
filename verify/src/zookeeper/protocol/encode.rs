//! What a client sends.

use picklock_clients::zookeeper::{
    Acl, CreateMode, Data, Op, Permit, ReadOp, Request, Version, WatchSide,
};
use picklock_zookeeper::messages::{ClientMessage, WatchTables, Xid};

use super::{op, xid};
use crate::zookeeper::jute::Writer;

/// The first message on a connection.
pub fn connect_request(
    session: u64,
    password: &[u8],
    timeout: u64,
    last_zxid: u64,
    read_only: bool,
) -> Vec<u8> {
    let mut out = Writer::new();
    out.int(0)
        .long(last_zxid.cast_signed())
        .int(i32::try_from(timeout / 1_000).unwrap_or(i32::MAX))
        .long(session.cast_signed())
        .buffer(password)
        .bool(read_only);
    out.finish()
}

/// Any other message. The first is not among them: it needs the whole password.
pub fn message(message: &ClientMessage) -> Vec<u8> {
    let mut out = Writer::new();
    match message {
        ClientMessage::Connect { .. } => {}
        ClientMessage::Ping => {
            out.int(xid::PING).int(op::PING);
        }
        ClientMessage::Authenticate { scheme, secret } => {
            out.int(xid::AUTH).int(op::AUTH);
            out.int(0).text(scheme).buffer(secret);
        }
        ClientMessage::Close { xid: Xid(xid) } => {
            out.int(xid.cast_signed()).int(op::CLOSE_SESSION);
        }
        ClientMessage::SetWatches(tables) => set_watches(&mut out, tables),
        ClientMessage::Request {
            xid: Xid(xid),
            request: asked,
        } => {
            out.int(xid.cast_signed());
            request(&mut out, asked);
        }
    }
    out.finish()
}

fn set_watches(out: &mut Writer, tables: &WatchTables) {
    let lists = [
        &tables.data,
        &tables.exist,
        &tables.child,
        &tables.persistent,
        &tables.recursive,
    ];
    // As the Java client does it: the older request is enough for watches that fire once.
    let once = lists[3..].iter().all(|list| list.is_empty());
    let (op, lists) = if once {
        (op::SET_WATCHES, &lists[..3])
    } else {
        (op::SET_WATCHES2, &lists[..])
    };
    out.int(xid::SET_WATCHES).int(op);
    out.long(tables.relative_zxid.0.cast_signed());
    for list in lists {
        out.texts(list.iter().map(|path| &**path));
    }
}

fn request(out: &mut Writer, request: &Request) {
    match request {
        Request::Create(node) => {
            let plain = if node.with_stat() {
                op::CREATE2
            } else {
                op::CREATE
            };
            out.int(special(node.mode()).unwrap_or(plain));
            create(out, node.path(), &node.data(), node.mode(), &node.acl());
        }
        Request::Delete { path, version } => {
            out.int(op::DELETE).text(path).int(any(*version));
        }
        Request::Exists { path, watch } => {
            out.int(op::EXISTS).text(path).bool(*watch);
        }
        Request::GetData { path, watch } => {
            out.int(op::GET_DATA).text(path).bool(*watch);
        }
        Request::GetChildren {
            path,
            watch,
            with_stat,
        } => {
            let op = if *with_stat {
                op::GET_CHILDREN2
            } else {
                op::GET_CHILDREN
            };
            out.int(op).text(path).bool(*watch);
        }
        Request::GetAllChildrenNumber { path } => {
            out.int(op::GET_ALL_CHILDREN_NUMBER).text(path);
        }
        Request::WhoAmI => {
            out.int(op::WHO_AM_I);
        }
        Request::Reconfig(asked) => {
            out.int(op::RECONFIG);
            for list in [&asked.joining, &asked.leaving, &asked.members] {
                out.nullable(list.as_deref().map(str::as_bytes));
            }
            out.long(asked.from_config.map_or(-1, |zxid| zxid.0.cast_signed()));
        }
        Request::SetData {
            path,
            data,
            version,
        } => {
            out.int(op::SET_DATA).text(path).nullable(data.bytes());
            out.int(any(*version));
        }
        Request::Sync { path } => {
            out.int(op::SYNC).text(path);
        }
        Request::Multi(ops) => {
            out.int(op::MULTI);
            ops.iter().for_each(|op| part(out, op));
            part_header(out, -1, true);
        }
        Request::AddWatch { path, recursive } => {
            out.int(op::ADD_WATCH).text(path).int(i32::from(*recursive));
        }
        Request::RemoveWatches { path, side, .. } => {
            out.int(op::REMOVE_WATCHES).text(path).int(number(*side));
        }
        Request::CheckWatches { path, side, .. } => {
            out.int(op::CHECK_WATCHES).text(path).int(number(*side));
        }
        Request::MultiRead(ops) => {
            out.int(op::MULTI_READ);
            ops.iter().for_each(|op| read_part(out, op));
            part_header(out, -1, true);
        }
        Request::GetAcl { path } => {
            out.int(op::GET_ACL).text(path);
        }
        Request::SetAcl { path, acl, version } => {
            out.int(op::SET_ACL).text(path);
            list(out, acl);
            out.int(any(*version));
        }
        Request::GetEphemerals { prefix } => {
            out.int(op::GET_EPHEMERALS).text(prefix);
        }
    }
}

fn number(side: WatchSide) -> i32 {
    match side {
        WatchSide::Children => 1,
        WatchSide::Data => 2,
        WatchSide::Any => 3,
    }
}

fn part_header(out: &mut Writer, kind: i32, done: bool) {
    out.int(kind).bool(done).int(-1);
}

fn read_part(out: &mut Writer, op: &ReadOp) {
    let kind = match op {
        ReadOp::Data(_) => op::GET_DATA,
        ReadOp::Children(_) => op::GET_CHILDREN,
    };
    part_header(out, kind, false);
    out.text(op.path()).bool(false);
}

fn part(out: &mut Writer, part: &Op) {
    match part {
        Op::Create {
            path,
            data,
            mode,
            acl,
        } => {
            part_header(out, special(*mode).unwrap_or(op::CREATE), false);
            create(out, path, data, *mode, acl);
        }
        Op::Delete { path, version } => {
            part_header(out, op::DELETE, false);
            out.text(path).int(any(*version));
        }
        Op::SetData {
            path,
            data,
            version,
        } => {
            part_header(out, op::SET_DATA, false);
            out.text(path).nullable(data.bytes()).int(any(*version));
        }
        Op::Check { path, version } => {
            part_header(out, op::CHECK, false);
            out.text(path).int(any(*version));
        }
    }
}

fn list(out: &mut Writer, acl: &Acl) {
    let permits = acl.permits();
    out.int(i32::try_from(permits.len()).unwrap_or(i32::MAX));
    for Permit { permissions, who } in &permits {
        out.int(permissions.0).text(&who.scheme).text(&who.id);
    }
}

fn create(out: &mut Writer, path: &str, data: &Data, mode: CreateMode, acl: &Acl) {
    out.text(path).nullable(data.bytes());
    list(out, acl);
    out.int(match mode {
        CreateMode::Persistent => 0,
        CreateMode::Ephemeral => 1,
        CreateMode::PersistentSequential => 2,
        CreateMode::EphemeralSequential => 3,
        CreateMode::Container => 4,
        CreateMode::PersistentWithTtl(_) => 5,
        CreateMode::PersistentSequentialWithTtl(_) => 6,
    });
    if let Some(ttl) = mode.ttl() {
        out.long(i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX));
    }
}

/// The request for a kind of node that has one of its own. Its answer always has the stat.
pub(super) fn special(mode: CreateMode) -> Option<i32> {
    match mode {
        CreateMode::Container => Some(op::CREATE_CONTAINER),
        CreateMode::PersistentWithTtl(_) | CreateMode::PersistentSequentialWithTtl(_) => {
            Some(op::CREATE_TTL)
        }
        CreateMode::Persistent
        | CreateMode::PersistentSequential
        | CreateMode::Ephemeral
        | CreateMode::EphemeralSequential => None,
    }
}

fn any(version: Option<Version>) -> i32 {
    version.unwrap_or(-1)
}
