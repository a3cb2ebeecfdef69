//! A handle to Consul, as the Go client has it (`api`): the KV store and sessions.
//!
//! [`Consul`] has an `async` method per call that locks make, over one narrow [`Transport`]. The simulator stands
//! behind it, or an adapter to a real agent.

mod display;
mod session;

use std::rc::Rc;
use std::time::Duration;

use thiserror::Error;

pub use session::{RenewEnd, renew_periodic};

use crate::RequestKind;
use crate::completion::{Completion, completion};

/// What a call comes to.
pub type ConsulResult<T> = Result<T, ConsulError>;

/// Why a call has failed: each of these is an answer `500` of the agent, but for the invalid time to live, which is
/// `400`.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ConsulError {
    /// No server leads.
    #[error("No cluster leader")]
    NoClusterLeader,
    /// There is no such session.
    #[error("invalid session")]
    InvalidSession,
    /// The time to live is not between those that servers allow.
    #[error("Invalid Session TTL")]
    InvalidTtl,
    /// The agent finds no server that takes its connection.
    #[error("No known Consul servers")]
    NoServers,
    /// The server has ceased to lead before it knew whether the write is committed.
    #[error("leadership lost while committing log")]
    LeadershipLost,
    /// The connection to a server, or between servers, is gone.
    #[error("rpc error: EOF")]
    Eof,
    /// No answer has come in time.
    #[error("rpc error: i/o deadline reached")]
    DeadlineReached,
    /// The agent has answered something else than it was asked.
    #[error("the answer is not one to the request")]
    Unexpected,
}

impl ConsulError {
    /// Whether nothing has been done, and nothing will be.
    pub fn is_definite(self) -> bool {
        match self {
            Self::NoClusterLeader | Self::InvalidSession | Self::InvalidTtl | Self::NoServers => {
                true
            }
            Self::LeadershipLost | Self::Eof | Self::DeadlineReached | Self::Unexpected => false,
        }
    }
}

/// A session. A real one is a UUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// What becomes of the keys that a session holds when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionBehavior {
    /// They are released.
    #[default]
    Release,
    /// They are deleted.
    Delete,
}

/// What a session is created with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionEntry {
    /// After so long without a renewal it may end.
    pub ttl: Duration,
    /// For how long the keys that it held cannot be acquired when it has ended.
    pub lock_delay: Duration,
    /// What becomes of its keys.
    pub behavior: SessionBehavior,
}

/// A key with its value (`KVPair`). Indexes are those of the servers' log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KvPair {
    /// The key.
    pub key: Rc<str>,
    /// The value.
    pub value: Rc<str>,
    /// A number that the store makes nothing of.
    pub flags: u64,
    /// The session that holds it.
    pub session: Option<SessionId>,
    /// When it was created.
    pub create_index: u64,
    /// When it was changed last.
    pub modify_index: u64,
    /// How often it was acquired by a session while none held it.
    pub lock_index: u64,
}

/// How new what a read answers must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consistency {
    /// The leader answers, which may have been deposed a short time ago.
    #[default]
    Default,
    /// The leader answers when a majority has confirmed that it leads.
    Consistent,
    /// Any server answers what it has.
    Stale,
}

/// How a read is to be answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryOptions {
    /// It is answered when the index of the result is beyond this one; at once, if that is 0.
    pub wait_index: u64,
    /// For how long it may wait for that: five minutes if nothing is said, and ten at most.
    pub wait_time: Option<Duration>,
    /// How new the answer must be.
    pub consistency: Consistency,
}

impl QueryOptions {
    /// A read that a majority confirms (`RequireConsistent`).
    pub fn consistent() -> Self {
        Self {
            consistency: Consistency::Consistent,
            ..Self::default()
        }
    }
}

/// What a write of a key asks for besides (`?cas=`, `?acquire=`, `?release=`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutIf {
    /// Nothing: it pays no heed to sessions.
    Always,
    /// That the key was changed last at the pair's index; at 0, that there is none.
    Cas,
    /// That no other session than the pair's holds it.
    Acquire,
    /// That the pair's session holds it.
    Release,
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Creates a session.
    SessionCreate(SessionEntry),
    /// A sign of life.
    SessionRenew(SessionId),
    /// Ends a session.
    SessionDestroy(SessionId),
    /// Reads a key.
    Get(Rc<str>, QueryOptions),
    /// Reads all keys that begin so.
    List(Rc<str>, QueryOptions),
    /// Writes a key.
    Put(PutIf, KvPair),
    /// Deletes a key; with an index, only if it was changed last then.
    Delete(Rc<str>, Option<u64>),
}

impl Request {
    /// The kind that it is one of.
    pub fn kind(&self) -> RequestKind {
        match self {
            Self::SessionCreate(_) => RequestKind::SessionCreate,
            Self::SessionRenew(_) => RequestKind::SessionRenew,
            Self::SessionDestroy(_) => RequestKind::SessionDestroy,
            Self::Get(..) => RequestKind::KvGet,
            Self::List(..) => RequestKind::KvList,
            Self::Put(PutIf::Always, _) => RequestKind::KvPut,
            Self::Put(PutIf::Cas, _) => RequestKind::KvCas,
            Self::Put(PutIf::Acquire, _) => RequestKind::KvAcquire,
            Self::Put(PutIf::Release, _) => RequestKind::KvRelease,
            Self::Delete(..) => RequestKind::KvDelete,
        }
    }

