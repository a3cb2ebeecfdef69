//! Handles: an open file, in a session.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::task::Poll;

use super::{
    ChubbyError, ChubbyResult, ContentsAndStat, HandleId, LockMode, Request, Response, Sequencer,
    Transport,
};
use crate::completion::{Waiting, completion};

/// What the library knows of a session (section 2.8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionState {
    /// Its lease has not ended by the local clock.
    #[default]
    Safe,
    /// The local lease has ended: the session may be over or not. Calls wait.
    Jeopardy,
    /// It is over.
    Expired,
}

#[derive(Default)]
struct Slot {
    state: Cell<SessionState>,
    waiting: Waiting,
}

/// The end of a handle that the library tells what becomes of its session.
#[derive(Clone, Default)]
pub struct SessionListener(Weak<Slot>);

impl SessionListener {
    /// The session is in another state.
    pub fn changed(&self, state: SessionState) {
        if let Some(slot) = self.0.upgrade() {
            slot.state.set(state);
            slot.waiting.wake();
        }
    }
}

/// Gives up a call whose caller is dropped. One that is answered is not there any more.
pub(super) struct GivenUp<'t> {
    transport: &'t dyn Transport,
    call: u32,
}

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        self.transport.give_up(self.call);
    }
}

/// An open file. Dropping it closes it, and a closed handle holds no lock.
pub struct Handle {
    transport: Rc<dyn Transport>,
    slot: Rc<Slot>,
    id: HandleId,
}

impl Handle {
    pub(super) fn new(transport: Rc<dyn Transport>) -> Self {
        let slot = Rc::new(Slot::default());
        let id = transport.new_handle(SessionListener(Rc::downgrade(&slot)));
        Self {
            transport,
            slot,
            id,
        }
    }

    pub(super) async fn call(&self, request: Request) -> ChubbyResult<Response> {
        let (done, answer) = completion();
        let call = self.transport.call(self.id, request, done);
        let _given_up = GivenUp {
            transport: &*self.transport,
            call,
        };
        answer.await
    }

    /// `Poison`: calls that are under way fail, and later ones, without closing the handle.
    pub fn poison(&self) {
        self.transport.poison(self.id);
    }

    /// `GetContentsAndStat`: the whole file, and its generations.
    ///
    /// # Errors
    ///
    /// Any [`ChubbyError`].
    pub async fn get_contents_and_stat(&self) -> ChubbyResult<ContentsAndStat> {
        match self.call(Request::GetContentsAndStat).await? {
            Response::Contents(contents) => Ok(contents),
            _ => Err(ChubbyError::Unexpected),
        }
    }

    /// `SetContents`: writes the whole file, if its content generation is this one.
    ///
    /// # Errors
    ///
    /// Any [`ChubbyError`].
    pub async fn set_contents(&self, contents: &str, generation: Option<u64>) -> ChubbyResult<()> {
        let set = Request::SetContents(contents.into(), generation);
        self.call(set).await.map(drop)
    }

    /// `Delete`: deletes the file. Every handle to it is invalid from then on.
    ///
    /// # Errors
    ///
    /// Any [`ChubbyError`].
    pub async fn delete(&self) -> ChubbyResult<()> {
        self.call(Request::Delete).await.map(drop)
    }

    /// `Acquire`: waits for the lock of the file.
    ///
    /// # Errors
    ///
    /// Any [`ChubbyError`].
    pub async fn acquire(&self, mode: LockMode) -> ChubbyResult<()> {
        self.call(Request::Acquire(mode)).await.map(drop)
    }

    /// `TryAcquire`: whether the lock was free, and is held now.
    ///
    /// # Errors
    ///
    /// Any [`ChubbyError`].
    pub async fn try_acquire(&self, mode: LockMode) -> ChubbyResult<bool> {
        match self.call(Request::TryAcquire(mode)).await? {
            Response::Done(done) => Ok(done),
            _ => Err(ChubbyError::Unexpected),
        }
    }

    /// `Release`: gives the lock back; it is free at once.
    ///
    /// # Errors
    ///
    /// Any [`ChubbyError`].
    pub async fn release(&self) -> ChubbyResult<()> {
        self.call(Request::Release).await.map(drop)
    }

    /// `GetSequencer`: describes the lock as it is held now.
    ///
    /// # Errors
    ///
    /// Any [`ChubbyError`].
    pub async fn get_sequencer(&self) -> ChubbyResult<Sequencer> {
        match self.call(Request::GetSequencer).await? {
            Response::Sequencer(sequencer) => Ok(sequencer),
            _ => Err(ChubbyError::Unexpected),
        }
    }

    /// `SetSequencer`: calls of this handle fail as soon as the sequencer is not valid any more.
    ///
    /// # Errors
    ///
    /// Any [`ChubbyError`].
    pub async fn set_sequencer(&self, sequencer: Sequencer) -> ChubbyResult<()> {
        self.call(Request::SetSequencer(sequencer)).await.map(drop)
    }

    /// `CheckSequencer`: whether the lock that a sequencer describes is held still.
    ///
    /// # Errors
    ///
    /// Any [`ChubbyError`].
    pub async fn check_sequencer(&self, sequencer: Sequencer) -> ChubbyResult<bool> {
        match self.call(Request::CheckSequencer(sequencer)).await? {
            Response::Done(done) => Ok(done),
            _ => Err(ChubbyError::Unexpected),
        }
    }

    /// What the library knows of the session.
    pub fn session(&self) -> SessionState {
        self.slot.state.get()
    }

    /// Resolves when the session is in jeopardy, or over.
    pub async fn jeopardy(&self) {
        self.until(|state| state != SessionState::Safe).await;
    }

    /// Resolves when the session is over.
    pub async fn expired(&self) {
        self.until(|state| state == SessionState::Expired).await;
    }

    async fn until(&self, is_reached: impl Fn(SessionState) -> bool) {
        poll_fn(|context| {
            if is_reached(self.session()) {
                return Poll::Ready(());
            }
            self.slot.waiting.wait(context);
            Poll::Pending
        })
        .await;
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.transport.close(self.id);
    }
}
