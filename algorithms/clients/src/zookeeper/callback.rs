//! Code that runs in a callback, on the event thread of the client.

use std::rc::Rc;

use super::ZooKeeper;
use super::session::Session;

impl ZooKeeper {
    /// Runs what the application does in the callback of a watcher, and resolves when it returns. As in the Java
    /// client, all events and all answers to what was asked [in the background](Self::in_background) come on one
    /// thread, so they wait until then. What is asked and waited for in the callback itself is answered. A callback
    /// that waits for an event, or for an answer in the background, waits for ever.
    ///
    /// Call it when [`Watch::next`](super::Watch::next) has returned an event.
    pub async fn in_callback<T>(&self, callback: impl Future<Output = T>) -> T {
        let _running = Running::begin(&self.session);
        callback.await
    }
}

/// A callback that has not returned. If it is dropped, its thread goes on.
struct Running(Rc<Session>);

impl Running {
    fn begin(session: &Rc<Session>) -> Self {
        session.transport.callback_begins();
        Self(Rc::clone(session))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.transport.callback_ends();
    }
}
