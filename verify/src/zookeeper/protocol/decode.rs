//! What a server answers.

use std::rc::Rc;

use picklock_clients::zookeeper::{
    Acl, Children, Data, EventType, Identity, MultiFailed, OpResult, Permissions, Permit,
    ReadResult, Reply, Request, Response, SessionId, Stat, ZkError, Zxid,
};
use picklock_zookeeper::messages::{ServerMessage, Xid};

use super::encode::special;
use super::{op, xid};
use crate::harness::error::Garbled;
use crate::zookeeper::jute::Reader;

/// What was asked, as far as the answer's form depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// `create`, with the stat or without.
    Create {
        /// Whether the client wants the stat.
        with_stat: bool,
        /// Whether the server sends it all the same.
        sends_stat: bool,
    },
    /// `delete`
    Delete,
    /// `exists`
    Exists,
    /// `getData`
    GetData,
    /// `getChildren`, or `getChildren2` with the stat
    GetChildren {
        /// Which of them.
        with_stat: bool,
    },
    /// `getAllChildrenNumber`
    GetAllChildrenNumber,
    /// `whoAmI`
    WhoAmI,
    /// `reconfig`
    Reconfig,
    /// `setData`
    SetData,
    /// `sync`
    Sync,
    /// `multi`
    Multi,
    /// `addWatch`
    AddWatch,
    /// `removeWatches`, and whether there are any
    RemoveWatches,
    /// Several reads
    MultiRead,
    /// `getEphemerals`
    GetEphemerals,
    /// `getACL`
    GetAcl,
    /// `setACL`
    SetAcl,
    /// The end of the session.
    Close,
}

impl From<&Request> for Asked {
    fn from(request: &Request) -> Self {
        match request {
            Request::Create(node) => Self::Create {
                with_stat: node.with_stat(),
                sends_stat: node.with_stat() || special(node.mode()).is_some(),
            },
            Request::Delete { .. } => Self::Delete,
            Request::Exists { .. } => Self::Exists,
            Request::GetData { .. } => Self::GetData,
            Request::GetChildren { with_stat, .. } => Self::GetChildren {
                with_stat: *with_stat,
            },
            Request::GetAllChildrenNumber { .. } => Self::GetAllChildrenNumber,
            Request::WhoAmI => Self::WhoAmI,
            Request::Reconfig(_) => Self::Reconfig,
            Request::SetData { .. } => Self::SetData,
            Request::Sync { .. } => Self::Sync,
            Request::Multi(_) => Self::Multi,
            Request::AddWatch { .. } => Self::AddWatch,
            Request::RemoveWatches { .. } | Request::CheckWatches { .. } => Self::RemoveWatches,
            Request::MultiRead(_) => Self::MultiRead,
            Request::GetEphemerals { .. } => Self::GetEphemerals,
            Request::GetAcl { .. } => Self::GetAcl,
            Request::SetAcl { .. } => Self::SetAcl,
        }
    }
}

/// The answer to the first message of a connection: the message, and the session's password.
pub fn connected(bytes: &[u8]) -> Result<(ServerMessage, Vec<u8>), Garbled> {
    let mut from = Reader::new(bytes);
    let _version = from.int()?;
    let timeout = from.int()?;
    let session = SessionId(from.long()?.cast_unsigned());
    let password = from.buffer()?.to_vec();
    let read_only = from.bool()?;
    from.end()?;
    let message = if timeout <= 0 {
        ServerMessage::Expired
    } else {
        ServerMessage::Connected {
            session,
            password: Default::default(),
            timeout: u64::from(timeout.unsigned_abs()) * 1_000,
            read_only,
        }
    };
    Ok((message, password))
}

