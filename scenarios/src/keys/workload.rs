//! The keys of `[workload]`.

use super::words;
use picklock_sim::plan::{Holds, Key, KeyTable, Variant};

/// [workload].
pub(super) const WORKLOAD: KeyTable = KeyTable {
    title: "[workload]",
    about: "Who wants the lock, and what for.",
    keys: &[WORKLOAD_KEYS],
};

const WORKLOAD_KEYS: &[Key] = &[
    Key::new(
        "contenders",
        Holds::WholeOrRange(1, 100_000),
        "3",
        "How many want the lock, each a process with a client of its own, if the next two do not say \
        otherwise.",
    ),
    Key::new(
        "tasks-per-process",
        Holds::WholeOrRange(1, 64),
        "1",
        "How many contenders are tasks (threads) of one process, or a range that each seed draws from, \
        `\"1..3\"`: see [several tasks of a process](scenarios.md#several-tasks-of-a-process).",
    ),
    Key::new(
        "share",
        Holds::OneOrList(&Holds::Words(words::SHARES)),
        r#"`"nothing"`"#,
        "What the tasks of a process share: `\"session\"`, `\"connection\"`, or `\"lock\"`; a list is \
        drawn from.",
    ),
    Key::new(
        "locks",
        Holds::WholeOrRange(1, 26),
        "1",
        "How many locks there are, `lock-a`, `lock-b`, and so on, 26 at most, or a range that each seed \
        draws from, `\"1..2\"`: see [several locks](scenarios.md#several-locks).",
    ),
    Key::new(
        "locks-at-once",
        Holds::WholeOrRange(1, 26),
        "1",
        "How many of the locks a section holds at once, each acquired while those before it are held, or a \
        range that each seed draws from, `\"1..2\"`: see [several locks at \
        once](scenarios.md#several-locks-at-once).",
    ),
    Key::new(
        "lock-order",
        Holds::OneOrList(&Holds::Words(words::LOCK_ORDERS)),
        r#"`"by-name"`"#,
        "In which order a section acquires them: `\"by-name\"`, `\"in-turn\"`, or `\"drawn\"`; a list is \
        drawn from.",
    ),
    Key::new(
        "arrive",
        Holds::OneOrList(&ARRIVAL),
        r#"`"together"`"#,
        "How they come: see [below the keys of the workload](scenarios.md#workload).",
    ),
    Key::new(
        "rounds",
        Holds::WholeOrRange(1, 1_000_000),
        "1",
        "How often each wants the lock.",
    ),
    Key::new(
        "reads",
        Holds::Reads,
        r#"`"never"`"#,
        "In how many of its rounds a contender takes the lock to read, with others that read: a share such \
        as `\"50%\"`, each round by chance, or `\"always\"`. Only for read-write locks (`kind` in \
        `picklock list algorithms --json`); who reads writes nothing.",
    ),
    Key::new(
        "permits",
        Holds::WholeOrRange(1, 100_000),
        "none",
        "How many may hold the lock at once, or a range that each seed draws from, `\"1..3\"`: needed for \
        semaphores, and only for them, see [semaphores](scenarios.md#semaphores).",
    ),
    Key::new(
        "permits-per-acquire",
        Holds::Whole(1, 1_000),
        "1",
        "How many permits a contender takes by one call, and gives back by one: of semaphores that have such a call, \
        see [semaphores](scenarios.md#semaphores).",
    ),
    Key::new(
        "count",
        Holds::Whole(1, 99_999),
        "none",
        "How many of the contenders, the first, count down; all others wait for zero, and no contender has a \
        second turn at one latch. Needed for count-down latches, and only for them, see \
        [barriers](scenarios.md#barriers).",
    ),
    Key::new(
        "acquire-timeout",
        Holds::DurationOrZero,
        "for ever",
        "How long a contender waits before it gives up; it comes again after 50 ms. A recipe without a \
        call for that is dropped where it waits. `\"0s\"` is `tryLock()`: one attempt, of a recipe that has it.",
    ),
    Key::new(
        "reentrancy-depth",
        Holds::Whole(1, 1_000),
        "1",
        "How often a section enters the lock, one call inside the other; all but the outermost are left \
        before it does its work; locks that promise `reentrancy` are then looked at for it.",
    ),
    Key::new(
        "allow-self-deadlock",
        Holds::Boolean,
        "`false`",
        "`true`: a lock that does not promise `reentrancy` may be entered again, too, to show what comes of \
        it. The second call waits for the first, for ever, or its end frees the lock under the first.",
    ),
    Key::new(
        "hold",
        Holds::Hold,
        r#"`"10ms"`"#,
        "How long a section lasts, apart from what it does to the resource; or `\"settled\"`.",
    ),
    Key::new(
        "think",
        Holds::OneOrList(&Holds::Range),
        r#"`"0s"`"#,
        "A range: time between a release and the next acquire of the same contender.",
    ),
    Key::new(
        "processing",
        Holds::OneOrList(&Holds::Range),
        r#"`"0s"`"#,
        "A range: time that passes in a contender between what arrives (an answer, a notification, the end \
        of a sleep) and what its code does about it; a fault can strike meanwhile (`received`). An \
        `acquire-timeout` has to leave time for it: a call makes a handful of such steps.",
    ),
    Key::new(
        "section",
        SECTION,
        r#"`"write"`"#,
        "What a section does to the resource: see [below the keys of the workload](scenarios.md#workload).",
    ),
    Key::new(
        "bystanders",
        Holds::Whole(0, 10_000),
        "0",
        "Clients that only read something else on the same service: a node of ZooKeeper, a key of Redis \
        (in a cluster, in the slot of the lock's key; on several independent servers, each on one of them \
        in turn).",
    ),
    Key::new(
        "bystander-every",
        Holds::Duration,
        r#"`"10ms"`"#,
        "Time between two reads of a bystander.",
    ),
    Key::new(
        "progress-bound",
        Holds::Duration,
        "by the scenario",
        "How long everybody has to get the lock once the storm is over, and all have come.",
    ),
    Key::new(
        "bypass-bound",
        Holds::Whole(0, 1_000_000),
        "none",
        "How often one who waits may be overtaken; then each case is looked at for `bounded-bypass`, see \
        [who is overtaken](scenarios.md#who-is-overtaken).",
    ),
    Key::new(
        "starvation-bound",
        Holds::Whole(0, 1_000_000),
        "none",
        "How often others may be let in while one asks in vain; then each case is looked at for `no-starvation`, see \
        [who is overtaken](scenarios.md#who-is-overtaken).",
    ),
    Key::new(
        "storm",
        Holds::Duration,
        "by the faults",
        "The storm ends at this time at the latest.",
    ),
];

