//! The recipes of the package `concurrency`, as steps that a member does with its own client.

use std::rc::Rc;

use crate::ids::Caller;
use crate::rpc::{
    Bytes, Compare, DeleteRangeRequest, KeyRange, LeaderKey, LeaseId, PutRequest, RangeRequest,
    RangeResponse, Request, RequestOp, Response, Revision, TxnRequest,
};
use crate::rpctypes::{self, Status};

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Lock,
    Campaign(Bytes, Bytes),
    Unlock,
    Proclaim,
    Resign,
    Leader,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// It makes a lease.
    Grant,
    /// It makes its key, or finds it.
    Acquire,
    /// It has found its key with another value, and changes it.
    Proclaim,
    /// It looks for the newest key before its own.
    LastCreate,
    /// It waits until that is deleted.
    WaitDelete,
    /// It looks whether its own key is still there.
    OwnKey,
    /// It has failed so, and deletes its key.
    CleanUp(Status),
    /// There is one step.
    Single,
}

/// A lock or an election that runs on this member.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) caller: Caller,
    pub(crate) kind: Kind,
    pub(crate) stage: Stage,
    pub(crate) prefix: Bytes,
    pub(crate) lease: LeaseId,
    pub(crate) key: Bytes,
    /// The revision at which its key was made.
    pub(crate) my_rev: Revision,
    /// The revision of the transaction that made or found it.
    pub(crate) acquired_at: Revision,
}

/// What a task hears.
#[derive(Clone, Debug)]
pub(crate) enum TaskNews {
    /// An answer, and the revision of its header.
    Answer(Revision, Result<Response, Status>),
    /// The key that it waits for is deleted.
    Deleted,
    /// The wait is over because of a compaction.
    Compacted,
}

pub(crate) fn put(key: &Bytes, value: &Bytes, lease: LeaseId) -> RequestOp {
    RequestOp::Put(PutRequest {
        key: Rc::clone(key),
        value: Rc::clone(value),
        lease,
        ..PutRequest::default()
    })
}

pub(crate) fn delete(key: &[u8]) -> DeleteRangeRequest {
    DeleteRangeRequest {
        keys: KeyRange::one(key),
        prev_kv: false,
    }
}

/// Does this if the key was made at that revision.
pub(crate) fn if_created_at(key: &[u8], revision: Revision, operation: RequestOp) -> Request {
    Request::Txn(TxnRequest {
        compare: vec![Compare::created_at(key, revision)],
        success: vec![operation],
        failure: Vec::new(),
    })
}

pub(crate) fn first_of(response: Option<Response>) -> Option<RangeResponse> {
    let Some(Response::Range(range)) = response else {
        return None;
    };
    Some(range)
}

impl Task {
    /// The transaction that makes its key, or finds it.
    pub(crate) fn acquire(&self) -> Request {
        let is_lock = matches!(self.kind, Kind::Lock);
        let value = match &self.kind {
            Kind::Campaign(_, value) => Rc::clone(value),
            Kind::Lock | Kind::Unlock | Kind::Proclaim | Kind::Resign | Kind::Leader => {
                Bytes::default()
            }
        };
        let owner = RequestOp::Range(RangeRequest::first_create(&self.prefix));
        let owner = is_lock.then_some(owner);
        let own = RequestOp::Range(RangeRequest::get(&self.key));
        Request::Txn(TxnRequest {
            compare: vec![Compare::created_at(&self.key, 0)],
            success: [put(&self.key, &value, self.lease)]
                .into_iter()
                .chain(owner.clone())
                .collect(),
            failure: [own].into_iter().chain(owner).collect(),
        })
    }

    /// What is answered when it has come to an end.
    pub(crate) fn response(&self, response: Option<Response>) -> Result<Response, Status> {
        match (&self.kind, response) {
            (Kind::Lock, _) => Ok(Response::Lock(Rc::clone(&self.key))),
            (Kind::Campaign(name, _), _) => Ok(Response::Campaign(LeaderKey {
                name: Rc::clone(name),
                key: Rc::clone(&self.key),
                rev: self.my_rev,
                lease: self.lease,
            })),
            (Kind::Unlock, _) => Ok(Response::Unlock),
            (Kind::Proclaim, Some(Response::Txn(true, _))) => Ok(Response::Proclaim),
            (Kind::Proclaim, _) => Err(rpctypes::ELECTION_NOT_LEADER),
            (Kind::Resign, _) => Ok(Response::Resign),
            (Kind::Leader, found) => {
                let leader = first_of(found).and_then(|range| range.kvs.into_iter().next());
                leader
                    .map(Response::Leader)
                    .ok_or(rpctypes::ELECTION_NO_LEADER)
            }
        }
    }

    /// What removes its key: a lock deletes it by name, an election only if it is its own.
    pub(crate) fn clean_up(&self) -> Request {
        match self.kind {
            Kind::Lock => Request::DeleteRange(delete(&self.key)),
            Kind::Campaign(..) | Kind::Unlock | Kind::Proclaim | Kind::Resign | Kind::Leader => {
                let deletion = RequestOp::DeleteRange(delete(&self.key));
                if_created_at(&self.key, self.my_rev, deletion)
            }
        }
    }
}