/// Any other message of a server. `next` gives what was asked with the number that is answered, if any was.
pub fn incoming(
    bytes: &[u8],
    next: impl FnOnce(Xid) -> Option<Asked>,
) -> Result<ServerMessage, Garbled> {
    let mut from = Reader::new(bytes);
    let number = from.int()?;
    let zxid = Zxid(from.long()?.cast_unsigned());
    let error = from.int()?;
    Ok(match number {
        xid::NOTIFICATION => {
            let kind = event(from.int()?)?;
            let _state = from.int()?;
            let path = from.text()?;
            from.end()?;
            ServerMessage::Notification { kind, path }
        }
        xid::PING => ServerMessage::Pong,
        xid::AUTH if error == 0 => ServerMessage::Authenticated,
        xid::AUTH => ServerMessage::AuthFailed,
        xid::SET_WATCHES => ServerMessage::WatchesSet { zxid },
        number => {
            let xid = Xid(number.cast_unsigned());
            let asked = next(xid).ok_or(Garbled::Meaning("a request's number", number.into()))?;
            let reply = match error {
                0 => reply(&mut from, asked)?,
                code => Err(error_of(code)?),
            };
            from.end()?;
            ServerMessage::Reply { xid, zxid, reply }
        }
    })
}

fn event(kind: i32) -> Result<EventType, Garbled> {
    Ok(match kind {
        1 => EventType::NodeCreated,
        2 => EventType::NodeDeleted,
        3 => EventType::NodeDataChanged,
        4 => EventType::NodeChildrenChanged,
        other => return Err(Garbled::Meaning("a kind of event", other.into())),
    })
}

fn reply(from: &mut Reader, asked: Asked) -> Result<Reply, Garbled> {
    Ok(Ok(match asked {
        Asked::Create {
            with_stat,
            sends_stat,
        } => Response::Created {
            path: from.text()?,
            stat: sends_stat
                .then(|| stat(from).map(Box::new))
                .transpose()?
                .filter(|_| with_stat),
        },
        Asked::Delete => Response::Deleted,
        Asked::Exists => Response::Exists(Rc::new(stat(from)?)),
        Asked::GetData | Asked::Reconfig => Response::Data {
            data: Data::from(from.nullable()?),
            stat: Box::new(stat(from)?),
        },
        Asked::GetChildren { with_stat: false } => {
            Response::Children(Rc::new(Children::new(from.texts()?)))
        }
        Asked::GetChildren { with_stat: true } => Response::ChildrenWithStat {
            children: Rc::new(Children::new(from.texts()?)),
            stat: Box::new(stat(from)?),
        },
        Asked::GetAllChildrenNumber => Response::AllChildrenNumber(from.int()?),
        Asked::WhoAmI => {
            let length = from.int()?;
            let known = (0..length).map(|_| Ok(Identity::new(&from.text()?, &from.text()?)));
            Response::ClientInfo(known.collect::<Result<Vec<Identity>, Garbled>>()?)
        }
        Asked::SetData | Asked::SetAcl => Response::Set(Box::new(stat(from)?)),
        Asked::Sync => {
            from.text()?;
            Response::Synced
        }
        Asked::Multi => return multi(from),
        Asked::AddWatch => {
            from.int()?;
            Response::Watching
        }
        Asked::RemoveWatches => Response::Watching,
        Asked::MultiRead => return several(from),
        Asked::GetEphemerals => Response::Ephemerals(from.texts()?),
        Asked::GetAcl => Response::Acl {
            acl: list(from)?,
            stat: Box::new(stat(from)?),
        },
        Asked::Close => Response::Closed,
    }))
}

