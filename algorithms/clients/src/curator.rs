//! A framework over the ZooKeeper handle, as Apache Curator has it: it repeats what may be repeated, recognises nodes
//! whose making was not answered, deletes what is to be deleted however long that takes, tells in what state the
//! connection is, and opens a new session when the old one is gone.
//!
//! # Source
//!
//! Apache Curator 5.4: `CuratorFramework`, `RetryLoop`, `CreateBuilderImpl`, `ProtectedMode`, `FailedDeleteManager`,
//! `ConnectionStateManager`; Tech Notes 10, 12, and 14.

mod create;
mod delete;
mod listener;
mod retry;
mod state;

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::time::Duration;

pub use create::Protection;
pub use listener::Listener;
pub use retry::RetryPolicy;
pub use state::{ConnectionState, ErrorPolicy, ErrorState};

use crate::completion::{Completion, completion};
use crate::env::{Env, LocalFuture};
use crate::timeout;
use crate::zookeeper::{Data, SessionState, ZkError, ZkResult, ZooKeeper};
use listener::Pending;

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CuratorConfig {
    /// How often a call is repeated, and how long it waits in between.
    pub retry: RetryPolicy,
    /// How long a call waits for a connection before it tries without one: `connectionTimeoutMs`.
    pub connection_timeout: Duration,
    /// For how much of the session timeout, in percent, a connection may be lost before the session is given up:
    /// `simulatedSessionExpirationPercent`.
    pub expiration_percent: u32,
}

impl Default for CuratorConfig {
    fn default() -> Self {
        Self {
            retry: RetryPolicy::ExponentialBackoffRetry {
                base: Duration::from_secs(1),
                retries: 3,
            },
            connection_timeout: Duration::from_secs(15),
            expiration_percent: 100,
        }
    }
}

/// A client of ZooKeeper that outlives its sessions.
#[derive(Clone)]
pub struct Curator(Rc<Shared>);

struct Shared {
    env: Env,
    settings: CuratorConfig,
    /// The data of nodes that are created without any: `defaultData`, by default the address of the client's host.
    default_data: Data,
    /// The session that there is.
    zk: RefCell<ZooKeeper>,
    state: Cell<ConnectionState>,
    /// How often the session was lost, and how often the connection.
    losses: Cell<u64>,
    suspensions: Cell<u64>,
    /// Tasks that wait for a change of the state.
    waiters: RefCell<Vec<Completion<()>>>,
    /// Listeners that receive each state.
    listeners: RefCell<Vec<Weak<Pending>>>,
}

impl Curator {
    /// Begins with this session.
    pub fn new(zk: ZooKeeper, env: Env, settings: CuratorConfig) -> Self {
        let curator = Self(Rc::new(Shared {
            default_data: Data::from(env.host().as_bytes()),
            env,
            settings,
            zk: RefCell::new(zk),
            state: Cell::new(ConnectionState::Connecting),
            losses: Cell::new(0),
            suspensions: Cell::new(0),
            waiters: RefCell::default(),
            listeners: RefCell::default(),
        }));
        let driven = curator.clone();
        curator.0.env.spawn(async move { driven.drive().await });
        curator
    }

    /// The framework over a client: all locks that a process builds on it share one. The first begins with this
    /// session.
    pub fn of_process(zk: ZooKeeper, env: Env, settings: CuratorConfig) -> Self {
        let begun = env.client_wide(|| Self::new(zk, env.clone(), settings));
        Self::clone(&begun)
    }

    /// The session that there is.
    pub fn zookeeper(&self) -> ZooKeeper {
        self.0.zk.borrow().clone()
    }

    /// The environment of its process.
    pub fn env(&self) -> &Env {
        &self.0.env
    }

    /// The policy by which it repeats calls.
    pub fn retry_policy(&self) -> RetryPolicy {
        self.0.settings.retry
    }

    /// Calls, and repeats the call for as long as the policy allows if it may be repeated: after `ConnectionLoss`,
    /// `SessionMoved`, and `SessionExpired` too, then silently in a new session.
    ///
    /// # Errors
    ///
    /// The error of the last call.
    pub async fn call_with_retry<T>(
        &self,
        call: impl AsyncFnMut(&ZooKeeper) -> ZkResult<T>,
    ) -> ZkResult<T> {
        self.repeat(call, |pause| self.env().pause(pause)).await
    }

    /// The same in the background: answers come in turn with events, and no thread waits for them.
    ///
    /// # Errors
    ///
    /// The error of the last call.
    pub async fn call_in_background<T>(
        &self,
        mut call: impl AsyncFnMut(&ZooKeeper) -> ZkResult<T>,
    ) -> ZkResult<T> {
        let call = async |zk: &ZooKeeper| call(&zk.in_background()).await;
        self.repeat(call, |pause| self.env().sleep(pause)).await
    }

    /// The same, with pauses of a kind.
    async fn repeat<T>(
        &self,
        mut call: impl AsyncFnMut(&ZooKeeper) -> ZkResult<T>,
        pauses: impl Fn(Duration) -> LocalFuture<'static, ()>,
    ) -> ZkResult<T> {
        let began = self.env().monotonic();
        let mut retries = 0;
        // Once: a call that is repeated fails as soon as the next attempt to connect does.
        self.block_until_connected_or_timed_out().await;
        loop {
            let error = match call(&self.zookeeper()).await {
                Err(error) if should_retry(error) => error,
                answer => return answer,
            };
            let elapsed = self.env().monotonic().saturating_sub(began);
            let Some(pause) = self
                .retry_policy()
                .allow_retry(retries, elapsed, self.env())
            else {
                return Err(error);
            };
            retries += 1;
            pauses(pause).await;
        }
    }

    /// Waits until there is a connection, but no longer than is set.
    async fn block_until_connected_or_timed_out(&self) {
        if self.is_connected() {
            return;
        }
        let connected = self.block_until_connected();
        timeout(self.env(), self.0.settings.connection_timeout, connected).await;
    }

    /// Waits until there is a connection.
    pub async fn block_until_connected(&self) {
        while !self.is_connected() {
            self.changed().await;
        }
    }

    /// Whether there is a connection. The handle knows first: a task that its loss wakes must not get ahead of the
    /// state.
    fn is_connected(&self) -> bool {
        let handle = self.zookeeper().state();
        let connected = [SessionState::Connected, SessionState::ConnectedReadOnly];
        self.state().is_connected() && connected.contains(&handle)
    }

    /// Waits for the next change of the state.
    async fn changed(&self) {
        let (told, changed) = completion();
        self.0.waiters.borrow_mut().push(told);
        changed.await;
    }
}

/// Whether it makes sense to ask again: `RetryLoop.shouldRetry`.
fn should_retry(error: ZkError) -> bool {
    match error {
        ZkError::ConnectionLoss
        | ZkError::SessionMoved
        | ZkError::SessionExpired
        | ZkError::NoServer
        | ZkError::RequestTimeout => true,
        ZkError::NoNode
        | ZkError::NodeExists
        | ZkError::BadVersion
        | ZkError::NotEmpty
        | ZkError::NoChildrenForEphemerals
        | ZkError::BadArguments
        | ZkError::MarshallingError
        | ZkError::RuntimeInconsistency
        | ZkError::NoAuth
        | ZkError::InvalidAcl
        | ZkError::AuthFailed
        | ZkError::NoWatcher
        | ZkError::QuotaExceeded
        | ZkError::Throttled
        | ZkError::Unimplemented
        | ZkError::ReconfigDisabled
        | ZkError::NotReadOnly => false,
    }
}
