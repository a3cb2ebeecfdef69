//! The keys of a scenario file.

use super::case::{CASE, FAULTS};
use super::service::SERVICE;
use super::words;
use super::workload::{CONTENDER, NETWORK, WORKLOAD};
use crate::scenario::ENOUGH_SEEDS;
use picklock_sim::plan::{Holds, Key, KeyTable};

/// A scenario file.
pub const FILE: KeyTable = KeyTable {
    title: "The head",
    about: "What stands above all tables, and which tables there are.",
    keys: &[&[
        Key::new(
            "claim",
            Holds::Claim,
            "that every lock keeps its promises",
            "One sentence with a full stop, on one line.",
        ),
        Key::new("because", Holds::Text, "none", "Why that is so."),
        Key::new("source", Holds::Text, "none", "Where that is written."),
        Key::new(
            "sometimes",
            Holds::List(&Holds::Words(words::MOMENTS)),
            "none",
            "Moments that some seed of every case must come through, as in `[\"two-wait\"]`; a case may have its own. \
            A case in which none did is undecided. `picklock list sometimes` says what each is.",
        ),
        Key::new(
            "resource",
            Holds::Words(words::RESOURCES),
            r#"`"unfenced"`"#,
            "Whether the resource checks tokens: `\"fenced\"`, for recipes that promise `fencing-monotonic`, or \
            `\"unfenced\"`; a case may say otherwise.",
        ),
        Key::new(
            "event-budget",
            Holds::Whole(1, i64::MAX),
            "by the workload",
            "After so many events of the engine a run gives up, undecided; the report says how many they were, and \
            twice as many.",
        ),
        Key::new(
            "seeds-at-most",
            Holds::Whole(ENOUGH_SEEDS as i64, i64::MAX),
            "all that a run is asked for",
            "So many seeds show what there is to see, and each costs much: of the seeds that `picklock run` is asked \
            for, it takes the first so many, and says so. `--all-seeds` has it take all.",
        ),
        Key::new(
            "faults",
            FAULTS,
            "none",
            "Faults that each seed draws: see [what may be left open](scenarios.md#what-may-be-left-open). A case may \
            say otherwise.",
        ),
        Key::new(
            "service",
            SERVICE,
            "by the algorithms",
            "What the lock stands on. A file that does not say stands on the service that its algorithms need, with \
            every default.",
        ),
        Key::new(
            "network",
            Holds::Table(&NETWORK),
            "",
            "How long messages take, and how chance decides.",
        ),
        Key::new(
            "workload",
            Holds::Table(&WORKLOAD),
            "",
            "Who wants the lock, and what for.",
        ),
        Key::new(
            "contender",
            Holds::Tables(&CONTENDER),
            "",
            "What one contender does otherwise than the workload says.",
        ),
        Key::new("fault", Holds::Tables(&FAULT), "", "What breaks, and when."),
        Key::needed(
            "case",
            Holds::Tables(&CASE),
            "An algorithm, and what is wanted of it.",
        ),
        Key::new(
            "replay",
            Holds::Table(&REPLAY),
            "",
            "The one run that the file is about, as it was recorded.",
        ),
        Key::new(
            "saved",
            Holds::Table(&SAVED),
            "",
            "Which seed drew the plan of the only case.",
        ),
    ]],
};

const FAULT: KeyTable = KeyTable {
    title: "[[fault]]",
    about: "A fault reads as a sentence: *when acquired by contender-1, inject pause, target contender-1, for 20s*.",
    keys: &[&[
        Key::needed("when", Holds::Trigger, "What it waits for."),
        Key::new(
            "after",
            Holds::DurationOrZero,
            r#"`"0s"`"#,
            "How long after that it strikes.",
        ),
        Key::new(
            "times",
            Holds::Whole(2, 10_000),
            "once",
            "How often it strikes at most: whenever what it waits for happens again, or by `every`.",
        ),
        Key::new(
            "every",
            Holds::Duration,
            "none",
            "Time from one strike to the next; then it waits for its trigger once. It must be over by then.",
        ),
        Key::needed("inject", Holds::Fault, "What breaks."),
    ]],
};

const REPLAY: KeyTable = KeyTable {
    title: "[replay]",
    about: "Makes the file one about a single run: the one that was recorded, with the plan of its only case.",
    keys: &[&[
        Key::needed(
            "choices",
            Holds::List(&Holds::Whole(0, u32::MAX as i64)),
            "What chance decided, in order; zeros from there on.",
        ),
        HASH,
        PICKLOCK,
    ]],
};

const SAVED: KeyTable = KeyTable {
    title: "[saved]",
    about: "Says which seed drew the plan of the only case.",
    keys: &[&[
        Key::needed("seed", Holds::Whole(0, i64::MAX), "The seed."),
        Key::new(
            "drawn",
            Holds::Boolean,
            "`false`",
            "`true`: the seed had drawn faults, and one that does not find its moment leaves nothing undecided.",
        ),
        HASH,
        PICKLOCK,
    ]],
};

const HASH: Key = Key::new(
    "hash",
    Holds::Hash,
    "none",
    "The hash of the history: a run that has another one is not the run that was.",
);

const PICKLOCK: Key = Key::new(
    "picklock",
    Holds::Text,
    "none",
    "The version of picklock that ran it.",
);
