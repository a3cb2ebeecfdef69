//! A handle to a Chubby cell, as the paper describes its client library (Burrows, OSDI 2006).
//!
//! [`Chubby`] opens files; a [`Handle`] has an `async` method for each call of section 2.6 that locks make, over one
//! narrow [`Transport`]. Calls wait while the session is in jeopardy: the library below sees to that.

mod display;
mod handle;
mod message;

use std::rc::Rc;

use thiserror::Error;

pub use handle::{Handle, SessionListener, SessionState};
pub use message::{
    ClientBody, ClientMessage, ContentsAndStat, Epoch, HandleData, HandleId, LockMode, OpenOptions,
    Request, Response, Sequencer, ServerBody, ServerMessage, SessionId,
};

use crate::completion::Completion;

/// What a call comes to.
pub type ChubbyResult<T> = Result<T, ChubbyError>;

/// Why a call has failed. But for [`SessionExpired`](Self::SessionExpired), nothing was done.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ChubbyError {
    /// The session is over: no answer came in the grace period, or the master has said so. The call may have been done.
    #[error("the session has expired")]
    SessionExpired,
    /// The handle is closed or poisoned, or its instance of the file was deleted.
    #[error("the handle is invalid")]
    InvalidHandle,
    /// There is no such file, and it was not to be created.
    #[error("there is no such file")]
    NoSuchFile,
    /// The content generation is another than the one that was given.
    #[error("the content generation is another")]
    WrongGeneration,
    /// The handle does not hold the lock.
    #[error("the handle does not hold the lock")]
    NotHeld,
    /// The sequencer of the handle is not valid any more.
    #[error("the sequencer is not valid any more")]
    StaleSequencer,
    /// The master has answered something else than it was asked.
    #[error("the answer is not one to the request")]
    Unexpected,
}

/// What carries calls to the master and brings the answers back: the client library below the handles.
pub trait Transport {
    /// A new handle, which hears of its session by a listener. Answers its number.
    fn new_handle(&self, listener: SessionListener) -> HandleId;
    /// Makes a call by a handle. Answers the number by which it is given up.
    fn call(
        &self,
        handle: HandleId,
        request: Request,
        completion: Completion<ChubbyResult<Response>>,
    ) -> u32;
    /// Gives up a call, if it has no answer yet.
    fn give_up(&self, call: u32);
    /// Closes a handle.
    fn close(&self, handle: HandleId);
    /// Lets every call of a handle fail that is under way, and every later one.
    fn poison(&self, handle: HandleId);
}

/// A client of a cell, as a process shares it.
#[derive(Clone)]
pub struct Chubby {
    transport: Rc<dyn Transport>,
}

impl Chubby {
    /// Wraps a transport.
    pub fn new(transport: impl Transport + 'static) -> Self {
        Self {
            transport: Rc::new(transport),
        }
    }

    /// `Open`: a handle to a file.
    ///
    /// # Errors
    ///
    /// Any [`ChubbyError`].
    pub async fn open(&self, name: &str, options: OpenOptions) -> ChubbyResult<Handle> {
        let handle = Handle::new(Rc::clone(&self.transport));
        match handle.call(Request::Open(name.into(), options)).await? {
            Response::Opened(_) => Ok(handle),
            _ => Err(ChubbyError::Unexpected),
        }
    }
}
