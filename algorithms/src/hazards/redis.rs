//! Hazards of the locks over Redis.

use crate::hazard::hazards;

hazards! {
    "incidents/laravel-53342": ["redis-set-nx-px-del"] breaks [OwnReleaseOnly] under [None];
    "incidents/redbeat-208": ["redis-error-is-lock"] breaks [HonestAnswer, MutualExclusion] under [ConnectionLoss];
    "incidents/redisson-2515": ["redisson-failed-renewal"] breaks [MutualExclusion] under [ServerCrash];
    "incidents/redisson-4178": ["redisson-lock", "redisson-lock-if-held"] breaks [Progress] under [ConnectionLoss];
    "incidents/redisson-7367": [
        "redisson-lock", "redisson-message-only", "redisson-lock-if-held",
    ] breaks [Progress] under [Delay];
    "redis/asyncio-lock-object": ["redis-py-asyncio-lock"] breaks [Progress] under [None];
    "redis/blocked-event-loop": [
        "redisson-lock", "redisson-lock-replicated", "redisson-message-only", "redisson-lock-if-held",
        "redisson-no-latch", "redisson-failed-renewal", "redisson-client-id", "redisson-multi-lock",
        "redisson-multi-lock-hardened", "redisson-multi-lock-of-servers", "redisson-red-lock",
    ] breaks [MutualExclusion, TimelyLoss] under [Pause];
    "redis/bsm-redislock-own-token": [
        "bsm-redislock-own-token",
    ] breaks [MutualExclusion, OwnReleaseOnly] under [None];
    "redis/busy-script": [
        "redisson-lock", "redisson-no-latch", "redisson-failed-renewal", "redisson-multi-lock",
        "redisson-multi-lock-hardened",
    ] breaks [MutualExclusion] under [ServerStall];
    "redis/clients-delete-again": ["redis-set-nx-px-del"] breaks [MutualExclusion, OwnReleaseOnly] under [Delay];
    "redis/cluster-failover": [
        "redisson-lock", "redisson-message-only", "redisson-lock-if-held", "redisson-no-latch",
        "redisson-multi-lock", "redisson-multi-lock-hardened",
    ] breaks [MutualExclusion] under [ServerCrash];
    "redis/cluster-function-not-found": ["redis-function-lock-loaded-once"] breaks [Progress] under [ServerStall];
    "redis/cluster-stale-read": ["redisson-lock-if-held"] breaks [NoOrphan, Progress] under [Partition];
    "redis/dead-reader": [
        "redisson-read-write-lock", "redisson-read-write-lock-not-renewed",
        "redisson-read-write-lock-told",
    ] breaks [NoOrphan] under [Crash];
    "redis/evicted-permits": [
        "redisson-permit-expirable-semaphore", "redisson-permit-expirable-semaphore-expired",
        "redisson-semaphore", "redisson-semaphore-counts-one", "redisson-semaphore-reset",
    ] breaks [ExclusiveOwnership, MutualExclusion] under [Deletion];
    "redis/expired-event": ["redis-keyspace-event-only"] breaks [Progress] under [ServerCrash];
    "redis/expired-permit": [
        "redisson-permit-expirable-semaphore-expired",
    ] breaks [ExclusiveOwnership] under [Pause, Delay, Partition];
    "redis/fair-lock-dead-head": [
        "redisson-fair-lock", "redisson-fair-lock-kept-place",
    ] breaks [Progress] under [Crash];
    "redis/fair-lock-evicted-asleep": [
        "redisson-fair-lock", "redisson-fair-lock-kept-place",
    ] breaks [Progress] under [Clock];
    "redis/fair-lock-kept-place": ["redisson-fair-lock-kept-place"] breaks [Progress] under [ConnectionLoss, Crash];
    "redis/fair-lock-late-release": [
        "redisson-fair-lock", "redisson-fair-lock-kept-place", "redisson-fair-lock-seconds",
    ] breaks [HonestAnswer] under [Pause];
    "redis/fair-lock-lost-place": [
        "redisson-fair-lock", "redisson-fair-lock-kept-place",
    ] breaks [Progress] under [ServerCrash];
    "redis/fenced-lock-get-token": [
        "redisson-fenced-lock-get-token",
    ] breaks [FencingMonotonic, NoStaleEffect] under [Pause];
    "redis/field-ttl-heartbeat": ["redis-field-ttl-semaphore-heartbeat"] breaks [NoOrphan, Progress] under [Crash];
    "redis/full-memory": [
        "redisson-lock", "redisson-message-only", "redisson-lock-if-held",
    ] breaks [Progress] under [ServerStall];
    "redis/getset-fast-clock": [
        "redis-getset", "redis-getset-del",
    ] breaks [MutualExclusion, OwnReleaseOnly] under [Clock];
    "redis/getset-late-delete": ["redis-getset"] breaks [OwnReleaseOnly] under [Delay];
    "redis/getset-loser": ["redis-getset"] breaks [OwnReleaseOnly] under [Crash];
    "redis/getset-loser": ["redis-getset-del"] breaks [MutualExclusion] under [Crash];
    "redis/holder-crash": ["redisson-message-only"] breaks [Progress] under [Crash];
    "redis/holder-crash": ["redis-setnx-expire-multi"] breaks [NoOrphan, Progress] under [Crash];
    "redis/latch": ["redisson-count-down-latch-no-look"] breaks [Progress] under [None];
    "redis/latch-counted-twice": [
        "redisson-count-down-latch", "redisson-count-down-latch-no-look",
    ] breaks [Barrier] under [ConnectionLoss];
    "redis/latch-failover": [
        "redisson-count-down-latch", "redisson-count-down-latch-no-look",
    ] breaks [Progress] under [ServerCrash];
    "redis/latch-lost-message": [
        "redisson-count-down-latch", "redisson-count-down-latch-no-look",
    ] breaks [Progress] under [ConnectionLoss];
    "redis/latch-restarted-participant": [
        "redisson-count-down-latch", "redisson-count-down-latch-no-look",
    ] breaks [Barrier] under [Crash];
    "redis/late-release": ["redis-set-nx-px-del"] breaks [OwnReleaseOnly] under [Pause];
    "redis/late-wait": ["python-redis-lock-3"] breaks [Progress] under [Delay];
    "redis/look-then-delete": ["redis-get-compare-del"] breaks [OwnReleaseOnly] under [Delay];
    "redis/lost-acquire-reply": [
        "redisson-lock", "redisson-fair-lock", "redisson-fenced-lock", "redisson-spin-lock",
        "redisson-read-write-lock", "redisson-read-write-lock-told",
    ] breaks [Progress] under [ConnectionLoss];
    "redis/lost-message": ["redisson-message-only"] breaks [Progress] under [ConnectionLoss];
    "redis/lost-setnx-reply": ["redis-setnx-expire"] breaks [NoOrphan, Progress] under [ConnectionLoss];
    "redis/noscript": ["redisson-scripts-sent-once"] breaks [Progress] under [ServerCrash];
    "redis/multi-lock-clock-jump": [
        "redisson-multi-lock", "redisson-multi-lock-hardened", "redisson-multi-lock-of-servers", "redisson-red-lock",
    ] breaks [MutualExclusion, TimelyLoss] under [Clock];
    "redis/multi-lock-doubled-lease": [
        "redisson-multi-lock-doubled-lease", "redisson-multi-lock-no-wait", "redisson-red-lock-leased",
    ] breaks [NoOrphan, Progress] under [Crash];
    "redis/multi-lock-expire": [
        "redisson-multi-lock-blind-expire", "redisson-multi-lock-no-wait", "redisson-red-lock-leased",
    ] breaks [MutualExclusion] under [Pause];
    "redis/multi-lock-failed-unlock": [
        "redisson-multi-lock", "redisson-multi-lock-of-servers",
    ] breaks [NoOrphan, Progress] under [ConnectionLoss, Delay, Partition, Pause, ServerStall];
    "redis/multi-lock-late-lease": [
        "redisson-multi-lock-leased", "redisson-multi-lock-hardened", "redisson-multi-lock-blind-expire",
        "redisson-multi-lock-doubled-lease", "redisson-multi-lock-no-wait", "redisson-multi-lock-seconds",
    ] breaks [NoOrphan] under [Partition, ServerStall];
    "redis/multi-lock-livelock": ["redisson-multi-lock"] breaks [Progress] under [None];
    "redis/multi-lock-lost-first": [
        "redisson-multi-lock", "redisson-multi-lock-blind-expire", "redisson-multi-lock-no-wait",
    ] breaks [AllOrNone, MutualExclusion, NoOrphan] under [Clock, Deletion, Pause, ServerCrash];
    "redis/multi-lock-reset": ["redisson-multi-lock"] breaks [Progress] under [ConnectionLoss];
    "redis/multi-lock-seconds": [
        "redisson-multi-lock-seconds",
    ] breaks [NoOrphan] under [Clock, ConnectionLoss, Crash, Delay, Partition, Pause, ServerStall];
    "redis/multi-lock-silent-server": ["redisson-multi-lock-of-servers"] breaks [Progress] under [ServerCrash];
    "redis/multi-lock-unheard-unlock": [
        "redisson-multi-lock", "redisson-multi-lock-of-servers",
    ] breaks [AllOrNone, HonestAnswer] under [ConnectionLoss, Delay, Partition, Pause, ServerStall];
    "redis/multi-lock-wait-and-lease-timeouts": ["redisson-multi-lock-no-wait"] breaks [MutualExclusion] under [None];
    "redis/node-redlock-late-abort": ["node-redlock"] breaks [MutualExclusion, TimelyLoss] under [Partition];
    "redis/node-redlock-tie": ["node-redlock"] breaks [Progress] under [None];
    "redis/permit-clock": [
        "redisson-permit-expirable-semaphore", "redisson-permit-expirable-semaphore-expired",
    ] breaks [MutualExclusion, OwnReleaseOnly] under [Clock];
    "redis/permit-clock": ["redisson-permit-expirable-semaphore-expired"] breaks [ExclusiveOwnership] under [Clock];
    "redis/read-not-renewed": ["redisson-read-write-lock-not-renewed"] breaks [MutualExclusion] under [None];
    "redis/red-lock-late-entry": [
        "redisson-red-lock-leased", "redisson-multi-lock-blind-expire", "redisson-multi-lock-no-wait",
    ] breaks [TimelyLoss] under [Pause];
    "redis/red-lock-late-unlock": [
        "redisson-red-lock", "redisson-red-lock-leased",
    ] breaks [MutualExclusion] under [Delay];
    "redis/red-lock-partition": ["redisson-red-lock"] breaks [MutualExclusion] under [Partition];
    "redis/red-lock-regions": ["redisson-red-lock"] breaks [Progress] under [None];
    "redis/red-lock-reset": [
        "redisson-red-lock", "redisson-red-lock-leased",
    ] breaks [HonestAnswer, NoOrphan, Progress] under [ConnectionLoss];
    "redis/red-lock-slow": ["redisson-red-lock-leased"] breaks [MutualExclusion] under [Delay];
    "redis/red-lock-unheard-unlock": [
        "redisson-red-lock", "redisson-red-lock-leased",
    ] breaks [HonestAnswer, NoOrphan] under [Clock, Delay, Partition, Pause, ServerCrash, ServerStall];
    "redis/redis-py-extend": ["redis-py-lock-extend"] breaks [NoOrphan, Progress] under [Crash];
    "redis/redisson-failover": [
        "redisson-lock", "redisson-lock-replicated", "redisson-message-only", "redisson-lock-if-held",
        "redisson-no-latch", "redisson-failed-renewal", "redisson-client-id", "redisson-multi-lock",
        "redisson-multi-lock-hardened", "redisson-multi-lock-of-servers", "redisson-red-lock",
    ] breaks [TimelyLoss] under [ServerCrash];
    "redis/redisson-one-of-two": ["redisson-lock-replicated"] breaks [MutualExclusion] under [ServerCrash];
    "redis/redlock-half": [
        "redlock-half-is-enough", "redlock-quorum-of-the-live",
    ] breaks [MutualExclusion] under [Partition];
    "redis/redlock-late-delete": [
        "redlock-one-token", "redsync",
    ] breaks [MutualExclusion] under [ConnectionLoss, Delay];
    "redis/redlock-split-vote": ["redlock-keeps-minority"] breaks [Progress] under [None];
    "redis/redlock-unheard-claim": [
        "redlock-quorum-of-the-live",
    ] breaks [HonestAnswer, MutualExclusion] under [ConnectionLoss];
    "redis/redlock-validity": ["redlock-drift-added"] breaks [MutualExclusion] under [Delay];
    "redis/redlock-wall-clock": ["redlock-wall-clock"] breaks [MutualExclusion] under [Clock];
    "redis/redsync-silent-server": ["redsync"] breaks [Progress] under [ServerStall];
    "redis/rslock-extend": ["rslock"] breaks [MutualExclusion] under [ConnectionLoss];
    "redis/semaphore-crash": [
        "redisson-semaphore", "redisson-semaphore-counts-one", "redisson-semaphore-reset",
    ] breaks [NoOrphan, Progress] under [Crash];
    "redis/semaphore-inflation": [
        "redisson-semaphore", "redisson-semaphore-counts-one", "redisson-semaphore-reset",
    ] breaks [ExclusiveOwnership, MutualExclusion] under [ConnectionLoss];
    "redis/semaphore-reset": ["redisson-semaphore-reset"] breaks [ExclusiveOwnership, MutualExclusion] under [None];
    "redis/semaphore-restart": [
        "redisson-permit-expirable-semaphore", "redisson-permit-expirable-semaphore-expired",
    ] breaks [Progress] under [ServerCrash];
    "redis/several-permits": [
        "redisson-semaphore-counts-one",
    ] breaks [HonestAnswer, MutualExclusion] under [Pause];
    "redis/setnx-expire": ["redis-setnx-expire"] breaks [NoOrphan, Progress] under [Crash];
    "redis/shared-client": [
        "redisson-client-id",
    ] breaks [HonestAnswer, MutualExclusion, NoStaleEffect, OwnReleaseOnly] under [None];
    "redis/shared-lock-object": ["redis-py-lock"] breaks [MutualExclusion] under [None];
    "redis/shared-lock-object": ["redis-py-lock-one-token"] breaks [MutualExclusion, OwnReleaseOnly] under [None];
    "redis/spring-failed-subscription": [
        "spring-redis-lock-registry-pub-sub",
    ] breaks [Progress] under [ServerStall];
    "redis/spring-failed-unlock": [
        "spring-redis-lock-registry-renewed",
    ] breaks [NoOrphan, Progress] under [ConnectionLoss];
    "redis/spring-late-unlock": [
        "spring-redis-lock-registry", "spring-redis-lock-registry-renewed",
        "spring-redis-lock-registry-renewal-ended", "spring-redis-lock-registry-pub-sub",
        "spring-redis-lock-registry-pub-sub-hardened",
    ] breaks [MutualExclusion] under [Delay];
    "redis/stale-watch": ["redis-watch-exec-aborted"] breaks [HonestAnswer, NoOrphan] under [Delay];
    "redis/two-kinds-of-lock": [
        "redisson-lock-and-read-lock",
    ] breaks [ExclusiveOwnership, MutualExclusion, OwnReleaseOnly] under [None];
    "redis/unheard-permit": [
        "redisson-semaphore", "redisson-semaphore-counts-one", "redisson-semaphore-reset",
    ] breaks [NoOrphan, Progress] under [ConnectionLoss, Delay, Partition, ServerStall];
    "redis/unheard-read": [
        "redisson-read-write-lock", "redisson-read-write-lock-not-renewed",
        "redisson-read-write-lock-told",
    ] breaks [NoOrphan] under [ConnectionLoss, Delay, Partition, ServerStall];
    "redis/watch-shared-connection": ["redis-watch-exec-shared"] breaks [OwnReleaseOnly] under [Delay];
    "redis/watchdog-of-another": [
        "redisson-lock", "redisson-lock-replicated", "redisson-message-only", "redisson-lock-if-held",
        "redisson-no-latch", "redisson-failed-renewal", "redisson-client-id", "redisson-multi-lock",
        "redisson-multi-lock-hardened", "redisson-multi-lock-of-servers", "redisson-red-lock",
    ] breaks [MutualExclusion, TimelyLoss] under [Deletion];
    "redis/zombie-unlock": [
        "redisson-lock", "redisson-fair-lock", "redisson-fenced-lock", "redisson-spin-lock",
        "redisson-read-write-lock", "redisson-read-write-lock-told",
    ] breaks [MutualExclusion] under [Delay];
    "redis/deadline-by-another-clock": [
        "rueidislock", "rueidislock-last-deadline",
    ] breaks [HonestAnswer, MutualExclusion] under [Clock];
    "redis/late-restored-lock": [
        "laravel-cache-lock-force-release",
    ] breaks [HonestAnswer, MutualExclusion, OwnReleaseOnly] under [None];
    "redis/lock-object-keeps-end": ["symfony-lock-kept-end"] breaks [HonestAnswer, NoOrphan, Progress] under [None];
    "redis/lock-object-keeps-end": ["symfony-lock-kept-end-deleted"] breaks [Progress] under [None];
    "redis/red-lock-force-unlock": [
        "redisson-red-lock-2-force-unlock",
    ] breaks [MutualExclusion, OwnReleaseOnly] under [None];
    "redis/release-of-nothing": [
        "redisson-unlock-missing-key", "symfony-lock", "symfony-lock-kept-end", "symfony-lock-kept-end-deleted",
    ] breaks [HonestAnswer] under [Pause];
    "redis/renewal-thread-kept": [
        "python-redis-lock-auto-renewal",
    ] breaks [Progress] under [ConnectionLoss];
    "redis/renewal-adds-to-deadline": [
        "rueidislock-last-deadline",
    ] breaks [MutualExclusion, Progress] under [None];
    "redis/renewal-in-whole-seconds": ["redlock-net-whole-seconds"] breaks [MutualExclusion] under [None];
    "redis/redirect-in-a-batch": ["redisson-batch-not-redirected"] breaks [Progress] under [ServerStall];
    "redis/reaper-compares-run-names": [
        "sidekiq-unique-jobs-run-names",
    ] breaks [MutualExclusion, OwnReleaseOnly] under [None];
    "redis/reaper-looks-at-young-locks": [
        "sidekiq-unique-jobs-run-names", "sidekiq-unique-jobs-young-locks",
    ] breaks [MutualExclusion, OwnReleaseOnly] under [None];
    "redis/scripts-forgotten": ["resque-scheduler-lock-not-reloaded"] breaks [Progress] under [ServerCrash];
    "redis/spin-lock-last-try": [
        "redisson-spin-lock-budget-first",
    ] breaks [HonestAnswer, NoOrphan, Progress] under [None];
    "redis/worker-closes": ["bull-queue-timers-first"] breaks [MutualExclusion, NoStaleEffect] under [None];
    "redis/yes-counted-twice": [
        "distributed-lock-redis-counted-twice",
    ] breaks [MutualExclusion, TimelyLoss] under [ServerStall];
}
