//! Which recipes are locks as client libraries ship them, what these promise, and which setting helps.

/// A client library, or a part of one, that ships locks.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// Its name.
    pub name: &'static str,
    /// The language that it is written in.
    pub language: &'static str,
    /// The recipes that are its locks as shipped. Their sources say which version was looked at.
    pub recipes: &'static [&'static str],
    /// What its documentation promises, in one sentence.
    pub promise: &'static str,
    /// The setting, or the call, that helps against what breaks it.
    pub helps: &'static str,
}

/// Each library, in the order of the services.
pub const LIBRARIES: &[Library] = &[
    Library {
        name: "Apache Curator",
        language: "Java",
        recipes: &[
            "curator-mutex",
            "curator-mutex-revocable",
            "curator-multi-lock",
            "curator-read-write-lock",
            "curator-semaphore",
            "curator-semaphore-mutex",
            "curator-leader-latch",
            "curator-leader-selector",
            "curator-barrier",
            "curator-double-barrier",
        ],
        promise: "No two clients hold the same lock at once, if the holder heeds the state of its connection.",
        helps: "A ConnectionStateListener that stops the section at SUSPENDED, and a look at the node's owner",
    },
    Library {
        name: "kazoo",
        language: "Python",
        recipes: &[
            "kazoo-lock",
            "kazoo-read-write-lock",
            "kazoo-semaphore",
            "kazoo-election",
            "kazoo-barrier",
            "kazoo-double-barrier",
        ],
        promise: "A lock is held from acquire to release, or until the session is lost.",
        helps: "A listener that stops the section when the state is SUSPENDED",
    },
    Library {
        name: "go-zookeeper",
        language: "Go",
        recipes: &["go-zookeeper-lock", "go-zookeeper-lock-events"],
        promise: "Lock returns when the lock is held, and Unlock gives it back.",
        helps: "Reading the channel of events of the Conn, as `go-zookeeper-lock-events` does",
    },
    Library {
        name: "zookeeper-client",
        language: "Rust",
        recipes: &["rust-lock-client"],
        promise: "Writes of the LockClient fail once the lock's node is gone.",
        helps: "Writing through the LockClient alone",
    },
    Library {
        name: "Redisson",
        language: "Java",
        recipes: &[
            "redisson-lock",
            "redisson-fair-lock",
            "redisson-spin-lock",
            "redisson-fenced-lock",
            "redisson-read-write-lock",
            "redisson-multi-lock",
            "redisson-red-lock",
            "redisson-semaphore",
            "redisson-permit-expirable-semaphore",
            "redisson-count-down-latch",
        ],
        promise: "A lock of a client that lives is renewed by a watchdog, and that of a dead one is released.",
        helps: "`RFencedLock` and a resource that checks its token; `checkLockSyncedSlaves` with replicas",
    },
    Library {
        name: "redis-py",
        language: "Python",
        recipes: &[
            "redis-py-lock",
            "redis-py-lock-reacquire",
            "redis-py-lock-extend",
            "redis-py-asyncio-lock",
        ],
        promise: "A lock is held for its timeout at most, and no other thread's token releases it.",
        helps: "`thread_local=True`, and `reacquire()`, or `extend` with `replace_ttl=True`, while the section goes on",
    },
    Library {
        name: "python-redis-lock",
        language: "Python",
        recipes: &["python-redis-lock"],
        promise: "Waiters are woken by a release, and do not poll.",
        helps: "`auto_renewal=True`, and an `expire` that is longer than any pause",
    },
    Library {
        name: "node-redlock",
        language: "TypeScript",
        recipes: &["node-redlock"],
        promise: "The signal of `using` is aborted when the lock could not be extended.",
        helps: "`retryCount: 0` for extensions, an `automaticExtensionThreshold` that is longer than all retries, a \
                `commandTimeout` of ioredis, and an odd number of servers",
    },
    Library {
        name: "redsync",
        language: "Go",
        recipes: &["redsync"],
        promise: "After Lock no other client obtains the same name until Unlock, or until `Until`.",
        helps: "`ContextTimeoutEnabled` of go-redis, or an expiry that is longer than its `ReadTimeout`; \
                `WithTries(1)` in a loop of one's own, so that each try has a value of its own",
    },
    Library {
        name: "rslock",
        language: "Rust",
        recipes: &["rslock"],
        promise: "A lock is valid for its `validity_time`, and `extend` prolongs it.",
        helps: "`set_retry(1, _)`, and no section that goes on while `extend` is under way",
    },
    Library {
        name: "bsm/redislock",
        language: "Go",
        recipes: &["bsm-redislock", "bsm-redislock-own-token"],
        promise: "Obtain fails with ErrNotObtained while another has the lock; a token of one's own obtains it again.",
        helps: "The random token, or tokens of one length in `Options.Token`",
    },
    Library {
        name: "rueidislock",
        language: "Go",
        recipes: &["rueidislock-last-deadline", "rueidislock"],
        promise: "A lock is extended until it is released, and its context is cancelled when it is lost.",
        helps: "Version 1.0.70 or later, and clocks of clients that agree with the server's",
    },
    Library {
        name: "RedLock.net",
        language: "C#",
        recipes: &["redlock-net-whole-seconds", "redlock-net"],
        promise: "A lock is extended for as long as its object lives.",
        helps: "Version 1.6.2 or later, or an expiry of whole seconds",
    },
    Library {
        name: "DistributedLock.Redis",
        language: "C#",
        recipes: &["distributed-lock-redis"],
        promise: "A lost handle cancels its token.",
        helps: "A section that watches `HandleLostToken`",
    },
    Library {
        name: "symfony/lock",
        language: "PHP",
        recipes: &[
            "symfony-lock-kept-end",
            "symfony-lock-kept-end-deleted",
            "symfony-lock",
        ],
        promise: "A lock that is acquired lasts for its time to live, unless it is refreshed.",
        helps: "Version 4.4.16 or 5.1.8, or later",
    },
    Library {
        name: "resque-scheduler",
        language: "Ruby",
        recipes: &[
            "resque-scheduler-lock-not-reloaded",
            "resque-scheduler-lock",
        ],
        promise: "One scheduler is the master, and another takes over when it dies.",
        helps: "Version 4.3.1 or later",
    },
    Library {
        name: "Laravel, cache locks",
        language: "PHP",
        recipes: &["laravel-cache-lock-force-release", "laravel-cache-lock"],
        promise: "A lock is released by its owner alone, also when another process restores it.",
        helps: "`restoreLock` with the owner, and never `forceRelease`",
    },
    Library {
        name: "BullMQ, and Bull before it",
        language: "TypeScript",
        recipes: &["bull-queue-timers-first", "bullmq-worker"],
        promise: "One worker has the lock of a job for as long as it is at work, also while it closes.",
        helps: "Bull 3.22.11 or later, and jobs that leave the event loop time for a renewal",
    },
    Library {
        name: "sidekiq-unique-jobs",
        language: "Ruby",
        recipes: &[
            "sidekiq-unique-jobs-run-names",
            "sidekiq-unique-jobs-young-locks",
            "sidekiq-unique-jobs",
        ],
        promise: "One job of a name runs at a time, and the lock of a job that is gone is reaped.",
        helps: "Version 8.0.10 or later, and a `lock_ttl` that is longer than any job",
    },
    Library {
        name: "Spring Integration, RedisLockRegistry",
        language: "Java",
        recipes: &[
            "spring-redis-lock-registry",
            "spring-redis-lock-registry-renewed",
            "spring-redis-lock-registry-pub-sub",
        ],
        promise: "A lock expires after `expireAfter`, and unlocking an expired lock fails.",
        helps: "An `expireAfter` that is longer than any section, and no `renewalTaskScheduler` unless a failed unlock \
                is tried again",
    },
    Library {
        name: "Spring Integration, JdbcLockRegistry",
        language: "Java",
        recipes: &["spring-jdbc-lock-registry"],
        promise: "A lock expires after its time to live, and unlocking an expired lock fails.",
        helps: "`renewLock` more often than the time to live, and a look at what it answers",
    },
    Library {
        name: "ShedLock",
        language: "Java",
        recipes: &["shedlock-jdbc", "shedlock-jdbc-6"],
        promise: "A scheduled task runs at most once at the same time, within `lockAtMostFor`.",
        helps: "`usingDbTime()`, and a `lockAtMostFor` that is longer than any run",
    },
    Library {
        name: "Liquibase",
        language: "Java",
        recipes: &["liquibase-lock"],
        promise: "One instance changes the schema at a time.",
        helps: "`releaseLocks` by an operator who knows that the holder is dead",
    },
    Library {
        name: "etcd, client/v3/concurrency",
        language: "Go",
        recipes: &[
            "etcd-mutex",
            "etcd-mutex-3-4",
            "etcd-election",
            "etcd-election-3-6",
        ],
        promise: "A mutex or an election is held for as long as the lease of its session lives.",
        helps: "`session.Done()` for the end of the section, and `IsOwner()` as a comparison of each transaction",
    },
    Library {
        name: "python-etcd3",
        language: "Python",
        recipes: &["etcd3-python-lock"],
        promise: "A lock is held from acquire to release, or until its ttl is over.",
        helps: "`refresh()` more often than the ttl, and `is_acquired()`",
    },
    Library {
        name: "Consul, api",
        language: "Go",
        recipes: &[
            "consul-lock",
            "consul-lock-monitor-retries",
            "consul-semaphore",
        ],
        promise: "The channel that Lock returns is closed when leadership is lost.",
        helps: "A `LockDelay` that is longer than any section after the loss, and the sequencer for the resource",
    },
    Library {
        name: "Patroni",
        language: "Python",
        recipes: &["consul-patroni-leader"],
        promise: "One node is the leader for as long as its session in Consul lives.",
        helps: "A watchdog of the machine that ends a leader that stands still",
    },
];

impl Library {
    /// The library that ships a recipe, if one does.
    pub fn of(recipe: &str) -> Option<&'static Self> {
        LIBRARIES
            .iter()
            .find(|library| library.recipes.contains(&recipe))
    }
}

#[cfg(test)]
mod tests {
    use super::LIBRARIES;
    use crate::registry;

    #[test]
    fn a_library_ships_recipes_that_there_are_and_each_once() {
        let shipped: Vec<&str> = LIBRARIES
            .iter()
            .flat_map(|library| library.recipes)
            .copied()
            .collect();
        for (index, name) in shipped.iter().enumerate() {
            assert!(registry::find(name).is_some(), "{name}");
            assert!(!shipped[..index].contains(name), "{name}");
        }
    }
}
