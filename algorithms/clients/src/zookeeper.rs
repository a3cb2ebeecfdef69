//! A handle to a ZooKeeper session, as the Java client offers it.
//!
//! [`ZooKeeper`] has an `async` method per operation over one narrow [`Transport`]. The simulator stands behind it,
//! or an adapter to a real server.

mod access;
mod acl;
mod call;
mod callback;
mod children;
mod children_calls;
mod create_request;
mod data;
mod operation;
mod persistent_watches;
mod request;
mod request_text;
mod response;
mod session;
mod types;
mod watch;

use std::rc::Rc;
use std::time::Duration;

pub use acl::{Acl, Identity, Permissions, Permit};
pub use children::{Children, sequence};
pub use create_request::NewNode;
pub use data::Data;
pub use operation::{Op, ReadOp, Reconfiguration};
pub use request::{Request, WatchSide};
pub use response::{
    ERROR_REPLY_BYTES, MultiFailed, OpResult, ReadResult, Reply, Response, ZkError, ZkResult,
};
pub use types::{CreateMode, Path, SessionId, SessionState, Stat, Version, Zxid};
pub use watch::{EventType, SessionClosed, Watch, WatchedEvent, Watcher, Watches, watch};

use crate::completion::{Answer, Completion, Completions};
use session::Session;

/// What carries requests to a server and brings the answers back.
pub trait Transport {
    /// Sends a request. The completion gets the answer, or the error that says what is known about it. A watcher,
    /// for a request that leaves a watch, is registered when the answer arrives; one for a request that takes watches
    /// back is the only one that is forgotten.
    fn submit(&self, request: Request, watcher: Option<Watcher>, completion: Completion<Reply>);
    /// Sends a request whose answer a callback is to get: on the thread of the client on which events are told, and in
    /// turn with them. It leaves no watch.
    fn submit_in_background(&self, request: Request, completion: Completion<Reply>);
    /// Registers a watcher for the session alone: it gets each change of the connection's state.
    fn watch_session(&self, watcher: Watcher);
    /// Says who the client is, now and after each reconnect.
    fn authenticate(&self, scheme: &str, secret: &[u8]);
    /// The application begins to run a callback on the event thread: events wait until as many have ended as have
    /// begun. Nothing waits for a transport that has no such thread.
    fn callback_begins(&self) {}
    /// A callback of the application has returned.
    fn callback_ends(&self) {}
    /// The state of the session as the client knows it.
    fn state(&self) -> SessionState;
    /// The id of the session; zero before the first connection.
    fn session(&self) -> SessionId;
    /// The timeout of the session, as it was granted; before that, as it was asked for.
    fn timeout(&self) -> Duration;
    /// Gives up this session without a word, as if it had expired, and opens another with the same settings.
    fn renew(&self) -> ZooKeeper;
    /// Ends the session.
    fn close(&self, completion: Completion<Reply>);
}

/// A ZooKeeper session. A call sends its request at once, or when it is first polled: so await it where you call.
#[derive(Clone)]
pub struct ZooKeeper {
    session: Rc<Session>,
    /// Callbacks get its answers.
    in_background: bool,
}

impl ZooKeeper {
    /// Wraps a transport.
    pub fn new(transport: impl Transport + 'static) -> Self {
        Self {
            session: Rc::new(Session {
                answers: Completions::default(),
                watches: Watches::default(),
                transport,
            }),
            in_background: false,
        }
    }

    /// The same session, for calls that no thread waits for: their answers come in turn with events.
    #[must_use]
    pub fn in_background(&self) -> Self {
        Self {
            in_background: true,
            ..self.clone()
        }
    }

    fn ask(&self, request: Request, watcher: Option<Watcher>) -> Answer<Reply> {
        let (completion, answer) = self.session.answers.completion();
        if self.in_background && watcher.is_none() {
            self.session
                .transport
                .submit_in_background(request, completion);
        } else {
            self.session.transport.submit(request, watcher, completion);
        }
        answer
    }

