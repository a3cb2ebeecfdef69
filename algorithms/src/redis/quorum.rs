//! What locks over a majority of servers have in common: the same request to all of them, and what their answers say.

use std::future::{pending, poll_fn};
use std::task::Poll;

use crate::clients::redis::{Redis, RedisResult, Script, Value};
use crate::{Lease, LockError, join};

/// A handle to each of the servers.
pub fn servers(redis: &Redis) -> impl Iterator<Item = Redis> + '_ {
    (0..redis.nodes()).map(|node| redis.at(node))
}

/// How many servers are enough: more than half of those that there are.
pub fn majority(redis: &Redis) -> usize {
    redis.nodes() as usize / 2 + 1
}

/// Sets the key for so long if it holds our token.
pub const EXTEND_IF_OURS: &str = "\
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1";

/// What each of the servers answers to `SET key token NX PX ttl`.
pub async fn set_at(
    servers: impl Iterator<Item = Redis>,
    Lease { key, time }: &Lease,
    token: &str,
) -> Vec<RedisResult<bool>> {
    join(servers.map(|server| async move { server.set_if_missing(key, token, *time).await })).await
}

/// How many servers have set the key.
pub async fn set_everywhere(redis: &Redis, lease: &Lease, token: &str) -> usize {
    let answers = set_at(servers(redis), lease, token).await;
    answers.iter().filter(|set| **set == Ok(true)).count()
}

/// What each of the servers answers to a script.
pub async fn run_at(
    servers: impl Iterator<Item = Redis>,
    script: &Script,
    key: &str,
    args: &[&str],
) -> Vec<RedisResult<Value>> {
    join(servers.map(|server| async move { server.script(script, &[key], args).await })).await
}

/// How many servers have answered the script with one, when all have answered or failed.
pub async fn run_everywhere(redis: &Redis, script: &Script, key: &str, args: &[&str]) -> usize {
    ones(&run_at(servers(redis), script, key, args).await)
}

fn ones(answers: &[RedisResult<Value>]) -> usize {
    let is_one = |answer: &&RedisResult<Value>| **answer == Ok(Value::Integer(1));
    answers.iter().filter(is_one).count()
}

/// Whether deletes at all servers have released the lock, by what each has answered.
///
/// # Errors
///
/// `TimedOut` if most are silent, `PlaceLost` if the key was not there at most of them.
pub fn released(answers: &[RedisResult<Value>]) -> Result<(), LockError> {
    let is_majority = |servers: usize| servers * 2 > answers.len();
    let silent = answers.iter().filter(|answer| answer.is_err()).count();
    if is_majority(silent) {
        return Err(LockError::TimedOut);
    }
    match is_majority(ones(answers) + silent) {
        true => Ok(()),
        false => Err(LockError::PlaceLost),
    }
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
