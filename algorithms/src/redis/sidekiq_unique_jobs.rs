//! sidekiq-unique-jobs: the lock of the run time (`while_executing`), and the reaper that deletes locks of no job.
//!
//! # Source
//!
//! sidekiq-unique-jobs 8.0.10, `Lock::WhileExecuting`, `Locksmith`, `Orphans::RubyReaper`, with `on_conflict:
//! :reschedule` and `schedule_in: 1`; Sidekiq's heartbeat. The lock's key is the hash `NAME:RUN:LOCKED`, and its
//! `lock_ttl` the lease; the library has none by default. No job is planned, queued, or to be retried here.
//!
//! # Steps
//!
//! 1. Each 5 s a process writes which jobs it runs: `DEL process:workers`, `HSET process:workers thread JOB`, and both
//!    of its keys live for 60 s. A job is listed from its start on, by `NAME`.
//! 2. Acquire, a script: if the hash has a field, no; otherwise `HSET` of the job's id, and `ZADD` of `NAME:RUN` to
//!    the set of all locks. After a no, another job 1 s later. After an error the script of step 4, and the error.
//! 3. The reaper, at each turn: of the locks that are older than its timeout and a heartbeat, 20 s, it reads the names.
//!    It looks for each in each process's table, where a job of the name without `:RUN`, or any job that is younger
//!    than 20 s, counts as a find. Not found anywhere: `UNLINK` of the lock, and `ZREM`.
//! 4. Release, a script: own field there: `HDEL`, `ZREM`; otherwise nothing, and no.
//!
//! # Guarantees
//!
//! - The lock of a process that has died goes within two turns, of 60 s or longer each.
//!
//! # Hazards
//!
//! - The application is not told that the lease is over, or that the reaper has taken its lock.
//! - What the reaper has looked at may change before it deletes.
//! - A reaper that compares `NAME:RUN` with `NAME` finds no job (scenario `redis/reaper-compares-run-names`).
//! - One that looks at young locks, too, finds no job that no table lists yet (scenario
//!   `redis/reaper-looks-at-young-locks`).

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use super::leased::{Leased, never};
use crate::clients::RequestKind;
use crate::clients::redis::{Bytes, Command, Redis, RedisResult, Script, Value};
use crate::keys::Keys;
use crate::{
    Build, Env, Held, KeyHold, Lease, Lock, LockError, LockKind, OwnershipRule, Recipe, RecipeInput,
};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "sidekiq-unique-jobs",
    summary: "sidekiq-unique-jobs' lock of the run time, and a reaper that looks for the job of each lock.",
    source: "sidekiq-unique-jobs 8.0.10, WhileExecuting and RubyReaper",
    ownership: OwnershipRule::of_keys(LockKind::Mutex, first_field),
    requests: &[RequestKind::Script, RequestKind::Del],
    inputs: &[RecipeInput::WallClock, RecipeInput::Reaper],
    build: Build::Redis(&|redis, env, lease| {
        Box::new(UniqueJob::new(redis, env, lease, Reaper::SOUND))
    }),
    ..super::compare_and_delete::RECIPE
};

/// Step 1.
const BEAT: &str = "\
redis.call('DEL', KEYS[2])
for i = 2, #ARGV, 2 do
  redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
end
redis.call('EXPIRE', KEYS[2], 60)
redis.call('SADD', KEYS[1], ARGV[1])";

/// Step 2.
const LOCK: &str = "\
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return 1
end
if redis.call('HLEN', KEYS[1]) >= 1 then
  return 0
end
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[3])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1";

/// Step 4.
const UNLOCK: &str = "\
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call('ZREM', KEYS[2], ARGV[2])
return 1";

/// The names of all locks, by when they were taken.
const DIGESTS: &str = "uniquejobs:digests";
/// The names of all processes.
const PROCESSES: &str = "processes";
/// What the name of a lock of the run time ends with.
const RUN: &str = ":RUN";

/// Between two tries of a job that is put off (`schedule_in`).
const SCHEDULE_IN: Duration = Duration::from_secs(1);
/// From one heartbeat to the next.
const BEAT_PAUSE: Duration = Duration::from_secs(5);
/// What is younger is no orphan: `reaper_timeout`, and `SIDEKIQ_BEAT_PAUSE`, 10 s each.
const YOUNG: Duration = Duration::from_secs(20);

/// What the reaper holds to be an orphan.
#[derive(Clone, Copy)]
pub(super) struct Reaper {
    /// Whether names are compared without `:RUN`.
    pub strips_run: bool,
    /// Whether locks that are younger than [`YOUNG`] are looked at, too.
    pub looks_at_young: bool,
}

impl Reaper {
    pub const SOUND: Self = Self {
        strips_run: true,
        looks_at_young: false,
    };

    /// Whether a lock and a job have the same name.
    fn is_of(self, digest: &str, job: &str) -> bool {
        digest == job || self.strips_run && digest.strip_suffix(RUN) == Some(job)
    }
}

/// The jobs that a process runs, by thread: the name of each, and since when it is there, in milliseconds.
#[derive(Default)]
struct WorkState {
    beats: Cell<bool>,
    jobs: RefCell<BTreeMap<String, String>>,
}

pub(super) struct UniqueJob {
    leased: Leased,
    reaper: Reaper,
    work: Rc<WorkState>,
    lock: Script,
    unlock: Script,
    jid: String,
}

/// The field of the hash is the job's id.
fn first_field(keys: &dyn Keys, lock: &str, holds: &mut Vec<KeyHold>) {
    if let Some(Value::Array(fields) | Value::Map(fields)) = keys.read(lock)
        && let Some(Value::Bulk(jid)) = fields.first()
    {
        holds.push(KeyHold::exclusive(Bytes::clone(jid)));
    }
}

