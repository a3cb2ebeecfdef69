//! On Redis.

use std::future::pending;
use std::rc::Rc;

use async_trait::async_trait;
use picklock::algorithms::clients::redis::{Command, Redis, Value};
use picklock::algorithms::{Env, Held, Lease, Lock, LockError, Recipe, registry};
use picklock::{Harness, Report, Standing};

/// A key, and what is wrong with the lock on it.
struct Key {
    redis: Redis,
    env: Env,
    lease: Lease,
    flaw: Flaw,
    value: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Flaw {
    /// It sets the key without `NX`.
    Overwrites,
    /// Its value is the same for all. It deletes the key only when it holds it, so that does no harm here.
    OneValue,
    /// Its release says that it is done, and does nothing.
    KeepsIt,
    /// Its acquire says that it has given up and left nothing, when it has set the key. The lease is over soon.
    LeavesItsKey,
    /// It loses every hold as soon as it has it.
    LosesIt,
}

impl Key {
    async fn set(&self) -> Result<bool, LockError> {
        let (key, time) = (&*self.lease.key, self.lease.time);
        if self.flaw == Flaw::Overwrites {
            let millis = time.as_millis().to_string();
            let set = Command::new("SET").arg(key).arg(&*self.value);
            let set = set.arg("PX").arg(&*millis);
            self.redis.ask(set).await?;
            return Ok(true);
        }
        Ok(self.redis.set_if_missing(key, &self.value, time).await?)
    }
}

#[async_trait(?Send)]
impl Lock for Key {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.value = match self.flaw {
            Flaw::OneValue => "locked".to_owned(),
            Flaw::Overwrites | Flaw::KeepsIt | Flaw::LeavesItsKey | Flaw::LosesIt => {
                self.env.guid()
            }
        };
        if self.flaw == Flaw::LeavesItsKey && self.set().await? {
            return Err(LockError::AcquireTimeout);
        }
        while !self.set().await? {
            self.env.sleep(std::time::Duration::from_millis(20)).await;
        }
        Ok(Held::at(Rc::clone(&self.lease.key)))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        if self.flaw != Flaw::KeepsIt {
            let deleted = self
                .redis
                .ask(Command::new("DEL").arg(&*held.path_or_key))
                .await?;
            assert!(matches!(deleted, Value::Integer(_)));
        }
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        if self.flaw == Flaw::LosesIt {
            return LockError::LeaseLapsed;
        }
        pending().await
    }
}

fn key(redis: Redis, env: Env, lease: Lease, flaw: Flaw) -> Box<dyn Lock> {
    Box::new(Key {
        redis,
        env,
        lease,
        flaw,
        value: String::new(),
    })
}

fn recipe(flaw: Flaw) -> Recipe {
    let build = move |redis, env, lease| key(redis, env, lease, flaw);
    Recipe {
        name: "our-key",
        build: Recipe::over_redis("our-key", build).build,
        ..*registry::find("redis-compare-and-delete").expect("a registered algorithm")
    }
}

/// What comes of a lock in a world in which nothing breaks. What is expected besides is a line of the case.
fn check(flaw: Flaw, rounds: u32, expected: &str) -> Report {
    let scenario = format!(
        r#"
        claim = "A lock keeps its promises where nothing breaks."
        because = "Nothing breaks."
        source = "a test"
        [service.redis]
        lease = "30s"
        [workload]
        contenders = 2
        rounds = {rounds}
        arrive = "in-order"
        hold = "100ms"
        [[case]]
        algorithm = "our-key"
        {expected}
        "#
    );
    let harness = Harness::new().with_recipe(recipe(flaw)).with_seeds(0..10);
    harness
        .check(&scenario)
        .expect("a scenario without mistakes")
}

/// A report without its line breaks.
fn words(report: &Report) -> String {
    let text = report.to_string();
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ")
}

const BOTH_BELIEVE: &str = r#"expect.mutual-exclusion.unchecked = { because = "both believe" }"#;

#[test]
fn an_overwritten_key_is_told_with_who_overwrote_it() {
    let report = check(Flaw::Overwrites, 1, BOTH_BELIEVE);
    let text = report.to_string();
    for told in [
        "own-release-only violated",
        "contender-2 overwrote the claim of contender-1, which owned the lock",
        "service: A owns it no longer: overwritten by B",
    ] {
        assert!(text.contains(told), "{told}\n{text}");
    }
    let story = report.outcomes[0].cases[0].story.as_ref().unwrap();
    let json = serde_json::to_string(&story.history).unwrap();
    assert!(json.contains(r#""how":{"overwritten-by":1}"#), "{json}");
}

#[test]
fn the_same_value_as_of_an_earlier_holder_owns_the_lock() {
    let report = check(Flaw::OneValue, 3, "");
    assert_eq!(report.standing(), Standing::Holds, "{report}");
}

#[test]
fn a_release_that_says_done_and_did_nothing_is_no_honest_answer() {
    let text = words(&check(Flaw::KeepsIt, 1, ""));
    let told = "contender-1 was told that it had released the lock, which it still owned";
    assert!(text.contains("honest-answer violated"), "{text}");
    assert!(text.contains(told), "{text}");
}

#[test]
fn an_acquire_that_fails_for_certain_and_leaves_its_key_is_no_honest_answer_within_its_lease() {
    let text = words(&check(Flaw::LeavesItsKey, 1, NOT_ACQUIRED));
    let told = "contender-1 was told that its acquire had left nothing, and lock:a was left";
    assert!(text.contains("honest-answer violated"), "{text}");
    assert!(text.contains("no-orphan violated"), "{text}");
    assert!(text.contains(told), "{text}");
}

const NOT_ACQUIRED: &str = r#"expect.progress.unchecked = { because = "no contender gets it" }"#;

#[test]
fn a_lock_that_is_lost_each_time_before_a_section_is_done_makes_no_progress() {
    let text = words(&check(Flaw::LosesIt, 1, ""));
    assert!(text.contains("progress violated"), "{text}");
    let told = "times in the calm, and lost it each time before its section was done";
    assert!(text.contains(told), "{text}");
}

#[test]
fn a_sound_lock_whose_sections_take_longer_than_its_lease_makes_no_progress() {
    let scenario = r#"
        claim = "A section that takes longer than the lease is never done."
        because = "It is not renewed."
        source = "a test"
        [service.redis]
        lease = "2s"
        [workload]
        contenders = 2
        hold = "5s"
        [[case]]
        algorithm = "redis-compare-and-delete"
        expect.progress.violated = { because = "the lease is over each time", within-seeds = 1 }
        expect.no-stale-effect.unchecked = { because = "nothing is ever written" }
        [[case]]
        algorithm = "redisson-lock"
        "#;
    let harness = Harness::new().with_seeds(0..10);
    harness.assert_as_expected(scenario);
}