fn multi(from: &mut Reader) -> Result<Reply, Garbled> {
    let mut results = Vec::new();
    let mut codes = Vec::new();
    loop {
        let (kind, done, _error) = (from.int()?, from.bool()?, from.int()?);
        if done {
            break;
        }
        match kind {
            op::CREATE => results.push(OpResult::Created(from.text()?)),
            op::CREATE2 | op::CREATE_CONTAINER | op::CREATE_TTL => {
                results.push(OpResult::Created(from.text()?));
                stat(from)?;
            }
            op::DELETE => results.push(OpResult::Deleted),
            op::SET_DATA => results.push(OpResult::Set(Box::new(stat(from)?))),
            op::CHECK => results.push(OpResult::Checked),
            op::ERROR => codes.push(from.int()?),
            other => return Err(Garbled::Meaning("a part of a multi", other.into())),
        }
    }
    if codes.is_empty() {
        return Ok(Ok(Response::Multi(results)));
    }
    // Nothing was done: no error before the first that failed, and runtime inconsistency after it.
    let place = codes.iter().take_while(|code| **code == 0).count();
    let mut rest = codes[place..].iter();
    let Some(first) = rest.next().filter(|_| results.is_empty()) else {
        return Err(Garbled::Meaning("a failed multi without a failure", 0));
    };
    let inconsistent = ZkError::RuntimeInconsistency.code();
    match rest.find(|code| **code != inconsistent) {
        Some(other) => Err(Garbled::Meaning(
            "an error after the first",
            (*other).into(),
        )),
        None => Ok(Ok(Response::MultiFailed(MultiFailed {
            parts: codes.len() as u32,
            place: place as u32,
            error: error_of(*first)?,
        }))),
    }
}

fn several(from: &mut Reader) -> Result<Reply, Garbled> {
    let mut results = Vec::new();
    loop {
        let (kind, done, _error) = (from.int()?, from.bool()?, from.int()?);
        if done {
            return Ok(Ok(Response::MultiRead(results)));
        }
        results.push(match kind {
            op::GET_DATA => Ok(ReadResult::Data {
                data: Data::from(from.nullable()?),
                stat: Box::new(stat(from)?),
            }),
            op::GET_CHILDREN => Ok(ReadResult::Children(Rc::new(Children::new(from.texts()?)))),
            op::ERROR => Err(error_of(from.int()?)?),
            other => return Err(Garbled::Meaning("a part of several reads", other.into())),
        });
    }
}

fn list(from: &mut Reader) -> Result<Acl, Garbled> {
    let length = from.int()?;
    let permits = (0..length).map(|_| {
        Ok(Permit {
            permissions: Permissions(from.int()?),
            who: Identity::new(&from.text()?, &from.text()?),
        })
    });
    Ok(Acl::new(permits.collect::<Result<Vec<Permit>, Garbled>>()?))
}

fn stat(from: &mut Reader) -> Result<Stat, Garbled> {
    let zxid = |value: i64| Zxid(value.cast_unsigned());
    let czxid = zxid(from.long()?);
    let mzxid = zxid(from.long()?);
    Ok(Stat {
        czxid,
        mzxid,
        ctime: from.long()?,
        mtime: from.long()?,
        version: from.int()?,
        cversion: from.int()?,
        aversion: from.int()?,
        ephemeral_owner: SessionId(from.long()?.cast_unsigned()),
        data_length: from.int()?,
        num_children: from.int()?,
        pzxid: zxid(from.long()?),
    })
}

/// The error that has this number.
fn error_of(code: i32) -> Result<ZkError, Garbled> {
    let all = [
        ZkError::RuntimeInconsistency,
        ZkError::ConnectionLoss,
        ZkError::MarshallingError,
        ZkError::Unimplemented,
        ZkError::BadArguments,
        ZkError::NoNode,
        ZkError::NoAuth,
        ZkError::BadVersion,
        ZkError::NoChildrenForEphemerals,
        ZkError::NodeExists,
        ZkError::NotEmpty,
        ZkError::SessionExpired,
        ZkError::InvalidAcl,
        ZkError::AuthFailed,
        ZkError::SessionMoved,
        ZkError::NotReadOnly,
        ZkError::NoWatcher,
        ZkError::RequestTimeout,
        ZkError::QuotaExceeded,
        ZkError::Throttled,
        ZkError::ReconfigDisabled,
    ];
    all.into_iter()
        .find(|error| error.code() == code)
        .ok_or(Garbled::Meaning("an error", code.into()))
}
