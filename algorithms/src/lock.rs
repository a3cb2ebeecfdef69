//! What a lock is: acquire, release, and the news that it is lost.

use std::any::Any;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use crate::claim::Claim;
use crate::clients::redis::Redis;
use crate::clients::zookeeper::{Path, ZooKeeper};
use crate::clients::{RequestKind, ServiceKind};
use crate::env::Env;
use crate::held::Held;
use crate::lock_error::LockError;
use crate::ownership_rule::OwnershipRule;

/// A distributed lock in the hands of one contender.
#[async_trait(?Send)]
pub trait Lock {
    /// Waits until the contender holds the lock. A client of ZooKeeper has had its first session when this is called.
    async fn acquire(&mut self) -> Result<Held, LockError>;

    /// Whether it has a call that waits for so long and no longer: [`acquire_within`](Self::acquire_within). With
    /// another recipe, a caller drops `acquire` when the time is up.
    fn has_timed_acquire(&self) -> bool {
        false
    }

    /// Waits until the contender holds the lock, but no longer than so long: then [`LockError::AcquireTimeout`], and
    /// nothing is left behind. No time at all is a `tryLock()`, of a recipe that has one ([`RecipeInput::TryAcquire`]).
    async fn acquire_within(&mut self, _timeout: Duration) -> Result<Held, LockError> {
        self.acquire().await
    }

    /// The same, and the lock goes by itself when so long a lease is over: what a [`MultiLock`] over Redis asks of
    /// each of its locks. No other code calls it.
    async fn acquire_leased(
        &mut self,
        timeout: Duration,
        _lease: Duration,
    ) -> Result<Held, LockError> {
        self.acquire_within(timeout).await
    }

    /// Sets when such a lock goes by itself: so long from now on. Answers whether there was one to set it of.
    async fn expire(&mut self, _held: &Held, _lease: Duration) -> Result<bool, LockError> {
        Ok(true)
    }

    /// Waits until the contender holds the lock together with others who share it, as readers do: of a
    /// [`ReadWrite`](crate::LockKind::ReadWrite) lock and of no other; or until a [`Barrier`](crate::LockKind::Barrier)
    /// does not stand, or the count of a [`CountDownLatch`](crate::LockKind::CountDownLatch) is zero.
    async fn acquire_shared(&mut self) -> Result<Held, LockError> {
        self.acquire().await
    }

    /// The same as [`acquire_within`](Self::acquire_within), of an [`acquire_shared`](Self::acquire_shared).
    async fn acquire_shared_within(&mut self, _timeout: Duration) -> Result<Held, LockError> {
        self.acquire_shared().await
    }

    /// What another thread calls to cancel an [`acquire`](Self::acquire) of this object, if it has such a call
    /// ([`RecipeInput::CancelCall`]). The acquire goes on until it looks whether it was cancelled, and then fails with
    /// [`LockError::Cancelled`]. Where there is no such call, a cancel drops the future of the acquire.
    fn cancel_call(&self) -> Option<CancelCall> {
        None
    }

    /// The same for an [`acquire_shared`](Self::acquire_shared).
    fn cancel_call_shared(&self) -> Option<CancelCall> {
        self.cancel_call()
    }

    /// What is called when the process is asked to stop, if the lock object has such a call: a worker's `close()`. The
    /// section that it is in goes on to its end.
    fn stop_call(&self) -> Option<StopCall> {
        None
    }

    /// Says how many come to a [`DoubleBarrier`](crate::LockKind::DoubleBarrier), before any other call. To acquire it
    /// is to enter it, and to release it is to leave it.
    fn set_parties(&mut self, _parties: u32) {}

    /// Says how many participants count down, and the name of the contender that calls: of a lock of the kind
    /// [`CountDownLatch`](crate::LockKind::CountDownLatch), before any other call. To acquire it is to take part, with
    /// the count set, and to release it is to count down. A contender has the name that it had before it died.
    fn set_latch_count(&mut self, _count: u32, _name: &str) {}

