//! The network of a run, and how its keys are written.

use std::time::Duration;

use super::key::Holds;
use super::setting_type::{SettingType, variants};
use super::settings::settings;
use super::{Regions, Strategy};

settings! {
    /// The network between clients, servers, and the resource.
    #[derive(Clone, Debug, PartialEq)]
    Network {
        chance: Strategy = "chance" {
            holds: Holds::OneOrList(&Strategy::HOLDS),
            default: Strategy::Even,
            means: "How chance decides: see [plans.md](plans.md#what-chance-is-like).",
        }

        client_latency: (Duration, Duration) = "latency" {
            holds: Holds::OneOrList(&Holds::Range),
            default: (Duration::from_millis(1), Duration::from_millis(5)),
            means: "One way between a client and a server.",
        }

        server_latency: (Duration, Duration) = "server-latency" {
            holds: Holds::OneOrList(&Holds::Range),
            default: (Duration::from_micros(200), Duration::from_millis(1)),
            means: "One way between servers.",
        }
    }
    and {
        /// Regions, if some are farther from each other than others.
        regions: Regions,
    }
}

variants! {
    Strategy: "strategy of chance" {
        Even = "even": "Each choice as likely as any other.",
        Extremes = "extremes": "Everything is the least or the most that there is.",
        Delays(u32: Holds::Whole(1, 100)) = "delays":
            "Everything is the least, but for so many choices, which are the most.",
        Priorities(u32: Holds::Whole(1, 100)) = "priorities":
            "Every link is as slow as it is from its first message on, but for so many changes.",
        Orders = "orders": "Each order in which messages can arrive is about as likely as any other.",
    }
}
