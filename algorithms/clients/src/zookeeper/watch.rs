//! Watches: the two ends of a notification.

use std::cell::Cell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::{Path, SessionState};
use crate::completion::{Waiting, take_spare};

/// What a watcher is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedEvent {
    /// What happened.
    pub kind: EventType,
    /// To which node; empty for a change of the session's state.
    pub path: Path,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventType {
    /// The session's state changed: `Connecting` when the connection was lost, `Connected` when there is one
    /// again, `Closed` when the session is gone. Every watcher is told, and stays registered. Nothing is said about
    /// the node.
    Session(SessionState),
    /// The node was made.
    NodeCreated,
    /// The node was deleted.
    NodeDeleted,
    /// The node's data was set.
    NodeDataChanged,
    /// A child of the node came or went.
    NodeChildrenChanged,
    /// A watch on the node's data was taken back, or one that waited for its making.
    DataWatchRemoved,
    /// A watch on the node's children was taken back.
    ChildWatchRemoved,
    /// A watch that stays was taken back.
    PersistentWatchRemoved,
}

impl EventType {
    /// Whether this is about the session and not about a node.
    pub fn is_session(self) -> bool {
        matches!(self, Self::Session(_))
    }
}

#[derive(Default)]
struct Slot {
    /// The event that comes next, and those that come after it.
    first: Cell<Option<WatchedEvent>>,
    #[expect(
        clippy::box_collection,
        reason = "almost always empty, and then a pointer is all it costs"
    )]
    more: Cell<Option<Box<VecDeque<WatchedEvent>>>>,
    waiting: Waiting,
    /// The watch was dropped: no task waits any more.
    forgotten: Cell<bool>,
    /// A client has registered it.
    registered: Cell<bool>,
}

/// The end that the client tells.
#[derive(Clone)]
pub struct Watcher(Rc<Slot>);

/// The end that waits to be told.
pub struct Watch(Rc<Slot>);

/// Makes the two ends of a watch.
pub fn watch() -> (Watcher, Watch) {
    let slot = Rc::new(Slot::default());
    (Watcher(Rc::clone(&slot)), Watch(slot))
}

/// Makes the ends of one watch after the other. A caller that watches again only when the last watch has come to its
/// end, or the one before it, needs no new memory.
#[derive(Default)]
pub struct Watches {
    last: Cell<Option<Rc<Slot>>>,
    before: Cell<Option<Rc<Slot>>>,
}

impl Watches {
    /// Makes the two ends of a watch.
    pub fn watch(&self) -> (Watcher, Watch) {
        let last = self.last.take();
        if last.as_ref().is_some_and(|last| Rc::strong_count(last) > 1) {
            self.last.set(self.before.replace(last));
        } else {
            self.last.set(last);
        }
        let slot = take_spare(&self.last);
        slot.first.take();
        slot.more.take();
        slot.waiting.forget();
        slot.forgotten.set(false);
        slot.registered.set(false);
        (Watcher(Rc::clone(&slot)), Watch(slot))
    }
}

impl Watch {
    /// The end that is told.
    pub(super) fn watcher(&self) -> Watcher {
        Watcher(Rc::clone(&self.0))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.forgotten.set(true);
    }
}

impl Watcher {
    /// Delivers an event. Events that are not yet taken queue up.
    pub fn deliver(&self, event: WatchedEvent) {
        match self.0.first.take() {
            None => self.0.first.set(Some(event)),
            first => {
                self.0.first.set(first);
                let mut more = self.0.more.take().unwrap_or_default();
                more.push_back(event);
                self.0.more.set(Some(more));
            }
        }
        self.0.waiting.wake();
    }

    /// Whether the watch of this watcher was dropped.
    pub fn is_forgotten(&self) -> bool {
        self.0.forgotten.get()
    }

    /// A client registers it. Answers whether one has done so before.
    pub fn register(&self) -> bool {
        self.0.registered.replace(true)
    }

    /// Whether both are the same watcher object.
    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Watch {
    /// The next event of any kind. Being told is not knowing: look again.
    pub fn next(&self) -> impl Future<Output = WatchedEvent> {
        poll_fn(|context| self.poll_next(context))
    }

    #[inline(always)]
    fn poll_next(&self, context: &Context<'_>) -> Poll<WatchedEvent> {
        if let Some(event) = self.0.first.take() {
            if let Some(mut more) = self.0.more.take() {
                self.0.first.set(more.pop_front());
                self.0.more.set(Some(more).filter(|more| !more.is_empty()));
            }
            return Poll::Ready(event);
        }
        self.0.waiting.wait(context);
        Poll::Pending
    }

    /// The next event about the node, passing over changes of the session's state.
    ///
    /// # Errors
    ///
    /// [`SessionClosed`] when the session is gone: nothing will come any more.
    pub async fn next_about_node(&self) -> Result<WatchedEvent, SessionClosed> {
        loop {
            let event = self.next().await;
            match event.kind {
                EventType::Session(SessionState::Closed) => return Err(SessionClosed),
                EventType::Session(_) => {}
                EventType::NodeCreated
                | EventType::NodeDeleted
                | EventType::NodeDataChanged
                | EventType::NodeChildrenChanged
                | EventType::DataWatchRemoved
                | EventType::ChildWatchRemoved
                | EventType::PersistentWatchRemoved => return Ok(event),
            }
        }
    }
}

/// The session ended while we were waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionClosed;
