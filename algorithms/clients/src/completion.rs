//! A one-shot channel: the caller waits for the [`Answer`], and the world completes the [`Completion`].

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

struct Slot<T> {
    value: Cell<Option<T>>,
    waiting: Waiting,
    /// The end that waits has been dropped.
    dropped: Cell<bool>,
}

/// The end that answers.
pub struct Completion<T>(Rc<Slot<T>>);

/// The end that waits. Dropping it does not take the question back: the answer is thrown away.
pub struct Answer<T>(Rc<Slot<T>>);

/// Makes the two ends of one answer.
pub fn completion<T>() -> (Completion<T>, Answer<T>) {
    let slot = Rc::new(Slot::default());
    (Completion(Rc::clone(&slot)), Answer(slot))
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self {
            value: Cell::new(None),
            waiting: Waiting::default(),
            dropped: Cell::new(false),
        }
    }
}

/// Makes the ends of one answer after the other. A caller that asks again after an answer needs no new memory.
pub struct Completions<T>(Cell<Option<Rc<Slot<T>>>>);

impl<T> Default for Completions<T> {
    fn default() -> Self {
        Self(Cell::new(None))
    }
}

impl<T> Completions<T> {
    /// Makes the two ends of one answer.
    pub fn completion(&self) -> (Completion<T>, Answer<T>) {
        let slot = take_spare(&self.0);
        slot.value.take();
        slot.waiting.forget();
        slot.dropped.set(false);
        (Completion(Rc::clone(&slot)), Answer(slot))
    }
}

/// The spare one, if no other handle to it is left, or a new one, which is the spare from then on.
pub(crate) fn take_spare<S: Default>(spare: &Cell<Option<Rc<S>>>) -> Rc<S> {
    let slot = match spare.take() {
        Some(slot) if Rc::strong_count(&slot) == 1 => slot,
        _ => Rc::default(),
    };
    let taken = Rc::clone(&slot);
    // There is nothing there to be dropped.
    mem::forget(spare.replace(Some(slot)));
    taken
}

impl<T> Completion<T> {
    /// Whether the end that waits is still there: the caller may have dropped it, by a time limit of its own.
    pub fn is_awaited(&self) -> bool {
        !self.0.dropped.get()
    }

    /// Gives the answer.
    pub fn complete(self, value: T) {
        self.0.value.set(Some(value));
        self.0.waiting.wake();
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        self.0.dropped.set(true);
    }
}

impl<T> Future for Answer<T> {
    type Output = T;
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        if let Some(value) = self.0.value.take() {
            return Poll::Ready(value);
        }
        self.0.waiting.wait(context);
        Poll::Pending
    }
}

/// The task that waits for something, if one does.
///
/// The waker stays when it has been used: mostly the same task waits again, and counting references to a waker costs
/// more than all else here.
pub(crate) struct Waiting {
    waker: RefCell<Waker>,
    is_awaited: Cell<bool>,
}

impl Default for Waiting {
    fn default() -> Self {
        Self {
            waker: RefCell::new(Waker::noop().clone()),
            is_awaited: Cell::new(false),
        }
    }
}

impl Waiting {
    /// Notes the task to wake.
    #[inline]
    pub(crate) fn wait(&self, context: &Context<'_>) {
        let mut known = self.waker.borrow_mut();
        if !known.will_wake(context.waker()) {
            *known = context.waker().clone();
        }
        self.is_awaited.set(true);
    }

    /// Wakes the task that waits.
    #[inline]
    pub(crate) fn wake(&self) {
        if self.is_awaited.replace(false) {
            self.waker.borrow().wake_by_ref();
        }
    }

    /// The task does not wait any more.
    pub(crate) fn forget(&self) {
        self.is_awaited.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_awaited_until_its_caller_drops_it() {
        let completions = Completions::default();
        let (asked, answer) = completions.completion();
        assert!(asked.is_awaited());
        drop(answer);
        assert!(!asked.is_awaited());
        asked.complete(1);
        let (again, _answer) = completions.completion();
        assert!(again.is_awaited(), "the slot is used again");
        again.complete(2);
    }
}
