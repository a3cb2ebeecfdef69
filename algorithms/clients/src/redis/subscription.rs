//! Subscriptions: the two ends of a channel.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use super::Bytes;
use crate::completion::Waiting;

#[derive(Default)]
struct Slot {
    messages: RefCell<VecDeque<Bytes>>,
    waiting: Waiting,
}

/// The end that the client tells.
#[derive(Clone)]
pub struct Listener(Rc<Slot>);

/// The end that waits to be told. Messages that are published while the connection is down are lost.
pub struct Subscription(Rc<Slot>);

/// Makes the two ends of a subscription.
pub fn subscription() -> (Listener, Subscription) {
    let slot = Rc::new(Slot::default());
    (Listener(Rc::clone(&slot)), Subscription(slot))
}

impl Listener {
    /// Hands over a message.
    pub fn deliver(&self, message: Bytes) {
        self.0.messages.borrow_mut().push_back(message);
        self.0.waiting.wake();
    }

    /// Whether the subscription is still there.
    pub fn has_listener(&self) -> bool {
        Rc::strong_count(&self.0) > 1
    }
}

impl Subscription {
    /// The next message.
    pub async fn next(&self) -> Bytes {
        poll_fn(|context| {
            if let Some(message) = self.0.messages.borrow_mut().pop_front() {
                return Poll::Ready(message);
            }
            self.0.waiting.wait(context);
            Poll::Pending
        })
        .await
    }

    /// Forgets the messages that have come so far.
    pub fn clear(&self) {
        self.0.messages.borrow_mut().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_lite::future;

    #[test]
    fn messages_come_in_the_order_in_which_they_were_told() {
        let (listener, subscription) = subscription();
        listener.deliver(b"a"[..].into());
        listener.deliver(b"b"[..].into());
        let both =
            future::block_on(async { (subscription.next().await, subscription.next().await) });
        assert_eq!((&both.0[..], &both.1[..]), (&b"a"[..], &b"b"[..]));
        assert!(future::block_on(future::poll_once(subscription.next())).is_none());
        assert!(listener.has_listener());
        drop(subscription);
        assert!(!listener.has_listener());
    }
}
