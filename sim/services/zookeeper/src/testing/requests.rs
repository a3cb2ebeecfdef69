//! Requests, written short.

use std::rc::Rc;

use picklock_clients::zookeeper::{
    Acl, CreateMode, Data, Op, Path, Reply, Request, Response, ZkError, Zxid,
};

use crate::messages::{ClientMessage, WatchTables};

pub(crate) fn create(path: &str, mode: CreateMode) -> Request {
    Request::create(Rc::from(path), b"", mode, Acl::OPEN, false)
}

pub(crate) fn delete(path: &str) -> Request {
    Request::Delete {
        path: Rc::from(path),
        version: None,
    }
}

pub(crate) fn set_data(path: &str, data: &[u8]) -> Request {
    Request::SetData {
        path: Rc::from(path),
        data: Data::from(data),
        version: None,
    }
}

pub(crate) fn exists(path: &str, watch: bool) -> Request {
    let path = Rc::from(path);
    Request::Exists { path, watch }
}

pub(crate) fn get_data(path: &str, watch: bool) -> Request {
    let path = Rc::from(path);
    Request::GetData { path, watch }
}

pub(crate) fn get_children(path: &str, watch: bool) -> Request {
    let path = Rc::from(path);
    Request::GetChildren {
        path,
        watch,
        with_stat: false,
    }
}

pub(crate) fn sync() -> Request {
    Request::Sync {
        path: Rc::from("/"),
    }
}

pub(crate) fn multi(ops: Vec<Op>) -> Request {
    Request::Multi(ops.into())
}

/// The path that a create has made.
pub(crate) fn made(reply: Reply) -> String {
    match reply {
        Ok(Response::Created { path, .. }) => path.to_string(),
        other => panic!("no node was made: {other:?}"),
    }
}

/// Why a request was refused.
pub(crate) fn refused(reply: Reply) -> ZkError {
    match reply {
        Err(error) => error,
        Ok(Response::MultiFailed(failed)) => failed.error,
        Ok(other) => panic!("it was done: {other:?}"),
    }
}

pub(crate) fn tables(since: Zxid, data: &[&str], exist: &[&str], child: &[&str]) -> ClientMessage {
    let paths = |list: &[&str]| list.iter().map(|path| Path::from(*path)).collect();
    ClientMessage::SetWatches(Box::new(WatchTables {
        relative_zxid: since,
        data: paths(data),
        exist: paths(exist),
        child: paths(child),
        ..WatchTables::default()
    }))
}