    /// Says how many permits each `acquire` takes, if its recipe goes by that ([`RecipeInput::SeveralPermits`]).
    fn set_permits_per_acquire(&mut self, _permits: u32) {}

    /// Gives the lock back, in whichever mode it is held.
    async fn release(&mut self, held: Held) -> Result<(), LockError>;

    /// The name of the owner of what it holds, if another process can give the lock back by it: it is sent to that one.
    fn owner(&self) -> Option<String> {
        None
    }

    /// Gives back what another process holds, whose [`owner`](Self::owner) this one was sent, of a recipe that says so
    /// ([`RecipeInput::RestoredLock`]).
    async fn release_by(&mut self, _owner: &str) -> Result<(), LockError> {
        Err(LockError::NotHeld)
    }

    /// Resolves when this recipe learns that the contender may not hold the lock any more. A recipe that never
    /// looks never resolves, and its contender goes on believing.
    ///
    /// A recipe that is revocable also resolves it with [`LockError::Revoked`] when the holder is asked to give the
    /// lock back, once for each time. Then nothing is lost: the holder ends its section, and calls `release`.
    async fn lost(&self, held: &Held) -> LockError;

    /// Runs the reaper once, if the recipe has one ([`RecipeInput::Reaper`]): it looks through all locks of the service
    /// for what the dead have left, and deletes that. A turn that fails ends, and the next comes later.
    ///
    /// # Errors
    ///
    /// What the service answers.
    async fn reap(&mut self) -> Result<(), LockError> {
        Ok(())
    }

    /// Whether the lock opens a new session by itself when the one that it was built on is gone. If so, its contender
    /// opens none.
    fn renews_sessions(&self) -> bool {
        false
    }

    /// The same lock object in the hands of another task of the process, as threads have it that refer to one object:
    /// what the object keeps for all of them is shared, what it keeps for each thread is that thread's. `None` from a
    /// recipe that does not say how its object is shared; [`Recipe::shareable`] says which do.
    fn for_task(&self, _env: &Env) -> Option<Box<dyn Lock>> {
        None
    }
}

/// What cancels a pending call of a lock object, from another thread.
pub type CancelCall = Rc<dyn Fn()>;

/// What asks a lock object to stop.
pub type StopCall = Rc<dyn Fn()>;

/// How a caller calls a multi-lock.
#[derive(Clone, Copy)]
pub struct MultiLockCall<'a> {
    /// The environment of the caller.
    pub env: &'a Env,
    /// For how long the caller waits, if not for ever.
    pub wait: Option<Duration>,
    /// How long the service keeps a lock without a word from its holder: what a caller of a lock with a lease asks for.
    pub lease: Duration,
}

/// How several locks are acquired by one call, and given back by one.
#[async_trait(?Send)]
pub trait MultiLock: Sync {
    /// Acquires these locks in their order, and answers what it holds of each, in that order. A caller that gets
    /// an error holds none of them.
    async fn acquire(
        &self,
        call: MultiLockCall<'_>,
        locks: &mut [&mut dyn Lock],
    ) -> Result<Vec<Held>, LockError>;

    /// Gives back all of them. What of each is held comes in their order.
    async fn release(&self, locks: &mut [&mut dyn Lock], held: Vec<Held>) -> Result<(), LockError>;
}

/// A key that is held for a time: what a lock on Redis is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The lock's own key.
    pub key: Rc<str>,
    /// How long it is held before it goes by itself.
    pub time: Duration,
}

/// What builds a lock over a ZooKeeper handle.
pub type BuildOverZooKeeper = dyn Fn(ZooKeeper, Env, Path) -> Box<dyn Lock> + Sync;

/// What builds a semaphore over a ZooKeeper handle, with this number of permits.
pub type BuildSemaphoreOverZooKeeper = dyn Fn(ZooKeeper, Env, Path, u32) -> Box<dyn Lock> + Sync;

/// What builds a lock over a Redis handle.
pub type BuildOverRedis = dyn Fn(Redis, Env, Lease) -> Box<dyn Lock> + Sync;

