//! Calls of the handle.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::{Reply, Request, Watch, ZkResult, ZooKeeper};
use crate::completion::Answer;

/// A call: it was asked for when it was made, and here is what waits for the answer.
///
/// An `async fn` would read the same where it is called. But this, unlike one, is always written into whatever waits
/// for it, and then it costs next to nothing to look whether the answer is there. And there is nothing to remember of
/// how to ask: that would be most of what a waiting recipe keeps, in memory that has left the cache if it is one of
/// thousands.
pub(super) enum Call<H> {
    /// What the answer will mean.
    Asked(Answer<Reply>, H),
    Over,
}

impl<T, H> Future for Call<H>
where
    H: FnOnce(Reply) -> ZkResult<T> + Unpin,
{
    type Output = ZkResult<T>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let call = &mut *self;
        // A call that is polled again after its answer waits for ever.
        let Self::Asked(answer, _) = call else {
            return Poll::Pending;
        };
        let reply = ready!(Pin::new(answer).poll(context));
        match mem::replace(call, Self::Over) {
            Self::Asked(_, heed) => Poll::Ready(heed(reply)),
            Self::Over => Poll::Pending,
        }
    }
}

impl ZooKeeper {
    /// A call that leaves no watch.
    #[inline(always)]
    pub(super) fn call<T>(
        &self,
        request: Request,
        heed: impl FnOnce(Reply) -> ZkResult<T> + Unpin,
    ) -> impl Future<Output = ZkResult<T>> {
        Call::Asked(self.ask(request, None), heed)
    }

    /// A call that leaves a watch.
    #[inline(always)]
    pub(super) fn call_and_watch<T>(
        &self,
        request: Request,
        heed: impl FnOnce(Reply, Watch) -> ZkResult<T> + Unpin,
    ) -> impl Future<Output = ZkResult<T>> {
        let (watcher, watch) = self.session.watches.watch();
        let answer = self.ask(request, Some(watcher));
        Call::Asked(answer, move |reply| heed(reply, watch))
    }
}
