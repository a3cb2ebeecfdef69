//! Calls of the handle.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::{Reply, Request, Watch, ZkResult, ZooKeeper};
use crate::clients::completion::Answer;

/// A call: nothing is asked before somebody waits for the answer.
///
/// An `async fn` would read the same where it is called. But this, unlike one, is always written into whatever waits
/// for it, and then it costs next to nothing to look whether the answer is there.
pub(super) enum Call<A, H> {
    /// How to ask, and what the answer will mean.
    Planned(A, H),
    Asked(Answer<Reply>, H),
    Over,
}

impl<T, A, H> Future for Call<A, H>
where
    A: FnOnce() -> Answer<Reply> + Unpin,
    H: FnOnce(Reply) -> ZkResult<T> + Unpin,
{
    type Output = ZkResult<T>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let call = &mut *self;
        if let Self::Planned(..) = call
            && let Self::Planned(ask, heed) = mem::replace(call, Self::Over)
        {
            *call = Self::Asked(ask(), heed);
        }
        // Whoever asks again what it has been told waits for ever.
        let Self::Asked(answer, _) = call else {
            return Poll::Pending;
        };
        let reply = ready!(Pin::new(answer).poll(context));
        match mem::replace(call, Self::Over) {
            Self::Asked(_, heed) => Poll::Ready(heed(reply)),
            Self::Planned(..) | Self::Over => Poll::Pending,
        }
    }
}

impl ZooKeeper {
    /// A call that leaves no watch.
    #[inline(always)]
    pub(super) fn call<T>(
        &self,
        request: impl FnOnce() -> Request + Unpin,
        heed: impl FnOnce(Reply) -> ZkResult<T> + Unpin,
    ) -> impl Future<Output = ZkResult<T>> {
        Call::Planned(move || self.ask(request(), None), heed)
    }

    /// A call that leaves a watch.
    #[inline(always)]
    pub(super) fn call_and_watch<T>(
        &self,
        request: impl FnOnce() -> Request + Unpin,
        heed: impl FnOnce(Reply, Watch) -> ZkResult<T> + Unpin,
    ) -> impl Future<Output = ZkResult<T>> {
        let (watcher, watch) = self.session.watches.watch();
        let ask = move || self.ask(request(), Some(watcher));
        Call::Planned(ask, move |reply| heed(reply, watch))
    }
}