const ARRIVAL: Holds = Holds::Variants(
    "arrival",
    &[
        Variant::word("together", "All at once."),
        Variant::word(
            "in-order",
            "Each when the one before it holds the lock or waits for it.",
        ),
        Variant::word(
            "behind-holder",
            "The first takes the lock and keeps it until all others wait.",
        ),
        Variant::word(
            "in-order-behind-holder",
            "The same, and the others set out in their order.",
        ),
        Variant::with(
            "within",
            Holds::Duration,
            "Each at a random moment within this time.",
        ),
    ],
);

const SECTION: Holds = Holds::Variants(
    "section",
    &[
        Variant::word("write", "Holds, and then writes once."),
        Variant::word("count", "Reads a counter, holds, and writes back one more."),
        Variant::with(
            "sell",
            Holds::Table(&STOCK),
            "Reads the stock, holds, and writes back one less, unless nothing is left.",
        ),
        Variant::with(
            "delayed-write",
            Holds::Duration,
            "Writes at once and does not wait: the write travels for a random time up to this.",
        ),
        Variant::word("nothing", "Does nothing to the resource."),
    ],
);

const STOCK: KeyTable = KeyTable {
    title: "sell",
    about: "What is sold.",
    keys: &[&[Key::needed(
        "stock",
        Holds::Whole(1, 1_000_000_000),
        "How many there are.",
    )]],
};
