//! Calls of the handle.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::{Reply, Request, Watch, ZkResult, ZooKeeper};
use crate::clients::completion::Answer;

/// A call: nothing is asked before somebody waits for the answer.
///
/// An `async fn` would read the same where it is called. But this, unlike one, is always written into whatever waits
/// for it, and then it costs next to nothing to look whether the answer is there.
pub(super) struct Call<A, H> {
    /// Asks.
    ask: Option<A>,
    answer: Option<Answer<Reply>>,
    /// Says what the answer means.
    heed: Option<H>,
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
        let answer = match &mut call.answer {
            Some(answer) => answer,
            None => match call.ask.take() {
                Some(ask) => call.answer.insert(ask()),
                None => return Poll::Pending,
            },
        };
        let reply = ready!(Pin::new(answer).poll(context));
        // Whoever asks again what it has been told waits for ever.
        match call.heed.take() {
            Some(heed) => Poll::Ready(heed(reply)),
            None => Poll::Pending,
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
        Call {
            ask: Some(move || self.ask(request(), None)),
            answer: None,
            heed: Some(heed),
        }
    }

    /// A call that leaves a watch.
    #[inline(always)]
    pub(super) fn call_and_watch<T>(
        &self,
        request: impl FnOnce() -> Request + Unpin,
        heed: impl FnOnce(Reply, Watch) -> ZkResult<T> + Unpin,
    ) -> impl Future<Output = ZkResult<T>> {
        let (watcher, watch) = self.spare.watches.watch();
        Call {
            ask: Some(move || self.ask(request(), Some(watcher))),
            answer: None,
            heed: Some(move |reply| heed(reply, watch)),
        }
    }
}