    /// Makes a node; answers its path, which for a sequential mode ends in ten digits.
    ///
    /// # Errors
    ///
    /// `NoNode` if the parent is missing, `NodeExists`, `NoChildrenForEphemerals`. After `ConnectionLoss` the node
    /// may have been made.
    pub async fn create(
        &self,
        path: &Path,
        data: impl Into<Data>,
        mode: CreateMode,
    ) -> ZkResult<Path> {
        let request = Request::create(Path::clone(path), data, mode, Acl::OPEN, false);
        match self.ask(request, None).await? {
            Response::Created { path, .. } => Ok(path),
            other => unexpected("create", &other),
        }
    }

    /// Makes a node; answers its path and its stat (ZooKeeper 3.5 and later: `create2`).
    ///
    /// # Errors
    ///
    /// As for [`create`](Self::create).
    pub fn create_with_stat(
        &self,
        path: &Path,
        data: impl Into<Data>,
        mode: CreateMode,
    ) -> impl Future<Output = ZkResult<(Path, Stat)>> {
        let request = Request::create(Path::clone(path), data, mode, Acl::OPEN, true);
        self.call(request, |reply| match reply? {
            Response::Created {
                path,
                stat: Some(stat),
            } => Ok((path, *stat)),
            other => unexpected("create_with_stat", &other),
        })
    }

    /// Deletes a node, of this version only if one is given.
    ///
    /// # Errors
    ///
    /// `NoNode`, `BadVersion`, `NotEmpty`. After `ConnectionLoss` it may be gone.
    pub fn delete(
        &self,
        path: &Path,
        version: Option<Version>,
    ) -> impl Future<Output = ZkResult<()>> {
        let request = Request::Delete {
            path: Path::clone(path),
            version,
        };
        self.call(request, |reply| match reply? {
            Response::Deleted => Ok(()),
            other => unexpected("delete", &other),
        })
    }

    /// The stat of a node, or `None` if there is no such node.
    ///
    /// # Errors
    ///
    /// `ConnectionLoss`, `SessionExpired`.
    pub fn exists(&self, path: &Path) -> impl Future<Output = ZkResult<Option<Stat>>> {
        let request = Request::Exists {
            path: Path::clone(path),
            watch: false,
        };
        self.call(request, as_stat)
    }

    /// The stat of a node, or `None`; and a watch, which fires when the node is made, changed, or deleted.
    ///
    /// # Errors
    ///
    /// `ConnectionLoss`, `SessionExpired`.
    pub fn exists_and_watch(
        &self,
        path: &Path,
    ) -> impl Future<Output = ZkResult<(Option<Stat>, Watch)>> {
        let request = Request::Exists {
            path: Path::clone(path),
            watch: true,
        };
        self.call_and_watch(request, |reply, watch| Ok((as_stat(reply)?, watch)))
    }

    /// The data of a node.
    ///
    /// # Errors
    ///
    /// `NoNode`, `ConnectionLoss`, `SessionExpired`.
    pub fn data(&self, path: &Path) -> impl Future<Output = ZkResult<(Data, Stat)>> {
        let request = Request::GetData {
            path: Path::clone(path),
            watch: false,
        };
        self.call(request, |reply| match reply? {
            Response::Data { data, stat } => Ok((data, *stat)),
            other => unexpected("data", &other),
        })
    }

    /// The data of a node, and a watch, which fires when the node is changed or deleted.
    ///
    /// # Errors
    ///
    /// `NoNode` (then no watch is left), `ConnectionLoss`, `SessionExpired`.
    pub fn data_and_watch(
        &self,
        path: &Path,
    ) -> impl Future<Output = ZkResult<(Data, Stat, Watch)>> {
        let request = Request::GetData {
            path: Path::clone(path),
            watch: true,
        };
        self.call_and_watch(request, |reply, watch| match reply? {
            Response::Data { data, stat } => Ok((data, *stat, watch)),
            other => unexpected("data_and_watch", &other),
        })
    }

