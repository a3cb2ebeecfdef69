//! The keys of `[[case]]`.

use super::redis::CLIENTS;
use super::service::SERVICE;
use super::words;
use picklock_sim::plan::{ConnectionMode, Holds, Key, KeyTable, ReadFrom, SettingType, Variant};

/// An algorithm, and what is wanted of it.
pub(super) const CASE: KeyTable = KeyTable {
    title: "[[case]]",
    about: "An algorithm in the world of the file, and what is wanted of it. Silence means that every promise holds.",
    keys: &[&[
        Key::needed(
            "algorithm",
            Holds::Words(words::ALGORITHMS),
            "Its name, as in `picklock list algorithms`.",
        ),
        Key::new(
            "name",
            Holds::CaseName,
            "the algorithm's",
            "Needed if two cases have the same algorithm.",
        ),
        Key::new(
            "resource",
            Holds::Words(words::RESOURCES),
            "the file's",
            "Whether the resource checks tokens.",
        ),
        Key::new(
            "service",
            SERVICE,
            "the file's",
            "Settings of the service for this case alone, as in `service.redis.lease = \"2m\"`; all that it does not \
            say is as in the file, and so are `servers`, `observers`, `replicas`, `sentinels`, and `cluster`.",
        ),
        Key::new(
            "client",
            Holds::Words(CLIENTS),
            "the service's",
            "The client library, with all that it sets (Redis).",
        ),
        Key::new(
            "read-from",
            ReadFrom::HOLDS,
            "the service's",
            "Where clients send what only reads (Redis).",
        ),
        Key::new(
            "connections",
            ConnectionMode::HOLDS,
            "the service's",
            "How the tasks of a contender share connections (Redis).",
        ),
        Key::new(
            "faults",
            FAULTS,
            "the file's",
            "Faults that each seed draws.",
        ),
        Key::new(
            "sometimes",
            Holds::List(&Holds::Words(words::MOMENTS)),
            "the file's",
            "Moments that some seed must come through.",
        ),
        Key::new(
            "expect",
            Holds::ByWord(words::INVARIANTS, "expectation", &EXPECTATION),
            "that all is kept",
            "By invariant, what is wanted of it.",
        ),
        Key::new(
            "measure",
            Holds::ByWord(words::METRICS, "measure", &Holds::Table(&MEASURE)),
            "none",
            "By metric, within which bounds it has to be.",
        ),
    ]],
};

const EXPECTATION: Holds = Holds::Variants(
    "expectation",
    &[
        Variant::word("holds", "With every seed."),
        Variant::with(
            "violated",
            Holds::Table(&VIOLATED),
            "One of the first seeds violates it.",
        ),
        Variant::with(
            "excused",
            Holds::Table(&REASON),
            "It is looked at only where nothing excuses it: after the moment at which a holder could know that it had \
             lost the lock, or where no holder had lost it.",
        ),
        Variant::with(
            "undecided",
            Holds::Table(&REASON),
            "No seed violates it, and at least one cannot tell: what it needs is gone for good.",
        ),
        Variant::or_word("unchecked", Holds::Table(&UNCHECKED), "Not checked."),
    ],
);

const BECAUSE: &str = "The reason.";

const VIOLATED: KeyTable = KeyTable {
    title: "violated",
    about: "Why an invariant is violated, and how soon.",
    keys: &[&[
        Key::needed("because", Holds::Text, BECAUSE),
        Key::needed(
            "within-seeds",
            Holds::Whole(1, 1_000_000_000),
            "One of the first so many seeds violates it.",
        ),
    ]],
};

const REASON: KeyTable = KeyTable {
    title: "excused, undecided",
    about: "Why.",
    keys: &[&[Key::needed("because", Holds::Text, BECAUSE)]],
};

const UNCHECKED: KeyTable = KeyTable {
    title: "unchecked",
    about: "Why.",
    keys: &[&[Key::new("because", Holds::Text, "none", BECAUSE)]],
};

const MEASURE: KeyTable = KeyTable {
    title: "measure",
    about: "One bound, or both.",
    keys: &[&[
        Key::new(
            "at-least",
            Holds::Number,
            "none",
            "The least that is allowed.",
        ),
        Key::new(
            "at-most",
            Holds::Number,
            "none",
            "The most that is allowed.",
        ),
    ]],
};

/// Faults that each seed draws, of a file or of a case.
pub(super) const FAULTS: Holds = Holds::Variants(
    "choice of faults",
    &[Variant::or_word(
        "any",
        Holds::Table(&ANY_FAULTS),
        "Of any kind, but for those that are drawn only if they are named.",
    )],
);

const ANY_FAULTS: KeyTable = KeyTable {
    title: "faults.any",
    about: "Which kinds of faults each seed draws, and how many.",
    keys: &[&[
        Key::new(
            "kinds",
            Holds::List(&Holds::Words(words::FAULTS)),
            "all that are drawn unasked",
            "Of these kinds only.",
        ),
        Key::new(
            "except",
            Holds::List(&Holds::Words(words::FAULTS)),
            "none",
            "Of all kinds that are drawn unasked, but of these; not beside `kinds`.",
        ),
        Key::new(
            "at-most",
            Holds::Whole(1, 100),
            "16",
            "So many faults at most.",
        ),
    ]],
};
