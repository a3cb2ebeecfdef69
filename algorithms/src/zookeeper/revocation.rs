//! Requests to give a lock back: what revocable locks share.
//!
//! A client that wants a lock that another holds writes a message into the data of the holder's node. The lock object
//! that made the node watches it, reads it when it has changed, and tells the holder. The holder must consent: one that
//! ignores requests keeps the lock for as long as its session lives.

use std::cell::Cell;
use std::rc::Rc;

use crate::LockError;
use crate::clients::completion::{Completion, completion};
use crate::clients::zookeeper::{EventType, SessionState};

/// Whether the lock was asked for: a watcher sets it, and the holder heeds it.
#[derive(Clone, Default)]
pub struct RevocationRequest(Rc<State>);

#[derive(Default)]
struct State {
    is_made: Cell<bool>,
    is_gone: Cell<bool>,
    holder: Cell<Option<Completion<()>>>,
}

impl RevocationRequest {
    /// The lock is asked for.
    pub fn make(&self) {
        self.0.is_made.set(true);
        self.tell();
    }

    /// The node by which others could have asked is gone, and with it whatever was held.
    pub fn node_gone(&self) {
        self.0.is_gone.set(true);
        self.tell();
    }

    fn tell(&self) {
        if let Some(holder) = self.0.holder.take() {
            holder.complete(());
        }
    }

    /// Resolves when the lock is asked for, or has been before, once for each request; and when the node is gone.
    pub async fn made(&self) -> LockError {
        loop {
            if self.0.is_gone.get() {
                return LockError::PlaceLost;
            }
            if self.0.is_made.take() {
                return LockError::Revoked;
            }
            let (told, is_told) = completion();
            self.0.holder.set(Some(told));
            is_told.await;
        }
    }
}

/// What an event means to a client that watches the data of its own node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnNodeEvent {
    /// The data was set: it is to be read again.
    DataChanged,
    /// The node is gone.
    Deleted,
    /// The watch is gone: nothing more will be told.
    Over,
    /// Nothing that is about the node.
    Other,
}

impl From<EventType> for OwnNodeEvent {
    fn from(event: EventType) -> Self {
        match event {
            EventType::NodeDataChanged => Self::DataChanged,
            EventType::NodeDeleted => Self::Deleted,
            EventType::DataWatchRemoved | EventType::Session(SessionState::Closed) => Self::Over,
            EventType::Session(
                SessionState::Connecting
                | SessionState::Connected
                | SessionState::ConnectedReadOnly,
            )
            | EventType::NodeCreated
            | EventType::NodeChildrenChanged
            | EventType::ChildWatchRemoved
            | EventType::PersistentWatchRemoved => Self::Other,
        }
    }
}
