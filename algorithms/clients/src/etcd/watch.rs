//! Watches: the two ends of each.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::task::Poll;

use super::{EtcdError, EtcdResult, Event, Transport};
use crate::completion::Waiting;

#[derive(Default)]
struct Slot {
    events: RefCell<VecDeque<Event>>,
    ended: Cell<Option<EtcdError>>,
    waiting: Waiting,
}

/// The end to which the client library delivers.
#[derive(Clone)]
pub struct WatchListener(Weak<Slot>);

/// A watch. To drop it is to end it.
pub struct Watch {
    slot: Rc<Slot>,
    transport: Rc<dyn Transport>,
    number: Cell<u64>,
}

/// Makes the two ends of a watch.
pub fn watch(transport: &Rc<dyn Transport>) -> (WatchListener, Watch) {
    let slot = Rc::new(Slot::default());
    let watch = Watch {
        slot: Rc::clone(&slot),
        transport: Rc::clone(transport),
        number: Cell::new(0),
    };
    (WatchListener(Rc::downgrade(&slot)), watch)
}

impl WatchListener {
    /// Delivers events of one answer.
    pub fn deliver(&self, events: impl IntoIterator<Item = Event>) {
        if let Some(slot) = self.0.upgrade() {
            slot.events.borrow_mut().extend(events);
            slot.waiting.wake();
        }
    }

    /// The watch is over.
    pub fn end(&self, why: EtcdError) {
        if let Some(slot) = self.0.upgrade() {
            slot.ended.set(Some(why));
            slot.waiting.wake();
        }
    }
}

impl Watch {
    pub(super) fn begun(&self, number: u64) {
        self.number.set(number);
    }

    /// The next event.
    ///
    /// # Errors
    ///
    /// Why the watch is over.
    pub async fn next(&self) -> EtcdResult<Event> {
        poll_fn(|context| {
            if let Some(event) = self.slot.events.borrow_mut().pop_front() {
                return Poll::Ready(Ok(event));
            }
            if let Some(why) = self.slot.ended.get() {
                return Poll::Ready(Err(why));
            }
            self.slot.waiting.wait(context);
            Poll::Pending
        })
        .await
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.transport.end_watch(self.number.get());
    }
}
