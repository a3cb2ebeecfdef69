//! What libraries of Redlock have in common: one script for several servers, and a majority of their answers.

use std::future::{pending, poll_fn};
use std::task::Poll;

use crate::clients::redis::{Redis, RedisResult, Script, Value};
use crate::join;

/// A handle to each of the servers.
pub fn servers(redis: &Redis) -> impl Iterator<Item = Redis> + '_ {
    (0..redis.nodes()).map(|node| redis.at(node))
}

/// How many servers are enough: more than half of those that there are.
pub fn majority(redis: &Redis) -> usize {
    redis.nodes() as usize / 2 + 1
}

/// How many servers have answered the script with one, when all have answered or failed.
pub async fn count_all(redis: &Redis, script: &Script, key: &str, args: &[&str]) -> usize {
    let votes = join(servers(redis).map(|server| vote(server, script, key, args))).await;
    votes.iter().filter(|vote| **vote == Ok(true)).count()
}

/// What an attempt has come to when so many servers agree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A majority is for it.
    For,
    /// A majority is against it, or has failed.
    Against,
    /// All have answered, and half of them are for it.
    Tied,
}

/// Asks every server, and goes on when a majority agrees. What is under way then is not waited for.
pub async fn first_majority(redis: &Redis, script: &Script, key: &str, args: &[&str]) -> Outcome {
    let asked = servers(redis).map(|server| Box::pin(vote(server, script, key, args)));
    let mut asked: Vec<_> = asked.map(Some).collect();
    let (majority, mut votes) = (majority(redis), [0, 0]);
    poll_fn(|context| {
        for vote in &mut asked {
            let Some(Poll::Ready(answer)) = vote.as_mut().map(|vote| vote.as_mut().poll(context))
            else {
                continue;
            };
            *vote = None;
            votes[usize::from(answer != Ok(true))] += 1;
            if votes[0] == majority {
                return Poll::Ready(Outcome::For);
            }
            if votes[1] == majority {
                return Poll::Ready(Outcome::Against);
            }
        }
        match asked.iter().all(Option::is_none) {
            true => Poll::Ready(Outcome::Tied),
            false => Poll::Pending,
        }
    })
    .await
}

/// A promise that no code resolves.
pub async fn unresolved<T>() -> T {
    pending().await
}

async fn vote(server: Redis, script: &Script, key: &str, args: &[&str]) -> RedisResult<bool> {
    let answer = server.script(script, &[key], args).await?;
    Ok(answer == Value::Integer(1))
}
