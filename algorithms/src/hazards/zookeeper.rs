//! Hazards of the locks over ZooKeeper.

use crate::hazard::hazards;

hazards! {
    "curator/test-some-locks-fail-to-lock": [
        "curator-multi-lock-keeps-first",
    ] breaks [AllOrNone, HonestAnswer, NoOrphan, Progress] under [None];
    "curator/test-some-releases-fail": [
        "curator-multi-lock-releases-some",
    ] breaks [NoOrphan, Progress] under [Cancel];
    "incidents/accumulo-637": ["zk-no-guid"] breaks [Progress] under [ServerCrash];
    "incidents/curator-45": ["curator-mutex-no-search"] breaks [Progress] under [ServerCrash];
    "incidents/curator-462": ["curator-semaphore-unreturned"] breaks [NoOrphan] under [Cancel];
    "incidents/curator-498": ["curator-mutex-any-session"] breaks [MutualExclusion] under [ServerCrash];
    "incidents/curator-696": ["curator-leader-latch-any-session"] breaks [MutualExclusion] under [ServerCrash];
    "incidents/curator-79": [
        "curator-mutex-no-search", "zk-write-lock", "rust-lock-client-curator-prefix",
    ] breaks [NoOrphan, Progress] under [Cancel];
    "incidents/hbase-16144": ["zk-persistent"] breaks [NoOrphan, Progress] under [Crash];
    "incidents/zookeeper-2931": ["zk-sorted-by-name"] breaks [MutualExclusion] under [None];
    "zookeeper/acquire-in-callback": ["zk-acquire-in-callback"] breaks [Progress] under [Crash];
    "zookeeper/barrier-at-a-server-behind": [
        "zk-barrier", "curator-barrier", "kazoo-barrier",
    ] breaks [Barrier] under [ServerStall];
    "zookeeper/barrier-blip": ["zk-barrier-any-event"] breaks [Barrier] under [ConnectionLoss];
    "zookeeper/barrier-blip": ["kazoo-barrier"] breaks [Progress] under [ConnectionLoss];
    "zookeeper/barrier-removal-given-up": ["curator-barrier"] breaks [Progress] under [Partition];
    "zookeeper/barrier-without-sync": [
        "zk-barrier", "curator-barrier", "kazoo-barrier",
    ] breaks [Barrier] under [None];
    "zookeeper/barrier-reconnect": [
        "curator-double-barrier", "curator-double-barrier-any-wake",
    ] breaks [Barrier] under [ConnectionLoss];
    "zookeeper/cancelled-at-a-lost-connection": [
        "kazoo-lock", "kazoo-read-write-lock", "kazoo-election",
    ] breaks [NoOrphan, Progress] under [ConnectionLoss];
    "zookeeper/cancelled-waiter": [
        "zk-predecessor-watch", "zk-own-nodes", "zk-children-watch", "zk-callback-watch", "zk-recursive-watch",
        "zk-polling-queue", "zk-no-guid", "zk-no-recheck", "zk-sync-lookup", "zk-sequence-token", "zk-unsorted",
        "zk-recursive-watch-trusting", "zk-first-path", "zk-token-of-process", "zk-sorted-by-name",
        "zk-best-effort-cleanup", "zk-acquire-in-callback", "zk-polling-queue-constructor",
        "zk-polling-queue-from-one", "zk-polling-queue-printed", "zk-error-is-acquired", "zk-unlock-closes-session",
        "zk-latch-any-event",
        "zk-guid-reentry",
    ] breaks [NoOrphan, Progress] under [Cancel];
    "zookeeper/counter-not-set": ["zk-counter-not-set"] breaks [NoOrphan, Progress] under [None];
    "zookeeper/curator-cut-off-holder": ["curator-mutex-session-policy"] breaks [MutualExclusion] under [Partition];
    "zookeeper/curator-lost-create-reply": [
        "curator-mutex-unprotected",
    ] breaks [NoOrphan, Progress] under [ConnectionLoss];
    "zookeeper/curator-outlived-session": [
        "curator-mutex-revocable", "curator-mutex-revocable-once",
        "curator-read-write-lock-new-place",
        "curator-mutex", "curator-read-write-lock", "curator-semaphore-mutex", "curator-mutex-unprotected",
        "curator-mutex-session-policy", "curator-mutex-leftover", "curator-mutex-no-search",
        "curator-leader-selector-ignores-state", "curator-multi-lock", "curator-multi-lock-keeps-first",
        "curator-multi-lock-releases-some",
    ] breaks [MutualExclusion, NoLostUpdate] under [ServerCrash];
    "zookeeper/curator-read-write-lock": ["curator-read-write-lock-unsorted"] breaks [MutualExclusion] under [None];
    "zookeeper/curator-unheard-session": [
        "curator-mutex-revocable", "curator-mutex-revocable-once",
        "curator-read-write-lock-new-place",
        "curator-mutex", "curator-read-write-lock", "curator-semaphore-mutex", "curator-mutex-unprotected",
        "curator-mutex-leftover", "curator-mutex-any-session", "curator-mutex-no-search",
        "curator-leader-latch-any-session", "curator-semaphore-unreturned", "curator-multi-lock",
        "curator-multi-lock-keeps-first", "curator-multi-lock-releases-some",
    ] breaks [MutualExclusion, NoLostUpdate] under [Partition];
    "zookeeper/cut-off-leader": [
        "curator-leader-selector-ignores-state",
    ] breaks [MutualExclusion, TimelyLoss] under [Partition];
    "zookeeper/failed-unlock": [
        "zk-same-name-polling-blind",
    ] breaks [HonestAnswer, NoOrphan, Progress] under [ConnectionLoss];
    "zookeeper/flapping-link": ["zk-no-guid"] breaks [Progress] under [Partition];
    "zookeeper/go-failed-acquire": ["go-zookeeper-lock"] breaks [NoOrphan, Progress] under [ConnectionLoss];
    "zookeeper/go-session-renewed": [
        "go-zookeeper-lock", "go-zookeeper-lock-expired-only",
    ] breaks [Progress] under [Partition];
    "zookeeper/holder-crash": ["zk-read-then-write"] breaks [NoOrphan, Progress] under [Crash];
    "zookeeper/holder-expiry": [
        "zk-predecessor-watch", "zk-token-of-process",
    ] breaks [MutualExclusion, TimelyLoss] under [Partition];
    "zookeeper/holders-node-deleted": [
        "curator-mutex-revocable", "curator-mutex-revocable-once",
    ] breaks [TimelyLoss] under [Deletion];
    "zookeeper/late-cancel": [
        "kazoo-lock", "kazoo-read-write-lock", "kazoo-election", "kazoo-election-ignores-state",
    ] breaks [HonestAnswer] under [Cancel];
    "zookeeper/late-latch": ["zk-late-latch"] breaks [NoOrphan, Progress] under [None];
    "zookeeper/late-to-the-barrier": [
        "zk-tutorial-barrier", "curator-double-barrier",
    ] breaks [Progress] under [Delay];
    "zookeeper/lookup-without-sync": [
        "curator-mutex-revocable", "curator-mutex-revocable-once",
        "curator-mutex", "zk-children-watch", "zk-callback-watch", "zk-polling-queue", "kazoo-read-write-lock",
        "zk-no-recheck", "zk-sync-lookup", "zk-sequence-token", "curator-mutex-unprotected",
        "zk-recursive-watch-trusting", "zk-sorted-by-name", "zk-best-effort-cleanup", "zk-acquire-in-callback",
        "curator-semaphore-unreturned", "zk-error-is-acquired", "zk-guid-reentry", "curator-multi-lock",
        "curator-multi-lock-hardened", "curator-multi-lock-keeps-first", "curator-multi-lock-releases-some",
    ] breaks [Progress] under [Partition];
    "zookeeper/lookup-without-sync": [
        "zk-predecessor-watch", "zk-polling-queue-constructor", "zk-write-lock",
    ] breaks [NoOrphan, Progress] under [Partition];
    "zookeeper/lost-create-in-lock": [
        "zk-error-is-acquired",
    ] breaks [HonestAnswer, MutualExclusion] under [ConnectionLoss];
    "zookeeper/lost-create-reply": ["zk-no-guid", "zk-write-lock"] breaks [NoOrphan, Progress] under [ConnectionLoss];
    "zookeeper/lost-delete-reply": [
        "zk-blind-unlock",
    ] breaks [MutualExclusion, OwnReleaseOnly] under [ConnectionLoss];
    "zookeeper/lost-set-data-reply": [
        "zk-conditional-set-anonymous",
    ] breaks [NoOrphan, Progress] under [ConnectionLoss];
    "zookeeper/missed-while-away": ["zk-recursive-watch-trusting"] breaks [NoOrphan, Progress] under [ConnectionLoss];
    "zookeeper/multi-lock-failed-release": [
        "curator-multi-lock", "curator-multi-lock-hardened", "curator-multi-lock-keeps-first",
        "curator-multi-lock-releases-some",
    ] breaks [AllOrNone, HonestAnswer, NoOrphan] under [ServerCrash];
    "zookeeper/multi-lock-session-lost": [
        "curator-multi-lock", "curator-multi-lock-keeps-first", "curator-multi-lock-releases-some",
    ] breaks [AllOrNone, MutualExclusion] under [SessionExpiry];
    "zookeeper/numbers-start-again": [
        "rust-lock-client", "rust-lock-client-curator-prefix", "zk-no-guid",
    ] breaks [Fifo, MutualExclusion] under [Deletion];
    "zookeeper/one-counter-for-all-locks": ["zk-token-of-process"] breaks [FencingMonotonic] under [None];
    "zookeeper/one-path-for-all-locks": [
        "zk-first-path",
    ] breaks [HonestAnswer, MutualExclusion, NoLostUpdate] under [None];
    "zookeeper/own-node-deleted": ["go-zookeeper-lock"] breaks [HonestAnswer, MutualExclusion] under [Deletion];
    "zookeeper/own-node-exists": ["zk-same-name-polling-printed"] breaks [NoOrphan, Progress] under [ConnectionLoss];
    "zookeeper/parent-recreated": ["zk-sequence-token"] breaks [FencingMonotonic] under [Deletion];
    "zookeeper/persistent-nodes": [
        "zk-conditional-set", "zk-conditional-set-anonymous", "zk-persistent-queue",
    ] breaks [NoOrphan, Progress] under [Crash];
    "zookeeper/place-in-constructor": ["zk-polling-queue-constructor"] breaks [NoOrphan, Progress] under [Crash];
    "zookeeper/polling-queue": [
        "zk-polling-queue-constructor",
    ] breaks [FencingMonotonic, HonestAnswer, MutualExclusion] under [None];
    "zookeeper/polling-queue": [
        "zk-polling-queue-printed", "zk-polling-queue-from-one",
    ] breaks [MutualExclusion] under [None];
    "zookeeper/read-then-write": [
        "zk-read-then-write",
    ] breaks [ExclusiveOwnership, MutualExclusion, NoStaleEffect, OwnReleaseOnly] under [None];
    "zookeeper/recreated-while-away": ["zk-same-name-deleted-only"] breaks [Progress] under [ConnectionLoss];
    "zookeeper/reopened-session": [
        "zk-reopened-session",
    ] breaks [MutualExclusion, OwnReleaseOnly, TimelyLoss] under [Partition];
    "zookeeper/restarted-holder": [
        "zk-known-by-name",
    ] breaks [MutualExclusion, OwnReleaseOnly] under [Crash];
    "zookeeper/reused-barrier": ["curator-double-barrier"] breaks [Progress] under [None];
    "zookeeper/revoked-early": [
        "curator-mutex-revocable", "zk-revocable-shared-locks-no-look",
    ] breaks [Progress] under [Deletion];
    "zookeeper/revoked-twice": ["curator-mutex-revocable-once"] breaks [Progress] under [Deletion];
    "zookeeper/revoked-waiter": ["zk-revocable-shared-locks-held-watch"] breaks [Progress] under [Deletion];
    "zookeeper/semaphore": ["curator-semaphore-off-by-one"] breaks [MutualExclusion] under [None];
    "zookeeper/semaphore": ["kazoo-semaphore-unlocked"] breaks [ExclusiveOwnership, MutualExclusion] under [None];
    "zookeeper/semaphore-halves-given-back": [
        "curator-semaphore-keeps-leases",
    ] breaks [HonestAnswer, NoOrphan, Progress] under [None];
    "zookeeper/semaphore-interrupted": ["curator-semaphore"] breaks [NoOrphan] under [Cancel];
    "zookeeper/semaphore-second-lease": [
        "curator-semaphore", "curator-semaphore-hardened", "curator-semaphore-v1",
    ] breaks [HonestAnswer, NoOrphan] under [ServerStall];
    "zookeeper/shared-locks": ["zk-shared-locks-later-writers"] breaks [Progress] under [None];
    "zookeeper/shared-locks": ["zk-shared-locks-writers-only"] breaks [MutualExclusion] under [None];
    "zookeeper/stock": ["zk-read-then-write"] breaks [NoLostUpdate] under [None];
    "zookeeper/timed-out-waiter": ["zk-timed-out-waiter"] breaks [HonestAnswer, NoOrphan, Progress] under [None];
    "zookeeper/sync-at-a-deposed-leader": ["zk-barrier-sync"] breaks [Barrier] under [Partition];
    "zookeeper/two-locks-one-session": ["zk-unlock-closes-session"] breaks [MutualExclusion, TimelyLoss] under [None];
    "zookeeper/unsorted-children": [
        "zk-unsorted",
    ] breaks [FencingMonotonic, HonestAnswer, MutualExclusion] under [None];
    "zookeeper/waiter-blip": ["zk-latch-any-event"] breaks [MutualExclusion] under [ConnectionLoss];
    "zookeeper/waiter-death": ["zk-no-recheck"] breaks [MutualExclusion] under [Crash];
    "zookeeper/waiter-expiry": ["zk-no-recheck"] breaks [MutualExclusion] under [SessionExpiry];
    "zookeeper/withdrawn-candidate": ["zk-leader-election"] breaks [NoOrphan, Progress] under [Cancel];
    "zookeeper/write-lock-unwatched": ["zk-write-lock"] breaks [NoOrphan, Progress] under [Delay];
    "zookeeper/write-lock": ["zk-write-lock"] breaks [NoOrphan] under [Cancel];
}
