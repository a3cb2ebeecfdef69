//! The keys of `[network]`.

use picklock_sim::plan::{Holds, Key, KeyTable, Variant};

/// [network].
pub(super) const NETWORK: KeyTable = KeyTable {
    title: "[network]",
    about: "How long messages take, and how chance decides.",
    keys: &[NETWORK_KEYS],
};

const NETWORK_KEYS: &[Key] = &[
    Key::new(
        "chance",
        Holds::OneOrList(&STRATEGY),
        r#"`"even"`"#,
        "How chance decides: see [plans.md](plans.md#what-chance-is-like).",
    ),
    Key::new(
        "latency",
        Holds::OneOrList(&Holds::Range),
        r#"`"1ms..5ms"`"#,
        "One way between a client and a server.",
    ),
    Key::new(
        "server-latency",
        Holds::OneOrList(&Holds::Range),
        r#"`"200us..1ms"`"#,
        "One way between servers.",
    ),
    Key::new(
        "regions",
        Holds::Either(&[Holds::MachinesByRegion, Holds::WholeOrRange(1, 16)]),
        "none",
        "Who lies where, or how many regions each seed draws: see [regions](scenarios.md#network).",
    ),
    Key::new(
        "between",
        Holds::Either(&[Holds::LatenciesByRegions, Holds::OneOrList(&Holds::Range)]),
        "",
        "How far regions are from each other, one way, both ways alike: `us.eu = \"40ms..45ms\"`; for regions that are \
        drawn, a range, or a list of ranges to choose from.",
    ),
];

/// How chance decides.
const STRATEGY: Holds = Holds::Variants(
    "strategy of chance",
    &[
        Variant::word("even", "Each choice as likely as any other."),
        Variant::word(
            "extremes",
            "Everything is the least or the most that there is.",
        ),
        Variant::with(
            "delays",
            Holds::Whole(1, 100),
            "Everything is the least, but for so many choices, which are the most.",
        ),
        Variant::with(
            "priorities",
            Holds::Whole(1, 100),
            "Every link is as slow as it is from its first message on, but for so many changes.",
        ),
        Variant::word(
            "orders",
            "Each order in which messages can arrive is about as likely as any other.",
        ),
    ],
);
