//! Leases that are kept alive: the two ends of each.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::task::Poll;

use super::{LeaseId, Transport};
use crate::completion::Waiting;

#[derive(Default)]
struct Slot {
    ended: Cell<bool>,
    waiting: Waiting,
}

/// The end that the client library tells that the lease is over.
#[derive(Clone)]
pub struct KeepAliveListener(Weak<Slot>);

/// A lease that is kept alive in the background. To drop it is to stop that: the lease then ends by itself.
pub struct KeepAlive {
    slot: Rc<Slot>,
    transport: Rc<dyn Transport>,
    lease: LeaseId,
}

/// Makes the two ends.
pub fn keep_alive(transport: &Rc<dyn Transport>, lease: LeaseId) -> (KeepAliveListener, KeepAlive) {
    let slot = Rc::new(Slot::default());
    let kept = KeepAlive {
        slot: Rc::clone(&slot),
        transport: Rc::clone(transport),
        lease,
    };
    (KeepAliveListener(Rc::downgrade(&slot)), kept)
}

impl KeepAliveListener {
    /// The lease is over, or was not renewed in time.
    pub fn end(&self) {
        if let Some(slot) = self.0.upgrade() {
            slot.ended.set(true);
            slot.waiting.wake();
        }
    }
}

impl KeepAlive {
    /// Whether the client library has given the lease up.
    pub fn has_ended(&self) -> bool {
        self.slot.ended.get()
    }

    /// Resolves when the client library gives the lease up: a member has answered that there is none, or none has
    /// answered for as long as it was granted.
    pub async fn ended(&self) {
        poll_fn(|context| {
            if self.has_ended() {
                return Poll::Ready(());
            }
            self.slot.waiting.wait(context);
            Poll::Pending
        })
        .await;
    }
}

impl Drop for KeepAlive {
    fn drop(&mut self) {
        self.transport.end_keep_alive(self.lease);
    }
}
