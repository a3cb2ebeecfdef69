//! The keys of `[[contender]]`.

use super::words;
use picklock_sim::plan::{Holds, Key, KeyTable};

/// [[contender]].
pub(super) const CONTENDER: KeyTable = KeyTable {
    title: "[[contender]]",
    about: "What one contender does otherwise than the workload says.",
    keys: &[CONTENDER_KEYS],
};

const CONTENDER_KEYS: &[Key] = &[
    Key::new(
        "name",
        Holds::ContenderNames,
        "",
        "Which one, or a list of several; needed. `\"any\"`: each seed draws one, or nobody, and some of \
        the keys below.",
    ),
    Key::new(
        "hold",
        Holds::Hold,
        "",
        "How long its sections last, as in `[workload]`.",
    ),
    Key::new(
        "rounds",
        Holds::WholeOrRange(1, 1_000_000),
        "",
        "How often it wants the lock.",
    ),
    Key::new(
        "reads",
        Holds::Reads,
        "",
        "In how many of its rounds it takes the lock to read.",
    ),
    Key::new(
        "conversion",
        Holds::Words(words::CONVERSIONS),
        "",
        "`downgrade`: when it has written, it takes the lock to read, gives back the write, and reads. `upgrade`: when \
        it has read, it asks for the write and keeps its read, see [conversions](scenarios.md#conversions).",
    ),
    Key::new(
        "permits-per-acquire",
        Holds::Whole(1, 1_000),
        "",
        "How many permits it takes by one call.",
    ),
    Key::new(
        "locks",
        Holds::OneOrList(&Holds::Lock),
        "",
        "The locks that it takes, one in each round, in turn (with `locks-at-once`, so many in each, from \
        the next on): `\"lock-b\"`, or `[\"lock-a\", \"lock-a\", \"lock-b\"]`.",
    ),
    Key::new(
        "think",
        Holds::OneOrList(&Holds::Range),
        "",
        "A range: time between its release and its next acquire.",
    ),
    Key::new(
        "processing",
        Holds::OneOrList(&Holds::Range),
        "",
        "A range: time that passes between what arrives and what it does about it.",
    ),
    Key::new(
        "acquire-timeout",
        Holds::Range,
        "",
        "How long it waits before it gives up.",
    ),
    Key::new(
        "latency",
        Holds::OneOrList(&Holds::Range),
        "",
        "A range: one way between it and any server, or the resource.",
    ),
    Key::new(
        "clock-offset",
        Holds::SignedRange,
        "",
        "By how much its wall clock is ahead from the start, behind if negative: `\"-5s\"`.",
    ),
];
