//! Waiting for several things at once.

use std::future::Future;
use std::time::Duration;

use futures_lite::future;
use futures_util::future::{join_all, select_all};

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
pub fn join<F: Future>(
    futures: impl IntoIterator<Item = F>,
) -> impl Future<Output = Vec<F::Output>> {
    join_all(futures)
}

/// Waits for the one that comes first, and takes it off the list.
pub async fn select_any<F: Future + Unpin>(futures: &mut Vec<F>) -> F::Output {
    let (output, first, _) = select_all(futures.iter_mut()).await;
    futures.remove(first);
    output
}