    /// How it is to be answered, if it is a read.
    pub fn query(&self) -> Option<&QueryOptions> {
        match self {
            Self::Get(_, options) | Self::List(_, options) => Some(options),
            Self::SessionCreate(_)
            | Self::SessionRenew(_)
            | Self::SessionDestroy(_)
            | Self::Put(..)
            | Self::Delete(..) => None,
        }
    }

    /// Whether it waits for a change.
    pub fn is_blocking(&self) -> bool {
        self.query().is_some_and(|options| options.wait_index > 0)
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// The session that was created.
    Created(SessionId),
    /// The time to live of the session that was renewed; `None` (`404`) if there is no such session.
    Renewed(Option<Duration>),
    /// Whether it was done.
    Done(bool),
    /// The keys that were found, and the index of the result.
    Pairs(Vec<KvPair>, u64),
}

/// A call of a client, by its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientMessage {
    /// The number.
    pub number: u32,
    /// The call.
    pub request: Request,
}

/// The answer to a call, by its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerMessage {
    /// The number.
    pub number: u32,
    /// The answer.
    pub result: ConsulResult<Response>,
    /// Whether it is that to a blocking query.
    pub ends_wait: bool,
}

/// What carries calls to servers, and brings the answers back: the agent of the client's machine.
pub trait Transport {
    /// Makes a call. The completion is filled when the answer is there, or will not come.
    fn call(&self, request: Request, completion: Completion<ConsulResult<Response>>);
}

/// A client.
#[derive(Clone)]
pub struct Consul {
    transport: Rc<dyn Transport>,
}

impl Consul {
    /// Wraps a transport.
    pub fn new(transport: impl Transport + 'static) -> Self {
        let transport = Rc::new(transport);
        Self { transport }
    }

    async fn call(&self, request: Request) -> ConsulResult<Response> {
        let (done, answer) = completion();
        self.transport.call(request, done);
        answer.await
    }

    async fn done(&self, request: Request) -> ConsulResult<bool> {
        match self.call(request).await? {
            Response::Done(done) => Ok(done),
            _ => Err(ConsulError::Unexpected),
        }
    }

    /// Creates a session (`Session.Create`).
    ///
    /// # Errors
    ///
    /// What the call has failed with.
    pub async fn create_session(&self, entry: SessionEntry) -> ConsulResult<SessionId> {
        match self.call(Request::SessionCreate(entry)).await? {
            Response::Created(session) => Ok(session),
            _ => Err(ConsulError::Unexpected),
        }
    }

    /// Renews a session (`Session.Renew`): its time to live, or `None` if it has ended.
    ///
    /// # Errors
    ///
    /// What the call has failed with.
    pub async fn renew_session(&self, session: SessionId) -> ConsulResult<Option<Duration>> {
        match self.call(Request::SessionRenew(session)).await? {
            Response::Renewed(ttl) => Ok(ttl),
            _ => Err(ConsulError::Unexpected),
        }
    }

    /// Ends a session (`Session.Destroy`), if it has not ended.
    ///
    /// # Errors
    ///
    /// What the call has failed with.
    pub async fn destroy_session(&self, session: SessionId) -> ConsulResult<()> {
        let request = Request::SessionDestroy(session);
        self.done(request).await.map(drop)
    }

    /// Reads a key (`KV.Get`), and answers the index of the result, too.
    ///
    /// # Errors
    ///
    /// What the call has failed with.
    pub async fn get(
        &self,
        key: &Rc<str>,
        options: QueryOptions,
    ) -> ConsulResult<(Option<KvPair>, u64)> {
        match self.call(Request::Get(Rc::clone(key), options)).await? {
            Response::Pairs(mut pairs, index) => Ok((pairs.pop(), index)),
            _ => Err(ConsulError::Unexpected),
        }
    }

    /// Reads all keys that begin so (`KV.List`), and answers the index of the result, too.
    ///
    /// # Errors
    ///
    /// What the call has failed with.
    pub async fn list(
        &self,
        prefix: &Rc<str>,
        options: QueryOptions,
    ) -> ConsulResult<(Vec<KvPair>, u64)> {
        match self.call(Request::List(Rc::clone(prefix), options)).await? {
            Response::Pairs(pairs, index) => Ok((pairs, index)),
            _ => Err(ConsulError::Unexpected),
        }
    }

    /// Writes a key: answers whether that was done, which depends on what it asks for besides (`KV.Put`, `KV.CAS`,
    /// `KV.Acquire`, `KV.Release`).
    ///
    /// # Errors
    ///
    /// What the call has failed with.
    pub async fn put(&self, condition: PutIf, pair: KvPair) -> ConsulResult<bool> {
        self.done(Request::Put(condition, pair)).await
    }

    /// Deletes a key (`KV.Delete`), whatever session holds it.
    ///
    /// # Errors
    ///
    /// What the call has failed with.
    pub async fn delete(&self, key: &Rc<str>) -> ConsulResult<()> {
        let request = Request::Delete(Rc::clone(key), None);
        self.done(request).await.map(drop)
    }
}
