//! Listeners to the state of the connection.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use super::{ConnectionState, Curator};
use crate::completion::Waiting;

/// Receives each state of the connection, in order: `ConnectionStateListener`. A task that is woken late misses none.
pub struct Listener(Rc<Pending>);

/// The states that a listener has not looked at.
#[derive(Default)]
pub(super) struct Pending {
    states: RefCell<VecDeque<ConnectionState>>,
    waiting: Waiting,
}

impl Listener {
    /// The next state.
    pub async fn next(&self) -> ConnectionState {
        poll_fn(|context| match self.0.states.borrow_mut().pop_front() {
            Some(state) => Poll::Ready(state),
            None => {
                self.0.waiting.wait(context);
                Poll::Pending
            }
        })
        .await
    }

    /// Passes over what it was told up to now.
    pub fn pass_over(&self) {
        self.0.states.borrow_mut().clear();
    }
}

impl Curator {
    /// A listener, which receives every state from now on.
    pub fn listen(&self) -> Listener {
        let pending = Rc::default();
        self.0.listeners.borrow_mut().push(Rc::downgrade(&pending));
        Listener(pending)
    }

    pub(super) fn tell_listeners(&self, state: ConnectionState) {
        self.0
            .listeners
            .borrow_mut()
            .retain(|listener| match listener.upgrade() {
                Some(pending) => {
                    pending.states.borrow_mut().push_back(state);
                    pending.waiting.wake();
                    true
                }
                None => false,
            });
    }
}
