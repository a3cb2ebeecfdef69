//! Waiting for several things at once.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use futures_lite::future;

use crate::Env;

/// Waits for whichever comes first, and drops the other. If both are there, it is the first of the two.
pub fn select<T>(
    first: impl Future<Output = T>,
    second: impl Future<Output = T>,
) -> impl Future<Output = T> {
    future::or(first, second)
}

/// Waits for so long by the monotonic clock of the process, from now on, and no longer: `None` if it is over before.
pub fn timeout<T>(
    env: &Env,
    limit: Duration,
    awaited: impl Future<Output = T>,
) -> impl Future<Output = Option<T>> {
    let over = env.sleep(limit);
    let awaited = async { Some(awaited.await) };
    let over = async {
        over.await;
        None
    };
    select(awaited, over)
}

/// Waits for all of them together. What they come to is in the order of the futures.
pub async fn join<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    let mut outputs: Vec<Option<F::Output>> = waiting.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (future, output) in waiting.iter_mut().zip(&mut outputs) {
            if output.is_none()
                && let Poll::Ready(ready) = future.as_mut().poll(context)
            {
                *output = Some(ready);
            }
        }
        if outputs.iter().all(Option::is_some) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    outputs.into_iter().flatten().collect()
}
