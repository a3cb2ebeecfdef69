//! The keys of `[network]`.

use super::key::{Holds, Key, KeyTable, Variant};

/// [network].
pub(super) const NETWORK: KeyTable = KeyTable {
    title: "[network]",
    about: "How long messages take, and how chance decides.",
    keys: NETWORK_KEYS,
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
        Holds::Either(&[MACHINES_BY_REGION, Holds::WholeOrRange(1, 16)]),
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
const STRATEGY: Holds = Holds::Variants(&[
    Variant::word("even", "Each choice as likely as any other."),
    Variant::word("extremes", "The least or the most, and seldom between."),
    Variant::with(
        "delays",
        Holds::Whole(1, 100),
        "All as it comes, but for so many delays.",
    ),
    Variant::with(
        "priorities",
        Holds::Whole(1, 100),
        "Tasks have priorities, which change so often.",
    ),
    Variant::word("orders", "All orders of what happens at once are as likely."),
]);
