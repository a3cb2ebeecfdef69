//! A connection to ZooKeeper that outlives its sessions, as Go's client has it: when a session has expired, the same
//! `Conn` begins another by itself, and the application goes on with it.
//!
//! # Source
//!
//! go-zookeeper/zk 1.0, `conn.go`: `Conn.loop` (begins a session after the other, for as long as it is not closed),
//! `Conn.authenticate` (`StateExpired`, when a server answers that the session is gone), `resetSession` and
//! `invalidateWatches` (the id, the password, and the last zxid are forgotten, and each watch is told
//! `EventNotWatching`), `sendEvent`, `queueRequest`, `flushRequests`, `CreateProtectedEphemeralSequential`, `Close`.
//! How it connects and pings lies with the client: `client = "go"`.
//!
//! - What has been sent when the connection breaks fails with `ErrConnectionClosed` (here `ConnectionLoss`).
//! - A request without a connection stands in a queue, and is sent by the next, be it in a **new session**: the caller
//!   is not told that it is another. Only if every server was tried in vain, it fails with `ErrNoServer`.
//! - A watch is told `ErrSessionExpired` when its session has expired, and nothing of a connection that comes and goes.
//! - Everything else is told on one channel of events. It holds six, and loses what does not fit; an application that
//!   uses it reads it all the time. `StateDisconnected` comes with each connection that is lost, and `StateExpired`
//!   when a server says that the session is gone: not before there is a server again.
//!
//! Here, the servers are shuffled for each session, and once for all in Go.

mod create;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use crate::completion::{Completion, completion};
use crate::env::Env;
use crate::timeout;
use crate::zookeeper::{
    Children, CreateMode, Data, EventType, Path, SessionState, Watch, ZkError, ZkResult, ZooKeeper,
};

/// How long `Close` waits for its answer.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// What the channel of events says that a holder cannot pass over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// `StateDisconnected`: the connection is lost. The session may live on, or not.
    Disconnected,
    /// `StateExpired`: a server has said that the session is gone. The next one is on its way.
    Expired,
}

/// A connection.
#[derive(Clone)]
pub struct Conn(Rc<Shared>);

struct Shared {
    env: Env,
    /// The session that there is.
    zk: RefCell<ZooKeeper>,
    /// How many there have been before.
    sessions: Cell<u64>,
    /// How often the application has closed it and connected again.
    closed: Cell<u64>,
    /// How often the channel has said `StateDisconnected`, and how often `StateExpired`.
    disconnections: Cell<u64>,
    expirations: Cell<u64>,
    /// Tasks that wait for the next event.
    readers: RefCell<Vec<Completion<()>>>,
}

/// What the channel of events has said so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventsSoFar {
    disconnections: u64,
    expirations: u64,
}

impl Conn {
    /// Begins with this session.
    pub fn new(zk: ZooKeeper, env: Env) -> Self {
        let conn = Self(Rc::new(Shared {
            env,
            zk: RefCell::new(zk),
            sessions: Cell::new(0),
            closed: Cell::new(0),
            disconnections: Cell::new(0),
            expirations: Cell::new(0),
            readers: RefCell::default(),
        }));
        let driven = conn.clone();
        conn.0.env.spawn(async move { driven.drive().await });
        conn
    }

    /// The connection over a client: all locks that a process makes on it share one. The first begins with this
    /// session.
    pub fn of_process(zk: ZooKeeper, env: &Env) -> Self {
        let begun = env.client_wide(|| Self::new(zk, env.clone()));
        Self::clone(&begun)
    }

    /// What the channel of events has said so far.
    pub fn events(&self) -> EventsSoFar {
        EventsSoFar {
            disconnections: self.0.disconnections.get(),
            expirations: self.0.expirations.get(),
        }
    }

    /// Whether there is a connection, and has been since then.
    pub fn is_connected_since(&self, then: EventsSoFar) -> bool {
        self.events() == then && self.zookeeper().state() == SessionState::Connected
    }

    /// Resolves with the next event after those: `StateExpired`, or, unless they are passed over, `StateDisconnected`.
    pub async fn event_after(&self, those: EventsSoFar, disconnections_count: bool) -> State {
        loop {
            let now = self.events();
            if now.expirations > those.expirations {
                return State::Expired;
            }
            if disconnections_count && now.disconnections > those.disconnections {
                return State::Disconnected;
            }
            self.changed().await;
        }
    }

    /// The children of a node: `Children`.
    ///
    /// # Errors
    ///
    /// `NoNode`, `ConnectionLoss`, `NoServer`.
    pub async fn children(&self, path: &Path) -> ZkResult<Rc<Children>> {
        self.request(async |zk| zk.children_with_stat(path).await)
            .await
            .map(|(children, _)| children)
    }

    /// A watch on the data of a node that is there: `GetW`.
    ///
    /// # Errors
    ///
    /// `NoNode` (then no watch is left), `ConnectionLoss`, `NoServer`.
    pub async fn get_w(&self, path: &Path) -> ZkResult<EventChannel> {
        self.request(async |zk| zk.data_and_watch(path).await)
            .await
            .map(|(_, _, watch)| EventChannel(watch))
    }

