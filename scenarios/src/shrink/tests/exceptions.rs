//! Failures of the library of which more is left than fits on a screen, and why.

/// What needs more operations than twelve, how many, and why. A failure is named by its scenario, its case, and the
/// invariant, or by the first of these.
pub const MORE_OPERATIONS: &[(&str, u32, &str)] = &[
    (
        "redis/noscript redisson-scripts-sent-once progress",
        600,
        "each call finds no script, and the next comes, until the end",
    ),
    (
        "redis/sentinel-clients lettuce mutual-exclusion",
        60,
        "one client goes through its rounds at the old primary, until the other comes",
    ),
    (
        "zookeeper/semaphore-halves-given-back curator-semaphore-keeps-leases progress",
        22,
        "a call that wants two leases keeps one when it fails, and the next comes, until the end",
    ),
    (
        "redis/lock-object-keeps-end symfony-lock-kept-end-deleted progress",
        100,
        "each call fails with what it has got, and the next comes, until the end",
    ),
    (
        "redis/renewal-thread-kept python-redis-lock-auto-renewal progress",
        150,
        "each call takes the lock and fails, and the next comes, until the end",
    ),
    (
        "redis/red-lock-regions redisson-red-lock progress",
        15,
        "each call asks too slow a majority, and the next comes, until the end",
    ),
    (
        "redis/starved-spinner redisson-lock no-starvation",
        34,
        "the others enter so often while one asks again and again",
    ),
    (
        "incidents/kazoo-732 zk-best-effort-cleanup progress",
        30,
        "every contender behind the node gives up and comes again until the end",
    ),
    (
        "zookeeper/semaphore-second-lease",
        13,
        "a semaphore keeps two permits, and each is asked for",
    ),
    (
        "curator/test-simple curator-semaphore-unreturned progress",
        30,
        "a contender behind its own lease gives up and comes again until the end",
    ),
    (
        "zookeeper/starved-reader zk-shared-locks-writers-first no-starvation",
        27,
        "as many writers enter as the bound on starvation allows, and one more",
    ),
    (
        "zookeeper/starved-writer zk-shared-locks-readers-first no-starvation",
        27,
        "as many readers enter as the bound on starvation allows, and one more",
    ),
    (
        "redis/sentinel-clients redis-py",
        53,
        "each client goes through its rounds at a primary of its own",
    ),
    (
        "redis/sentinel-clients redisson-without-polling",
        30,
        "one client goes through its rounds at the old primary, until the other comes back",
    ),
    (
        "zookeeper/timed-out-waiter zk-timed-out-waiter progress",
        20,
        "each call gives up after a session timeout, and the next comes, until the end",
    ),
    (
        "zookeeper/container-reaped zk-predecessor-watch progress",
        1_000,
        "each create finds no parent, and the next comes 50 ms later, until the end",
    ),
    (
        "curator/test-some-locks-fail-to-lock curator-multi-lock-keeps-first progress",
        60,
        "each call gives up, and the next enters the lock that was left once more, until the end",
    ),
    (
        "zookeeper/lock-order-livelock curator-mutex progress",
        30,
        "both give up and come again until the end",
    ),
    (
        "zookeeper/lock-order-livelock zk-hardened progress",
        30,
        "both give up and come again until the end",
    ),
    (
        "zookeeper/go-session-renewed go-zookeeper-lock progress",
        900,
        "the lock object refuses to lock again, and the next call comes 50 ms later, until the end",
    ),
    (
        "zookeeper/go-failed-unlock go-zookeeper-lock progress",
        900,
        "the lock object refuses to lock again, and the next call comes 50 ms later, until the end",
    ),
    (
        "zookeeper/swarm-go go-zookeeper-lock progress",
        900,
        "the lock object refuses to lock again, and the next call comes 50 ms later, until the end",
    ),
];

/// What needs more faults than three, how many, and why.
pub const MORE_FAULTS: [(&str, u32, &str); 4] = [
    (
        "redis/multi-lock-seconds redisson-multi-lock-seconds no-orphan",
        4,
        "the lease is a thousand times as long with each loop of a call, and a fault fails each of them",
    ),
    (
        "redis/swarm redis-setnx-expire own-release-only",
        4,
        "the key is evicted behind a server that hangs, its holder is paused, and the key of the next is deleted",
    ),
    (
        "redis/redlock-silent-server redlock-short-delay progress",
        4,
        "a server is silent, a partition splits the votes, and two pauses have three contenders come at three times",
    ),
    (
        "redis/redlock-late-delete redlock-one-token mutual-exclusion",
        4,
        "an attempt without a majority, and its deletes that come late, at a majority of five servers",
    ),
];

/// What needs more contenders than three, how many, and why.
pub const MORE_CONTENDERS: [(&str, u32, &str); 6] = [
    (
        "redis/late-restored-lock laravel-cache-lock-force-release mutual-exclusion",
        4,
        "the holder, the process that restores its lock, and two that overlap",
    ),
    (
        "redis/bsm-redislock-own-token bsm-redislock-own-token",
        10,
        "the token of the tenth contender begins with that of the first",
    ),
    (
        "zookeeper/swarm-shared-locks zk-shared-locks-writers-first bounded-bypass",
        5,
        "a reader is overtaken more often than the bound says, by as many others",
    ),
    (
        "zookeeper/swarm-shared-locks zk-shared-locks-writers-only mutual-exclusion",
        4,
        "the queue behind two slow disks has a writer, a reader, and a writer behind the first",
    ),
    (
        "redis/fair-lock-lost-place redisson-fair-lock progress",
        4,
        "the place in the queue is lost twice, and each time another waiter is there before",
    ),
    (
        "redis/swarm-lock-objects redis-py-lock-one-token own-release-only",
        4,
        "a drawn plan: two processes have two tasks each, and with one task fewer the turns are others",
    ),
];

/// What takes more runs and events than the budget, and why: it is cut, and what is left may be larger.
pub const MORE_WORK: [(&str, &str); 2] = [
    (
        "redis/getset-loser redis-getset-del mutual-exclusion",
        "a contender takes and loses the lock again and again until the end, in each of thousands of runs",
    ),
    (
        "redis/semaphore-big-call redisson-semaphore no-starvation",
        "the small calls that overtake the big one go on until the end, in each of thousands of runs",
    ),
];

/// The number of a table that a failure has, or the usual one.
pub fn number(table: &[(&str, u32, &str)], name: &str, usual: u32) -> u32 {
    let row = table.iter().find(|(of, _, _)| name.starts_with(of));
    row.map_or(usual, |(_, number, _)| *number)
}
