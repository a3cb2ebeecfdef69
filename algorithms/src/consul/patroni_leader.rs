//! A leader that trusts the key, while its session is not renewed: Patroni as it was.
//!
//! # Source
//!
//! zalando/patroni issue 329 (1.1), `patroni/dcs/consul.py`, `patroni/ha.py`: sessions with hardly any lock-delay,
//! whose keys are deleted when they end, and a loop of 10 s.
//!
//! # Steps
//!
//! 1. A session without a lock-delay, whose keys are deleted with it.
//! 2. Put the key with `?acquire=`. If that was not done, wait until the key has changed (a blocking query of 10 s),
//!    and try again.
//! 3. The leader reads the key each 10 s. As long as the key shows its name, it leads, and does nothing for its
//!    session.
//! 4. Step down: delete the key, and destroy the session.
//!
//! # Guarantees
//!
//! - One leader, as long as a term is shorter than the session.
//!
//! # Hazards
//!
//! - The session ends in a term, another leads, and the former leader learns it with its next look (scenario
//!   `consul/long-section`).

use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use super::session::Session;
use super::{ConsulLock, OverConsul, SESSION_OF_KEY_LEADS, seen};
use crate::clients::consul::{Consul, KvPair, PutIf, QueryOptions, SessionBehavior};
use crate::clients::{Env, RequestKind, StopChannel};
use crate::lock::BASIC_CLAIMS;
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "consul-patroni-leader",
    summary: "A leader that reads its name in the key each 10 s, and does not renew its session.",
    source: "zalando/patroni issue 329",
    flaw: Some("the session is not renewed, and the key is looked at each 10 s"),
    claims: BASIC_CLAIMS,
    ownership: SESSION_OF_KEY_LEADS,
    requests: &[
        RequestKind::KvGet,
        RequestKind::KvAcquire,
        RequestKind::KvDelete,
        RequestKind::SessionCreate,
        RequestKind::SessionDestroy,
    ],
    build: Build::Other(&OverConsul(&|consul, env, lock| {
        let lock_delay = Duration::ZERO;
        let lock = ConsulLock { lock_delay, ..lock };
        let name = env.guid().into();
        Box::new(PatroniLeader {
            consul,
            env,
            lock,
            name,
            term: None,
        })
    })),
    ..super::lock::RECIPE
};

/// How long the loop waits from one round to the next (`loop_wait`).
const LOOP_WAIT: Duration = Duration::from_secs(10);

struct PatroniLeader {
    consul: Consul,
    env: Env,
    lock: ConsulLock,
    name: Rc<str>,
    term: Option<(Session, StopChannel)>,
}

#[async_trait(?Send)]
impl Lock for PatroniLeader {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.term = None;
        let (consul, env, key) = (&self.consul, &self.env, &self.lock.key);
        let mut options = QueryOptions {
            wait_time: Some(LOOP_WAIT),
            ..QueryOptions::default()
        };
        let session = loop {
            let behavior = SessionBehavior::Delete;
            let session = Session::unrenewed(consul, env, &self.lock, behavior).await?; // Step 1.
            let entry = KvPair {
                key: Rc::clone(key),
                value: Rc::clone(&self.name),
                session: Some(session.id),
                ..KvPair::default()
            };
            if consul.put(PutIf::Acquire, entry).await.map_err(seen)? {
                break session;
            }
            let (_, index) = consul.get(key, options).await.map_err(seen)?; // Step 2.
            options.wait_index = index;
        };
        let demoted = StopChannel::default();
        let (consul, env, key) = (consul.clone(), env.clone(), Rc::clone(key));
        let (name, lost) = (Rc::clone(&self.name), demoted.clone());
        self.env.spawn(async move {
            loop {
                env.sleep(LOOP_WAIT).await;
                let read = consul.get(&key, QueryOptions::default()).await; // Step 3.
                let leads = |pair: KvPair| pair.value == name;
                if !read.is_ok_and(|(pair, _)| pair.is_some_and(leads)) {
                    return lost.close();
                }
            }
        });
        self.term = Some((session, demoted));
        Ok(Held::at(Rc::clone(&self.lock.key)))
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let (_session, _) = self.term.take().ok_or(LockError::NotHeld)?;
        self.consul.delete(&self.lock.key).await.map_err(seen) // Step 4.
    }

    async fn lost(&self, _held: &Held) -> LockError {
        match &self.term {
            Some((_, demoted)) => demoted.closed().await,
            None => std::future::pending().await,
        }
        LockError::PlaceLost
    }
}