    /// The data of a node: `Get`.
    ///
    /// # Errors
    ///
    /// `NoNode`, `ConnectionLoss`, `NoServer`.
    pub async fn get(&self, path: &Path) -> ZkResult<Data> {
        self.request(async |zk| zk.data(path).await)
            .await
            .map(|(data, _)| data)
    }

    /// Deletes a node, whatever its version: `Delete`.
    ///
    /// # Errors
    ///
    /// `NoNode`, `NotEmpty`, `ConnectionLoss`, `NoServer`.
    pub async fn delete(&self, path: &Path) -> ZkResult<()> {
        self.request(async |zk| zk.delete(path, None).await).await
    }

    /// Whether a node is there: `Exists`.
    ///
    /// # Errors
    ///
    /// `ConnectionLoss`, `NoServer`.
    pub async fn exists(&self, path: &Path) -> ZkResult<bool> {
        let stat = self.request(async |zk| zk.exists(path).await).await?;
        Ok(stat.is_some())
    }

    /// Makes a node: `Create`.
    ///
    /// # Errors
    ///
    /// `NoNode` if the parent is missing, `NodeExists`, `ConnectionLoss`, `NoServer`.
    pub async fn create(&self, path: &Path, data: &Data, mode: CreateMode) -> ZkResult<Path> {
        self.request(async |zk| zk.create(path, data.clone(), mode).await)
            .await
    }

    /// Closes it, and connects again: `Close` and `Connect`. What was made in its session goes with it, at once if the
    /// answer is that it is closed, and at the end of its timeout if none comes. All goes on if the future is dropped.
    pub fn close_and_connect(&self) -> impl Future<Output = bool> + use<> {
        let (done, closed) = completion();
        let conn = self.clone();
        self.0.env.spawn(async move {
            let (zk, session) = conn.present();
            conn.0.closed.set(conn.0.closed.get() + 1);
            let closed = timeout(&conn.0.env, CLOSE_TIMEOUT, zk.close()).await;
            conn.begin_session_after(session);
            done.complete(closed == Some(Ok(())));
        });
        closed
    }

    /// Asks. What was not sent when the session has expired is sent in the next one.
    async fn request<T>(&self, call: impl AsyncFn(&ZooKeeper) -> ZkResult<T>) -> ZkResult<T> {
        let closed = self.0.closed.get();
        loop {
            let (zk, session) = self.present();
            let answer = call(&zk).await;
            let queued = answer.as_ref().err() == Some(&ZkError::SessionExpired)
                && zk.state() == SessionState::Closed;
            if !queued {
                return answer;
            }
            if self.0.closed.get() != closed {
                return Err(ZkError::ConnectionLoss);
            }
            self.begin_session_after(session);
        }
    }

    fn zookeeper(&self) -> ZooKeeper {
        self.0.zk.borrow().clone()
    }

    /// The session that there is, and its number.
    fn present(&self) -> (ZooKeeper, u64) {
        (self.zookeeper(), self.0.sessions.get())
    }

    /// Begins a session in the place of this one, unless that has happened already.
    fn begin_session_after(&self, session: u64) {
        if self.0.sessions.get() == session {
            self.0.sessions.set(session + 1);
            let next = self.zookeeper().renew();
            self.0.zk.replace(next);
            self.wake_readers();
        }
    }

    /// Follows one session after the other, for as long as the process lives.
    async fn drive(&self) {
        loop {
            let closed = self.0.closed.get();
            let (zk, session) = self.present();
            self.follow(&zk).await;
            if self.0.closed.get() == closed {
                self.begin_session_after(session);
                self.send_event(State::Expired);
            } else {
                // `close_and_connect` begins the next session, and may still wait for an answer.
                while self.0.sessions.get() == session {
                    self.changed().await;
                }
            }
        }
    }

    /// Follows a session until it is gone.
    async fn follow(&self, zk: &ZooKeeper) {
        let events = zk.session_events();
        while zk.state() != SessionState::Closed {
            if let EventType::Session(state) = events.next().await.kind {
                match state {
                    SessionState::Closed => return,
                    SessionState::Connecting => self.send_event(State::Disconnected),
                    SessionState::Connected | SessionState::ConnectedReadOnly => {}
                }
            }
        }
    }

    fn send_event(&self, state: State) {
        let count = match state {
            State::Disconnected => &self.0.disconnections,
            State::Expired => &self.0.expirations,
        };
        count.set(count.get() + 1);
        self.wake_readers();
    }

    fn wake_readers(&self) {
        for reader in self.0.readers.take() {
            reader.complete(());
        }
    }

    /// Waits for the next event, or the next session.
    async fn changed(&self) {
        let (told, changed) = completion();
        self.0.readers.borrow_mut().push(told);
        changed.await;
    }
}

/// The channel of a watch.
pub struct EventChannel(Watch);

impl EventChannel {
    /// The one event that comes. Other clients than Go's may say, too, that their connection is lost, and forget the
    /// watch; that is a reason to look again.
    ///
    /// # Errors
    ///
    /// `SessionExpired`, if the watch is gone with its session.
    pub async fn event(&self) -> ZkResult<()> {
        if self.0.next().await.kind == EventType::Session(SessionState::Closed) {
            return Err(ZkError::SessionExpired);
        }
        Ok(())
    }
}
