//! An event that a contender has recorded: a fault that waits for it may stop the process right there.

use std::pin::Pin;
use std::task::{Context, Poll};

use super::Contender;
use crate::world::SimulatedService;

/// Resolves when the contender that recorded an event may go on: mostly at once.
pub(super) struct Recorded<'a, S: SimulatedService> {
    pub by: &'a Contender<S>,
    pub runs: bool,
}

impl<S: SimulatedService> Future for Recorded<'_, S> {
    type Output = ();

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.runs || self.runs_again(context) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl<S: SimulatedService> Recorded<'_, S> {
    /// Whether the process that stood still goes on. If not, it looks again as soon as anything runs.
    #[cold]
    fn runs_again(&self, context: &Context<'_>) -> bool {
        let runs = self.by.world().runs(self.by.process);
        if !runs {
            context.waker().wake_by_ref();
        }
        runs
    }
}
