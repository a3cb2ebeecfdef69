//! kazoo's client, as its recipes use it: a connection that outlives its sessions, and calls that are repeated.
//!
//! # Source
//!
//! kazoo 2.11: `client.py` (`KazooClient.retry`, `ensure_path`), `retry.py` (`KazooRetry`). How it connects and pings
//! lies with the client: `client = "kazoo"`.
//!
//! - When a session has expired, the same client begins another, and the application goes on in it.
//! - `KazooRetry` repeats what has failed with `ConnectionLoss`, `OperationTimeout`, or `SessionExpired`, and what a
//!   recipe wants to be repeated (`ForceRetryError`). Between two tries it sleeps for 100 ms, twice as long each time,
//!   60 s at the most, of which six to fourteen tenths are drawn. It gives up when the next try would come after its
//!   deadline.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use crate::env::Env;
use crate::zookeeper::{CreateMode, Path, SessionState, ZkError, ZkResult, ZooKeeper};

/// The first pause of `KazooRetry`, and the longest.
const DELAY: Duration = Duration::from_millis(100);
const MAX_DELAY: Duration = Duration::from_secs(60);

/// A client.
#[derive(Clone)]
pub struct KazooClient(Rc<Shared>);

struct Shared {
    env: Env,
    /// The session that there is.
    zk: RefCell<ZooKeeper>,
}

/// Why a call did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// `ForceRetryError`: the recipe wants to be called again.
    ForceRetry,
    /// `RetryFailedError`: the deadline would be over before the next try.
    RetryFailed,
    /// `LockTimeout`, or what else a recipe raises when its time is over.
    Timeout,
    /// `CancelledError`: another thread has called the recipe's `cancel`.
    Cancelled,
    /// What the client has raised.
    Keeper(ZkError),
}

impl From<ZkError> for Failed {
    fn from(error: ZkError) -> Self {
        Self::Keeper(error)
    }
}

impl Failed {
    fn is_retried(self) -> bool {
        match self {
            Self::ForceRetry => true,
            Self::RetryFailed | Self::Timeout | Self::Cancelled => false,
            Self::Keeper(error) => matches!(
                error,
                ZkError::ConnectionLoss
                    | ZkError::NoServer
                    | ZkError::RequestTimeout
                    | ZkError::SessionExpired
            ),
        }
    }
}

impl KazooClient {
    /// The client of a process: all locks that it makes on it share one. The first begins with this session.
    pub fn of_process(zk: ZooKeeper, env: &Env) -> Self {
        let begin = || {
            let zk = RefCell::new(zk);
            Self(Rc::new(Shared {
                env: env.clone(),
                zk,
            }))
        };
        Self::clone(&env.client_wide(begin))
    }

    /// The environment of the process.
    pub fn env(&self) -> &Env {
        &self.0.env
    }

    /// The session that there is; another, if the last one is gone.
    pub fn session(&self) -> ZooKeeper {
        let mut zk = self.0.zk.borrow_mut();
        if zk.state() == SessionState::Closed {
            let next = zk.renew();
            *zk = next;
        }
        zk.clone()
    }

    /// Calls until that succeeds, as `KazooRetry` does.
    ///
    /// # Errors
    ///
    /// What the call fails with, if it is not repeated; `RetryFailed`.
    pub async fn retry<T>(
        &self,
        deadline: Option<Duration>,
        mut call: impl AsyncFnMut() -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        let env = self.env();
        let until = deadline.map(|deadline| env.monotonic() + deadline);
        let mut delay = DELAY;
        loop {
            match call().await {
                Err(failed) if failed.is_retried() => {}
                done => return done,
            }
            let per_mille = u32::try_from(600 + env.random() % 801).unwrap_or(1_000);
            let sleep = delay * per_mille / 1_000;
            delay = (delay * 2).min(MAX_DELAY);
            if until.is_some_and(|until| env.monotonic() + sleep >= until) {
                return Err(Failed::RetryFailed);
            }
            env.pause(sleep).await;
        }
    }

    /// Makes a node and all that is missing above it, unless it is there: `ensure_path`.
    ///
    /// # Errors
    ///
    /// Those of the requests.
    pub async fn ensure_path(&self, path: &Path) -> ZkResult<()> {
        if self.session().exists(path).await?.is_some() {
            return Ok(());
        }
        let ends = path.match_indices('/').map(|(end, _)| end).skip(1);
        for end in ends.chain([path.len()]) {
            let parent = Path::from(&path[..end]);
            let zk = self.session();
            if zk.exists(&parent).await?.is_some() {
                continue;
            }
            match zk.create(&parent, b"", CreateMode::Persistent).await {
                // It may be another's.
                Ok(_) | Err(ZkError::NodeExists) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