/// The texts of an answer that is a list.
fn texts(answer: &Value) -> Vec<String> {
    let texts = answer.values().unwrap_or_default().iter();
    let texts = texts.filter_map(Value::bytes);
    texts
        .map(|text| String::from_utf8_lossy(text).into_owned())
        .collect()
}

impl UniqueJob {
    pub fn new(redis: Redis, env: Env, lease: Lease, reaper: Reaper) -> Self {
        let job = Self {
            work: env.process_wide(WorkState::default),
            leased: Leased { redis, env, lease },
            reaper,
            lock: Script::new(LOCK),
            unlock: Script::new(UNLOCK),
            jid: String::new(),
        };
        job.begin_to_beat();
        job
    }

    fn digest(&self) -> String {
        format!("{}{RUN}", self.leased.lease.key)
    }

    fn millis(&self) -> u128 {
        self.leased.env.wall().as_millis()
    }

    /// Step 1, for as long as the process lives.
    fn begin_to_beat(&self) {
        if self.work.beats.replace(true) {
            return;
        }
        let (env, redis) = (self.leased.env.clone(), self.leased.redis.clone());
        let (work, beat) = (Rc::clone(&self.work), Script::new(BEAT));
        let process = format!("{}:{}", env.host(), env.guid());
        let workers = format!("{process}:workers");
        env.clone().spawn(async move {
            loop {
                let jobs = work.jobs.borrow().clone();
                let jobs = jobs.iter().flat_map(|(thread, job)| [&**thread, &**job]);
                let args: Vec<&str> = std::iter::once(&*process).chain(jobs).collect();
                // What is not written now is written with the next beat.
                let _failed = redis.script(&beat, &[PROCESSES, &workers], &args).await;
                env.sleep(BEAT_PAUSE).await;
            }
        });
    }

    /// A job begins, and is listed from the next heartbeat on.
    fn begin_job(&mut self) {
        self.jid = self.leased.env.guid();
        let job = format!("{} {}", self.leased.lease.key, self.millis());
        let thread = self.leased.env.thread().to_string();
        self.work.jobs.borrow_mut().insert(thread, job);
    }

    fn end_job(&self) {
        let thread = self.leased.env.thread().to_string();
        self.work.jobs.borrow_mut().remove(&thread);
    }

    /// Step 2, once.
    async fn try_lock(&self) -> RedisResult<bool> {
        let Lease { key, time } = &self.leased.lease;
        let (now, ttl) = (self.millis().to_string(), time.as_millis().to_string());
        let digest = self.digest();
        let (keys, args) = ([&**key, DIGESTS], [&*self.jid, &*now, &*digest, &*ttl]);
        let locked = self.leased.redis.script(&self.lock, &keys, &args);
        Ok(locked.await? == Value::Integer(1))
    }

    /// Step 4.
    async fn unlock(&self) -> RedisResult<bool> {
        let digest = self.digest();
        let (keys, args) = ([&*self.leased.lease.key, DIGESTS], [&*self.jid, &*digest]);
        let unlocked = self.leased.redis.script(&self.unlock, &keys, &args);
        Ok(unlocked.await? == Value::Integer(1))
    }

    /// The names of the locks that the reaper looks at, and the wall clock's time before which nothing is young.
    async fn digests(&self) -> RedisResult<(Vec<String>, u128)> {
        let old = self.millis().saturating_sub(YOUNG.as_millis());
        let up_to = match self.reaper.looks_at_young {
            true => "+inf".to_owned(),
            false => old.to_string(),
        };
        let range = Command::new("ZRANGEBYSCORE").args([DIGESTS, "-inf", &*up_to]);
        Ok((texts(&self.leased.redis.ask(range).await?), old))
    }

    /// Whether a process lists the job of a lock, or a young one.
    async fn is_active(&self, digest: &str, old: u128) -> RedisResult<bool> {
        let redis = &self.leased.redis;
        let processes = redis.ask(Command::new("SMEMBERS").arg(PROCESSES)).await?;
        for process in texts(&processes) {
            let workers = Command::new("HGETALL").arg(format!("{process}:workers"));
            let table = texts(&redis.ask(workers).await?);
            let mut jobs = table
                .chunks(2)
                .filter_map(|row| row.get(1)?.rsplit_once(' '));
            let is_find = |(name, since): (&str, &str)| {
                let is_young = since.parse::<u128>().is_ok_and(|since| since > old);
                self.reaper.is_of(digest, name) || is_young
            };
            if jobs.any(is_find) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[async_trait(?Send)]
impl Lock for UniqueJob {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            self.begin_job();
            match self.try_lock().await {
                Ok(true) => return Ok(self.leased.held(None)),
                Ok(false) => self.end_job(),
                Err(error) => {
                    let _unlocked = self.unlock().await;
                    self.end_job();
                    return Err(error.into());
                }
            }
            self.leased.env.sleep(SCHEDULE_IN).await;
        }
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let unlocked = self.unlock().await;
        self.end_job();
        match unlocked? {
            true => Ok(()),
            false => Err(LockError::PlaceLost),
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }

    /// Step 3.
    async fn reap(&mut self) -> Result<(), LockError> {
        let (digests, old) = self.digests().await?;
        for digest in digests {
            if self.is_active(&digest, old).await? {
                continue;
            }
            let lock = digest.strip_suffix(RUN).unwrap_or(&digest);
            let redis = &self.leased.redis;
            redis.ask(Command::new("UNLINK").arg(lock)).await?;
            redis
                .ask(Command::new("ZREM").args([DIGESTS, &digest]))
                .await?;
        }
        Ok(())
    }
}
