//! resque-scheduler's resilient master lock: a key that names the process, by scripts that are known by their hash.
//!
//! # Source
//!
//! resque-scheduler 4.3.1, `Resque::Scheduler::Lock::Resilient`. Its timeout is 180 s, and a turn comes every 5 s.
//!
//! # Steps
//!
//! 1. At its first call a process sends `SCRIPT LOAD` for each script, and keeps the hashes.
//! 2. Acquire: `EVALSHA` of: `SETNX key host:pid`, and if that was set, `EXPIRE`. 1: held. 0: again at the next turn.
//! 3. While it holds, at each turn, `EVALSHA` of: if the value is ours, `EXPIRE` again, and 1; otherwise 0. After a
//!    0 or an error the holder stops.
//! 4. Release: the script of step 3, and after a 1 `DEL key`.
//! 5. After `NOSCRIPT`, `SCRIPT LOAD`, and ask again.
//!
//! # Guarantees
//!
//! - A server that has forgotten its scripts learns them again.
//!
//! # Hazards
//!
//! - The lease can end between the two commands of step 4, which then delete the key of another.
//! - [`resque_scheduler_lock_not_reloaded`](super::resque_scheduler_lock_not_reloaded) does without step 5 (scenario
//!   `redis/scripts-forgotten`).

use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use super::leased::Leased;
use super::renewed::Renewed;
use crate::clients::RequestKind;
use crate::clients::redis::{Command, Redis, RedisError, RedisResult, Script, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "resque-scheduler-lock",
    summary: "resque-scheduler's resilient lock: SETNX and EXPIRE in a script, called by its hash.",
    source: "resque-scheduler 4.3.1, Lock::Resilient",
    requests: &[RequestKind::Script, RequestKind::Del],
    build: Build::Redis(&|redis, env, lease| Box::new(Resilient::new(redis, env, lease, true))),
    ..super::compare_and_delete::RECIPE
};

/// Step 2.
const ACQUIRE: &str = "\
if redis.call('SETNX', KEYS[1], ARGV[1]) == 1 then
  redis.call('EXPIRE', KEYS[1], ARGV[2])
  return 1
end
return 0";

/// Step 3.
const LOCKED: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('EXPIRE', KEYS[1], ARGV[2])
  return 1
end
return 0";

/// From one turn to the next (`poll_sleep_amount`).
const TURN: Duration = Duration::from_secs(5);

/// The name of a process.
struct Pid(String);

/// The scripts, as a process calls them.
struct Scripts {
    leased: Leased,
    /// `host:pid`
    value: String,
    acquire: Script,
    locked: Script,
    /// Whether a script that the server does not know is loaded again.
    reloads: bool,
}

pub(super) struct Resilient {
    scripts: Rc<Scripts>,
    is_loaded: bool,
    renewed: Renewed,
}

impl Resilient {
    pub fn new(redis: Redis, env: Env, lease: Lease, reloads: bool) -> Self {
        let pid = env.process_wide(|| Pid(env.guid()));
        Self {
            scripts: Rc::new(Scripts {
                value: format!("{}:{}", env.host(), pid.0),
                leased: Leased { redis, env, lease },
                acquire: Script::new(ACQUIRE),
                locked: Script::new(LOCKED),
                reloads,
            }),
            is_loaded: false,
            renewed: Renewed::default(),
        }
    }
}

impl Scripts {
    async fn load(&self, script: &Script) -> RedisResult<Value> {
        let load = Command::new("SCRIPT").arg("LOAD").arg(script.source());
        self.leased.redis.ask(load).await
    }

    async fn evalsha(&self, script: &Script) -> RedisResult<bool> {
        let Lease { key, time } = &self.leased.lease;
        let call = Command::new("EVALSHA").arg(script.sha1()).number(1);
        let call = call.args([&**key, &self.value, &time.as_secs().to_string()]);
        Ok(self.leased.redis.ask(call).await? == Value::Integer(1))
    }

    /// What a script says, with step 5.
    async fn says_yes(&self, script: &Script) -> RedisResult<bool> {
        match self.evalsha(script).await {
            Err(RedisError::Refused(error)) if error.code() == "NOSCRIPT" && self.reloads => {
                self.load(script).await?;
                self.evalsha(script).await
            }
            answer => answer,
        }
    }
}

#[async_trait(?Send)]
impl Lock for Resilient {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let scripts = Rc::clone(&self.scripts);
        if !self.is_loaded {
            scripts.load(&scripts.acquire).await?; // Step 1.
            scripts.load(&scripts.locked).await?;
            self.is_loaded = true;
        }
        let env = &scripts.leased.env;
        while !scripts.says_yes(&scripts.acquire).await? {
            env.sleep(TURN).await;
        }
        let of_task = Rc::clone(&scripts);
        self.renewed = Renewed::begin(env, TURN, async move || {
            of_task.says_yes(&of_task.locked).await == Ok(true)
        });
        Ok(scripts.leased.held(None))
    }

    /// Step 4.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.renewed.stop();
        if !self.scripts.says_yes(&self.scripts.locked).await? {
            return Err(LockError::PlaceLost);
        }
        self.scripts.leased.redis.del(&held.path_or_key).await?;
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        self.renewed.over().await;
        LockError::PlaceLost
    }
}
