//! The lease server: a lock server that knows one request. It is the smallest service that a lock can stand on.

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use thiserror::Error;

use crate::completion::{Completion, completion};
use crate::{Env, timeout};

/// The one request: a client claims the lock for so long. Its holder extends its lease by it; a claim for no time at
/// all gives the lock back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The unique number of the client.
    pub by: u64,
    /// For how long, from the moment at which the server reads it.
    pub lease: Duration,
}

impl fmt::Display for Claim {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { by, lease } = self;
        match lease.is_zero() {
            true => write!(out, "give back by {by:x}"),
            false => write!(out, "claim by {by:x} for {} ms", lease.as_millis()),
        }
    }
}

/// What the server says to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The lock is the claimant's, or, if it was given back, was.
    Granted {
        /// A number that rises with each owner.
        token: u64,
    },
    /// It is another's; or, if it was to be given back, not the claimant's.
    Refused,
}

impl fmt::Display for Reply {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Granted { token } => write!(out, "granted, token {token}"),
            Self::Refused => write!(out, "refused"),
        }
    }
}

/// No answer came in time, or the connection broke. The claim may have been granted.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the lease server has not answered")]
pub struct Unanswered;

/// What stands behind a handle.
pub trait Transport {
    /// Sends a claim. The completion is filled when the answer is there, or will not come.
    fn submit(&self, claim: Claim, completion: Completion<Result<Reply, Unanswered>>);
}

/// A client of the lease server, which waits for an answer for so long. It asks one thing at a time.
#[derive(Clone)]
pub struct LeaseServer {
    transport: Rc<dyn Transport>,
    env: Env,
    timeout: Duration,
}

impl LeaseServer {
    /// A client over a transport.
    pub fn new(transport: impl Transport + 'static, env: Env, timeout: Duration) -> Self {
        Self {
            transport: Rc::new(transport),
            env,
            timeout,
        }
    }

    /// Claims the lock for so long, or gives it back.
    ///
    /// # Errors
    ///
    /// [`Unanswered`]: then the lock may or may not be granted.
    pub async fn claim(&self, by: u64, lease: Duration) -> Result<Reply, Unanswered> {
        let (done, answer) = completion();
        self.transport.submit(Claim { by, lease }, done);
        let answered = timeout(&self.env, self.timeout, answer).await;
        answered.unwrap_or(Err(Unanswered))
    }
}
