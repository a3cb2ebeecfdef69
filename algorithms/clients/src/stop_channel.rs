//! A channel that is closed once, as Go's `chan struct{}`, and that one task waits for.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use crate::completion::Waiting;

/// A channel that is closed once. Its clones are the same channel.
#[derive(Clone, Default)]
pub struct StopChannel(Rc<Slot>);

#[derive(Default)]
struct Slot {
    is_closed: Cell<bool>,
    waiting: Waiting,
}

impl StopChannel {
    /// Closes it.
    pub fn close(&self) {
        self.0.is_closed.set(true);
        self.0.waiting.wake();
    }

    /// Whether it is closed.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed.get()
    }

    /// Resolves when it is closed.
    pub async fn closed(&self) {
        poll_fn(|context| {
            if self.is_closed() {
                return Poll::Ready(());
            }
            self.0.waiting.wait(context);
            Poll::Pending
        })
        .await;
    }
}
