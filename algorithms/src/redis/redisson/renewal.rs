//! Step 4: the watchdog, and how a script waits for replicas.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use super::RedissonLock;
use super::scripts::FORCE_UNLOCK;
use crate::Held;
use crate::clients::redis::{Redis, RedisError, RedisResult, Script, Value};

/// How long replicas have to say that they have heard of a script.
const SYNC_TIMEOUT: Duration = Duration::from_secs(1);

impl RedissonLock {
    /// Step 4. Answers the hold that it renews.
    pub fn schedule_expiration_renewal(&mut self, token: Option<u64>) -> Held {
        self.schedule();
        self.leased.held(token)
    }

    /// Deletes the key, whichever field it has, and publishes (`forceUnlock`).
    pub async fn force_unlock(&mut self) -> RedisResult<Value> {
        self.renewal.set(false);
        let keys = [&*self.leased.lease.key, &*self.channel_name];
        let script = Script::new(FORCE_UNLOCK);
        self.leased.redis.script(&script, &keys, &[]).await
    }

    fn schedule(&mut self) {
        if self.failed_renewal.get() {
            return;
        }
        let keeps_failed = self
            .keeps_failed_renewal
            .then(|| self.failed_renewal.clone());
        let renewal = Rc::new(Cell::new(true));
        self.renewal = Rc::clone(&renewal);
        let (redis, env) = (self.watchdog.clone(), self.leased.env.clone());
        let waits = self.waits_for_replicas;
        let (key, lock_name) = (self.leased.lease.key.clone(), self.lock_name.clone());
        let (renew, lease) = (
            self.scripts.renew_expiration.clone(),
            self.internal_lock_lease_time(),
        );
        let every = self.leased.lease.time / 3;
        self.leased.env.spawn(async move {
            loop {
                env.sleep(every).await;
                if !renewal.get() {
                    return;
                }
                let (keys, args) = ([&*key], [&*lease, &*lock_name]);
                let answer = synced_eval(&redis, waits, &renew, &keys, &args).await;
                if let Some(failed) = keeps_failed.as_ref().filter(|_| answer.is_err()) {
                    failed.set(true);
                    return;
                }
                // An error is written to a log, and so is that no replica has heard of it, and the next turn comes;
                // the application does not hear that the field is gone.
                if answer == Ok(Some(Value::Integer(0))) {
                    return;
                }
            }
        });
    }
}

/// Runs a script, and waits for replicas if it is to and there are any. Answers nothing if none of them has heard
/// of it.
pub(super) async fn synced_eval(
    redis: &Redis,
    waits_for_replicas: bool,
    script: &Script,
    keys: &[&str],
    args: &[&str],
) -> RedisResult<Option<Value>> {
    if !waits_for_replicas {
        return redis.script(script, keys, args).await.map(Some);
    }
    let replicas = redis.replicas().await?;
    let answer = redis.script(script, keys, args).await?;
    let heard = match replicas {
        0 => return Ok(Some(answer)),
        _ => redis.wait(replicas, SYNC_TIMEOUT).await?,
    };
    Ok((heard > 0).then_some(answer))
}

/// Whether a server of a cluster says that another serves the slot.
pub(super) fn is_redirect(answer: &RedisResult<Option<Value>>) -> bool {
    let codes = ["MOVED", "ASK"];
    matches!(answer, Err(RedisError::Refused(error)) if codes.contains(&error.code()))
}
