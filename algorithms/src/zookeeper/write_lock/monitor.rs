//! A monitor: one caller at a time runs what is synchronized.

use std::cell::{Cell, RefCell};

use crate::clients::completion::{Completion, completion};

#[derive(Default)]
pub(super) struct Monitor {
    is_entered: Cell<bool>,
    waiters: RefCell<Vec<Completion<()>>>,
}

/// The thread that has entered leaves when this is dropped.
pub(super) struct Entered<'m>(&'m Monitor);

impl Monitor {
    pub(super) async fn enter(&self) -> Entered<'_> {
        while self.is_entered.replace(true) {
            let (told, left) = completion();
            self.waiters.borrow_mut().push(told);
            left.await;
        }
        Entered(self)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.is_entered.set(false);
        // All of them, for some may not wait any more.
        for waiter in self.0.waiters.take() {
            waiter.complete(());
        }
    }
}
