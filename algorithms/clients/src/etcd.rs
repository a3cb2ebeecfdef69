//! A handle to etcd, as the Go client has it (`clientv3`).
//!
//! [`Client`] has an `async` method per call that locks make, over one narrow [`Transport`]. The simulator stands
//! behind it, or an adapter to a real cluster.

pub mod concurrency;
mod display;
mod kv;
mod lease;
mod rpc;
pub mod rpctypes;
mod watch;

use std::rc::Rc;

use thiserror::Error;

pub use kv::{
    Bytes, Compare, CompareResult, CompareTarget, DeleteRangeRequest, KeyRange, KeyValue, LeaseId,
    PutRequest, RangeRequest, RangeResponse, RequestOp, Revision, SortOrder, SortTarget,
    TxnRequest,
};
pub use lease::{KeepAlive, KeepAliveListener, keep_alive};
pub use rpc::{
    ClientBody, ClientMessage, Event, EventType, LeaderKey, Request, Response, ResponseHeader,
    ServerBody, ServerMessage, TimeToLive, WatchCreateRequest, WatchId, WatchRequest,
    WatchResponse,
};
pub use watch::{Watch, WatchListener, watch};

use crate::RequestKind;
use crate::completion::{Completion, completion};
use rpctypes::{Code, Status};

/// What a call comes to.
pub type EtcdResult<T> = Result<T, EtcdError>;

/// Why a call or a watch has failed.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum EtcdError {
    /// A member, or the connection to it, has said so.
    #[error("{}: {}", .0.code.name(), .0.message)]
    Status(Status),
    /// What a watch was to begin with is compacted away: there is nothing before this revision any more.
    #[error("etcdserver: mvcc: required revision has been compacted ({0})")]
    Compacted(Revision),
    /// A member has answered something else than it was asked.
    #[error("the answer is not one to the request")]
    Unexpected,
}

impl EtcdError {
    /// Whether nothing has been done, and nothing will be: the request itself was refused.
    pub fn is_definite(self) -> bool {
        match self {
            Self::Status(status) => matches!(
                status.code,
                Code::InvalidArgument
                    | Code::OutOfRange
                    | Code::NotFound
                    | Code::FailedPrecondition
            ),
            Self::Compacted(_) => true,
            Self::Unexpected => false,
        }
    }

    /// Whether there is no such lease: it has ended.
    pub fn is_lease_not_found(self) -> bool {
        self == Self::Status(rpctypes::LEASE_NOT_FOUND)
    }
}

/// A header, and what comes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered<T> {
    /// The member that has answered, and at which revision.
    pub header: ResponseHeader,
    /// The answer.
    pub response: T,
}

/// What a transaction has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxnResponse {
    /// Whether all compares held.
    pub succeeded: bool,
    /// The answers of what was done, in order.
    pub responses: Vec<Response>,
}

impl TxnResponse {
    /// The pairs that the read at this place has found; none, if there is no read there.
    pub fn kvs(&self, place: usize) -> &[KeyValue] {
        match self.responses.get(place) {
            Some(Response::Range(range)) => &range.kvs,
            _ => &[],
        }
    }
}

/// What carries calls to members and brings the answers back. It is the client library below its own recipes: it
/// chooses members, repeats what may be repeated, resumes watches, and keeps leases alive.
pub trait Transport {
    /// Makes a call. Answers the number by which it is given up.
    fn call(&self, request: Request, completion: Completion<EtcdResult<Answered<Response>>>)
    -> u64;
    /// Gives up a call, if it has no answer yet.
    fn cancel(&self, number: u64);
    /// Begins a watch. Answers the number by which it is ended.
    fn watch(&self, request: WatchCreateRequest, listener: WatchListener) -> u64;
    /// Ends a watch.
    fn end_watch(&self, number: u64);
    /// Keeps a lease alive, until it is over or that is ended.
    fn keep_alive(&self, lease: LeaseId, listener: KeepAliveListener);
    /// Ends that.
    fn end_keep_alive(&self, lease: LeaseId);
}

/// Gives up a call whose caller is dropped. One that is answered is not there any more.
struct GivenUp<'t> {
    transport: &'t dyn Transport,
    number: u64,
}

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        self.transport.cancel(self.number);
    }
}

/// A client of a cluster, as a process shares it.
#[derive(Clone)]
pub struct Client {
    transport: Rc<dyn Transport>,
}

impl Client {
    /// Wraps a transport.
    pub fn new(transport: impl Transport + 'static) -> Self {
        Self {
            transport: Rc::new(transport),
        }
    }

    async fn call(&self, request: Request) -> EtcdResult<Answered<Response>> {
        let (done, answer) = completion();
        let number = self.transport.call(request, done);
        let _given_up = GivenUp {
            transport: &*self.transport,
            number,
        };
        answer.await
    }

    /// `KV.Range`: reads keys.
    ///
    /// # Errors
    ///
    /// Any [`EtcdError`].
    pub async fn range(&self, request: RangeRequest) -> EtcdResult<Answered<RangeResponse>> {
        let Answered { header, response } = self.call(Request::Range(request)).await?;
        match response {
            Response::Range(response) => Ok(Answered { header, response }),
            _ => Err(EtcdError::Unexpected),
        }
    }

    /// `KV.Range` of one key: its pair, if there is one.
    ///
    /// # Errors
    ///
    /// Any [`EtcdError`].
    pub async fn get(&self, key: &[u8]) -> EtcdResult<Option<KeyValue>> {
        let found = self.range(RangeRequest::get(key)).await?;
        Ok(found.response.kvs.into_iter().next())
    }

    /// `KV.Put`
    ///
    /// # Errors
    ///
    /// After an error that is not [definite](EtcdError::is_definite) it may be written.
    pub async fn put(&self, request: PutRequest) -> EtcdResult<()> {
        self.call(Request::Put(request)).await.map(drop)
    }

