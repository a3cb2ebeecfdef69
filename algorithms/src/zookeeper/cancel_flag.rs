//! How kazoo's objects hear of `cancel`: by a flag at which their `acquire` looks, and an event that wakes it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::CancelCall;
use crate::clients::completion::{Answer, Completion, completion};

/// `cancelled`, and of `wake_event` what `cancel` has to do with it.
#[derive(Clone, Default)]
pub(super) struct CancelFlag(Rc<Shared>);

#[derive(Default)]
struct Shared {
    cancelled: Cell<bool>,
    waiting: RefCell<Option<Completion<()>>>,
}

impl CancelFlag {
    /// `cancel`, for another thread to call.
    pub(super) fn cancel_call(&self) -> CancelCall {
        let flag = self.clone();
        Rc::new(move || flag.cancel())
    }

    fn cancel(&self) {
        self.0.cancelled.set(true);
        if let Some(waiting) = self.0.waiting.take() {
            waiting.complete(());
        }
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.cancelled.get()
    }

    pub(super) fn clear(&self) {
        self.0.cancelled.set(false);
    }

    /// Resolves with the next `cancel`.
    pub(super) fn next(&self) -> Answer<()> {
        let (cancel, cancelled) = completion();
        self.0.waiting.replace(Some(cancel));
        cancelled
    }
}
