//! The keys of `[workload]`, of `[[contender]]`, and of `[network]` that stand on no setting.

use picklock_sim::plan::{ContenderSettings, Holds, Key, KeyTable, Network, Workload};

/// [workload].
pub(super) const WORKLOAD: KeyTable = KeyTable {
    title: "[workload]",
    about: "Who wants the lock, and what for.",
    keys: &[
        Workload::KEYS,
        &[Key::new(
            "allow-self-deadlock",
            Holds::Boolean,
            "`false`",
            "`true`: a lock that does not promise `reentrancy` may be entered again, too, to show what comes of \
            it. The second call waits for the first, for ever, or its end frees the lock under the first.",
        )],
    ],
};

/// [[contender]].
pub(super) const CONTENDER: KeyTable = KeyTable {
    title: "[[contender]]",
    about: "What one contender does otherwise than the workload says.",
    keys: &[
        &[Key::new(
            "name",
            Holds::ContenderNames,
            "",
            "Which one, or a list of several; needed. `\"any\"`: each seed draws one, or none, and some of \
            the keys below.",
        )],
        ContenderSettings::KEYS,
        &[Key::new(
            "locks",
            Holds::OneOrList(&Holds::Lock),
            "",
            "The locks that it takes, one in each round, in turn (with `locks-at-once`, so many in each, from \
            the next on): `\"lock-b\"`, or `[\"lock-a\", \"lock-a\", \"lock-b\"]`.",
        )],
    ],
};

/// [network].
pub(super) const NETWORK: KeyTable = KeyTable {
    title: "[network]",
    about: "How long messages take, and how chance decides.",
    keys: &[
        Network::KEYS,
        &[
            Key::new(
                "regions",
                Holds::Either(&[Holds::MachinesByRegion, Holds::WholeOrRange(1, 16)]),
                "none",
                "Which machine lies where, or how many regions each seed draws: see [regions](scenarios.md#network).",
            ),
            Key::new(
                "between",
                Holds::Either(&[Holds::LatenciesByRegions, Holds::OneOrList(&Holds::Range)]),
                "",
                "How far regions are from each other, one way, both ways alike: `us.eu = \"40ms..45ms\"`; for \
                regions that are drawn, a range, or a list of ranges to choose from.",
            ),
        ],
    ],
};