    /// `KV.DeleteRange` of one key: whether it was there.
    ///
    /// # Errors
    ///
    /// After an error that is not [definite](EtcdError::is_definite) it may be deleted.
    pub async fn delete(&self, key: &[u8]) -> EtcdResult<bool> {
        let request = DeleteRangeRequest {
            keys: KeyRange::one(key),
            prev_kv: false,
        };
        match self.call(Request::DeleteRange(request)).await?.response {
            Response::DeleteRange(deleted, _) => Ok(deleted > 0),
            _ => Err(EtcdError::Unexpected),
        }
    }

    /// `KV.Txn`
    ///
    /// # Errors
    ///
    /// After an error that is not [definite](EtcdError::is_definite) it may be applied: the library never repeats it.
    pub async fn txn(&self, request: TxnRequest) -> EtcdResult<Answered<TxnResponse>> {
        let Answered { header, response } = self.call(Request::Txn(request)).await?;
        match response {
            Response::Txn(succeeded, responses) => Ok(Answered {
                header,
                response: TxnResponse {
                    succeeded,
                    responses,
                },
            }),
            _ => Err(EtcdError::Unexpected),
        }
    }

    /// `Lease.LeaseGrant` of so many seconds: the lease, and the seconds that were granted.
    ///
    /// # Errors
    ///
    /// After any a lease may have been granted that ends by itself.
    pub async fn grant(&self, ttl: i64) -> EtcdResult<(LeaseId, i64)> {
        let request = Request::LeaseGrant(LeaseId(0), ttl);
        match self.call(request).await?.response {
            Response::LeaseGrant(lease, granted) => Ok((lease, granted)),
            _ => Err(EtcdError::Unexpected),
        }
    }

    /// `Lease.LeaseRevoke`: ends a lease, and deletes its keys.
    ///
    /// # Errors
    ///
    /// Any [`EtcdError`]; the lease may be gone all the same.
    pub async fn revoke(&self, lease: LeaseId) -> EtcdResult<()> {
        self.call(Request::LeaseRevoke(lease)).await.map(drop)
    }

    /// `Lease.KeepAlive`: keeps a lease alive in the background, until what is answered is dropped.
    pub fn keep_alive(&self, lease: LeaseId) -> KeepAlive {
        let (listener, kept) = keep_alive(&self.transport, lease);
        self.transport.keep_alive(lease, listener);
        kept
    }

    /// `Watcher.Watch`
    pub fn watch(&self, request: WatchCreateRequest) -> Watch {
        let (listener, watch) = watch(&self.transport);
        watch.begun(self.transport.watch(request, listener));
        watch
    }

    /// `v3lock.Lock`: the key that holds the lock of this name, by a lease.
    ///
    /// # Errors
    ///
    /// After an error that is not [definite](EtcdError::is_definite) the key may be in the queue, or hold the lock.
    pub async fn lock(&self, name: &[u8], lease: LeaseId) -> EtcdResult<Answered<Bytes>> {
        let request = Request::Lock(name.into(), lease);
        let Answered { header, response } = self.call(request).await?;
        match response {
            Response::Lock(response) => Ok(Answered { header, response }),
            _ => Err(EtcdError::Unexpected),
        }
    }

    /// `v3lock.Unlock`: deletes a key, if it is there.
    ///
    /// # Errors
    ///
    /// As of [`delete`](Self::delete).
    pub async fn unlock(&self, key: &[u8]) -> EtcdResult<()> {
        self.call(Request::Unlock(key.into())).await.map(drop)
    }

    /// `v3election.Campaign`: the key that leads the election of this name, by a lease.
    ///
    /// # Errors
    ///
    /// After an error that is not [definite](EtcdError::is_definite) the key may be in the queue, or lead.
    pub async fn campaign(
        &self,
        name: &[u8],
        lease: LeaseId,
        value: &[u8],
    ) -> EtcdResult<LeaderKey> {
        let request = Request::Campaign(name.into(), lease, value.into());
        match self.call(request).await?.response {
            Response::Campaign(leader) => Ok(leader),
            _ => Err(EtcdError::Unexpected),
        }
    }

    /// `v3election.Resign`: deletes the key of a leader, if it is still the one that was elected.
    ///
    /// # Errors
    ///
    /// As of [`delete`](Self::delete).
    pub async fn resign(&self, leader: LeaderKey) -> EtcdResult<()> {
        self.call(Request::Resign(leader)).await.map(drop)
    }
}

impl Request {
    /// Whether its answer comes when a lock is free, or an election is won, and not as soon as a member can give it.
    pub fn waits_for_turn(&self) -> bool {
        matches!(self, Self::Lock(..) | Self::Campaign(..))
    }

    /// Its kind.
    pub fn kind(&self) -> RequestKind {
        match self {
            Self::Range(_) => RequestKind::Range,
            Self::Put(_) => RequestKind::Put,
            Self::DeleteRange(_) => RequestKind::DeleteRange,
            Self::Txn(_) => RequestKind::Txn,
            Self::LeaseGrant(..) => RequestKind::LeaseGrant,
            Self::LeaseRevoke(_) => RequestKind::LeaseRevoke,
            Self::Lock(..) => RequestKind::Lock,
            Self::Unlock(_) => RequestKind::Unlock,
            Self::Campaign(..) => RequestKind::Campaign,
            Self::Resign(_) => RequestKind::Resign,
            Self::Compact(_)
            | Self::LeaseTimeToLive(..)
            | Self::LeaseLeases
            | Self::Proclaim(..)
            | Self::Leader(_) => RequestKind::OtherCall,
        }
    }
}