/// What builds a semaphore over a Redis handle, with this number of permits.
pub type BuildSemaphoreOverRedis = dyn Fn(Redis, Env, Lease, u32) -> Box<dyn Lock> + Sync;

/// What builds a lock over the handle of a service that locks are built over in one way. The adapter of that service
/// knows its type.
pub trait BuildOver: Any + Sync {
    /// The service.
    fn service(&self) -> ServiceKind;

    /// Those of its variants that the lock can stand on, by their words in scenario files; `None`: all.
    fn variants(&self) -> Option<&'static [&'static str]> {
        None
    }
}

/// How to build a lock over the service that it needs.
#[derive(Clone, Copy)]
pub enum Build {
    /// Over a ZooKeeper handle; the path is the lock's own node, which exists already.
    ZooKeeper(&'static BuildOverZooKeeper),
    /// The same of a semaphore, which is told how many permits it has.
    SemaphoreOverZooKeeper(&'static BuildSemaphoreOverZooKeeper),
    /// Several locks, each over its own node, that are acquired by one call.
    MultiLockOverZooKeeper {
        /// How to build each of them.
        each: &'static BuildOverZooKeeper,
        /// How they are acquired together.
        all: &'static dyn MultiLock,
    },
    /// Over a Redis handle; the key does not exist yet.
    Redis(&'static BuildOverRedis),
    /// Several locks, each over its own key, that are acquired by one call.
    MultiLockOverRedis {
        /// How to build each of them.
        each: &'static BuildOverRedis,
        /// How they are acquired together.
        all: &'static dyn MultiLock,
    },
    /// The same of a semaphore, which is told how many permits it has.
    SemaphoreOverRedis(&'static BuildSemaphoreOverRedis),
    /// Over a handle of another service.
    Other(&'static dyn BuildOver),
}

impl Build {
    /// How it acquires several locks by one call, if it does.
    pub fn multi_lock(self) -> Option<&'static dyn MultiLock> {
        match self {
            Self::MultiLockOverZooKeeper { all, .. } | Self::MultiLockOverRedis { all, .. } => {
                Some(all)
            }
            Self::ZooKeeper(_)
            | Self::SemaphoreOverZooKeeper(_)
            | Self::Redis(_)
            | Self::SemaphoreOverRedis(_)
            | Self::Other(_) => None,
        }
    }

    /// Those of the service's variants that it can stand on; `None`: all.
    pub fn variants(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Other(build) => build.variants(),
            _ => None,
        }
    }

    /// The service that it needs.
    pub fn service(self) -> ServiceKind {
        match self {
            Self::ZooKeeper(_)
            | Self::SemaphoreOverZooKeeper(_)
            | Self::MultiLockOverZooKeeper { .. } => ServiceKind::ZooKeeper,
            Self::Redis(_) | Self::SemaphoreOverRedis(_) | Self::MultiLockOverRedis { .. } => {
                ServiceKind::Redis
            }
            Self::Other(build) => build.service(),
        }
    }
}

/// What a recipe may go by, besides answers, watches, and how much time has passed on its machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecipeInput {
    /// The wall clock of its machine, when it measures how long it has waited.
    WallClock,
    /// Messages of channels that it listens to.
    Channels,
    /// Requests to give the lock back: another process writes this message into the data of the holder's node.
    Revocation(&'static str),
    /// A call of another thread that cancels a pending `acquire`, but no `release`: kazoo's `cancel`.
    CancelCall,
    /// Whether the lock's own node (ZooKeeper) is there: it makes the node where it is missing.
    LockNode,
    /// That its caller has no time to wait (`tryLock()`): it tries once, and answers.
    TryAcquire,
    /// How many permits its caller wants: one call takes them all.
    SeveralPermits,
    /// Turns of its reaper, which deletes locks that it takes for orphans ([`Lock::reap`]).
    Reaper,
    /// That another process restores the lock from the name of its owner, and gives it back ([`Lock::release_by`]).
    RestoredLock,
}

/// A row of the registry of algorithms.
#[derive(Clone, Copy)]
pub struct Recipe {
    /// Its name, as in `zk-predecessor-watch`.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub summary: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// For a recipe that is broken on purpose, or as published: what is wrong with it.
    pub flaw: Option<&'static str>,
    /// What it promises.
    pub claims: &'static [Claim],
    /// Who owns the lock.
    pub ownership: OwnershipRule,
    /// The requests that it may make, apart from those of the library that it stands on: drawn faults wait for these.
    pub requests: &'static [RequestKind],
    /// What it goes by that others do not: drawn faults leave out what it cannot feel.
    pub inputs: &'static [RecipeInput],
    /// Whether something can end a pending call of it early: a dropped future, an interrupt that the library lets out
    /// of its call (Curator), or kazoo's `cancel`. Redisson's `lock()` goes on waiting, and nothing is there to strike.
    pub cancellable: bool,
    /// Whether tasks of one process may have one lock object: whether [`Lock::for_task`] says what each sees of it.
    pub shareable: bool,
    /// How to build it.
    pub build: Build,
}

/// What a lock promises whose recipe does not say more: no order, and no token.
pub const BASIC_CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::HonestAnswer,
];

impl Recipe {
    /// What is written into the data of a node to ask its holder to give the lock back; `None` if holders do not heed
    /// such a request.
    pub fn revoke_message(&self) -> Option<&'static str> {
        self.inputs.iter().find_map(|input| match input {
            RecipeInput::Revocation(message) => Some(*message),
            RecipeInput::WallClock
            | RecipeInput::Channels
            | RecipeInput::CancelCall
            | RecipeInput::LockNode
            | RecipeInput::TryAcquire
            | RecipeInput::SeveralPermits
            | RecipeInput::Reaper
            | RecipeInput::RestoredLock => None,
        })
    }

    /// Whether something can end any pending call of it early, a `release` too.
    pub fn is_interruptible(&self) -> bool {
        self.cancellable && !self.inputs.contains(&RecipeInput::CancelCall)
    }

    /// A lock over ZooKeeper: the first of the children of its node owns it. It promises what every lock does, and no
    /// order and no token, and may make every request; other fields say otherwise.
    ///
    /// What builds it may hold values that are known at run time only. It is kept until the program ends.
    pub fn over_zookeeper(
        name: &'static str,
        build: impl Fn(ZooKeeper, Env, Path) -> Box<dyn Lock> + Sync + 'static,
    ) -> Self {
        let build = Build::ZooKeeper(Box::leak(Box::new(build)));
        Self::of(name, OwnershipRule::LOWEST_CHILD, build)
    }

    /// As [`over_zookeeper`](Self::over_zookeeper), for a lock over Redis: the client that set its key owns it.
    pub fn over_redis(
        name: &'static str,
        build: impl Fn(Redis, Env, Lease) -> Box<dyn Lock> + Sync + 'static,
    ) -> Self {
        let build = Build::Redis(Box::leak(Box::new(build)));
        Self::of(name, OwnershipRule::KEY, build)
    }

    /// A semaphore over Redis, which is told how many permits there are, and whose owners are read by this rule. As
    /// [`over_zookeeper`](Self::over_zookeeper), otherwise.
    pub fn semaphore_over_redis(
        name: &'static str,
        ownership: OwnershipRule,
        build: impl Fn(Redis, Env, Lease, u32) -> Box<dyn Lock> + Sync + 'static,
    ) -> Self {
        let build = Build::SemaphoreOverRedis(Box::leak(Box::new(build)));
        Self::of(name, ownership, build)
    }

    fn of(name: &'static str, ownership: OwnershipRule, build: Build) -> Self {
        Self {
            name,
            summary: "A lock of this program.",
            source: "this program",
            flaw: None,
            claims: BASIC_CLAIMS,
            ownership,
            requests: &RequestKind::ALL,
            inputs: &[],
            cancellable: true,
            shareable: false,
            build,
        }
    }
}