    /// Sets the data of a node, of this version only if one is given.
    ///
    /// # Errors
    ///
    /// `NoNode`, `BadVersion`. After `ConnectionLoss` it may be set.
    pub async fn set_data(
        &self,
        path: &Path,
        data: impl Into<Data>,
        version: Option<Version>,
    ) -> ZkResult<Stat> {
        let request = Request::SetData {
            path: Path::clone(path),
            data: data.into(),
            version,
        };
        match self.ask(request, None).await? {
            Response::Set(stat) => Ok(*stat),
            other => unexpected("set_data", &other),
        }
    }

    /// Waits until the server that we are connected to has applied all that the leader had proposed.
    ///
    /// # Errors
    ///
    /// `ConnectionLoss`, `SessionExpired`.
    pub async fn sync(&self, path: &Path) -> ZkResult<()> {
        match self
            .ask(
                Request::Sync {
                    path: Path::clone(path),
                },
                None,
            )
            .await?
        {
            Response::Synced => Ok(()),
            other => unexpected("sync", &other),
        }
    }

    /// Does all of these, or none.
    ///
    /// # Errors
    ///
    /// The error of the first operation that cannot be done.
    pub async fn multi(&self, ops: Vec<Op>) -> ZkResult<Vec<OpResult>> {
        match self.ask(Request::Multi(ops.into()), None).await? {
            Response::Multi(results) => Ok(results),
            Response::MultiFailed(failed) => Err(failed.error),
            other => unexpected("multi", &other),
        }
    }

    /// A watch that gets each change of the session's state, and nothing else.
    pub fn session_events(&self) -> Watch {
        let (watcher, watch) = self.session.watches.watch();
        self.session.transport.watch_session(watcher);
        watch
    }

    /// The state of the session as the client knows it.
    pub fn state(&self) -> SessionState {
        self.session.transport.state()
    }

    /// The id of the session; zero before the first connection.
    pub fn session(&self) -> SessionId {
        self.session.transport.session()
    }

    /// The timeout of the session, as it was granted; before that, as it was asked for.
    pub fn timeout(&self) -> Duration {
        self.session.transport.timeout()
    }

    /// Gives up this session without a word, as if it had expired, and opens another with the same settings.
    pub fn renew(&self) -> Self {
        self.session.transport.renew()
    }

    /// Resolves when the session is known to be gone.
    pub async fn session_lost(&self) {
        let watch = self.session_events();
        while self.state() != SessionState::Closed {
            watch.next().await;
        }
    }

    /// Ends the session, and with it its ephemeral nodes.
    ///
    /// # Errors
    ///
    /// `ConnectionLoss`, `SessionExpired`.
    pub async fn close(&self) -> ZkResult<()> {
        let (completion, answer) = self.session.answers.completion();
        self.session.transport.close(completion);
        answer.await.map(|_| ())
    }
}

fn as_stat(reply: Reply) -> ZkResult<Option<Stat>> {
    match reply {
        Ok(Response::Exists(stat)) => Ok(Some(*stat)),
        Err(ZkError::NoNode) => Ok(None),
        Ok(other) => unexpected("exists", &other),
        Err(error) => Err(error),
    }
}

/// A transport that answers a create with a list of children has a bug; nothing a user does can cause it.
#[cold]
fn unexpected<T>(call: &str, response: &Response) -> T {
    panic!("the transport answered {call} with {response:?}")
}

/// Repeats a call that may be repeated until it is answered one way or the other: `ConnectionLoss` is no answer.
///
/// # Errors
///
/// Every error but `ConnectionLoss`, and those that say as little.
pub async fn until_answered<T>(mut call: impl AsyncFnMut() -> ZkResult<T>) -> ZkResult<T> {
    loop {
        match call().await {
            Err(ZkError::ConnectionLoss | ZkError::NoServer | ZkError::RequestTimeout) => {}
            answer => return answer,
        }
    }
}
