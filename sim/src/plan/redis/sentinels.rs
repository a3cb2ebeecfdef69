//! Sentinels of Redis.

use std::time::Duration;

use crate::plan::key::Holds;
use crate::plan::setting_type::{SettingType, Settings};
use crate::plan::settings::settings;
use crate::plan::value::Value;

settings! {
    /// Sentinels, and how they are set: they choose the primary, and tell clients which server it is. Defaults are
    /// those of Redis 7.0.15.
    #[derive(Clone, Debug, PartialEq, Eq)]
    Sentinels {
        quorum: u8 = "quorum" {
            holds: Holds::Whole(1, 7),
            default: 1,
            without: "the majority",
            of: Servers,
            written: Always,
            means: "How many of them must find the primary down.",
        }

        down_after: Duration = "down-after" {
            default: Duration::from_secs(30),
            of: Servers,
            written: Always,
            means: "How long a server must not answer before it is down.",
        }

        failover_timeout: Duration = "failover-timeout" {
            default: Duration::from_secs(180),
            of: Servers,
            written: Always,
            means: "How long the steps of a failover may take; the next one waits for twice this long.",
        }

        parallel_syncs: u8 = "parallel-syncs" {
            holds: Holds::Whole(1, 5),
            default: 1,
            of: Servers,
            written: Always,
            means: "Replicas that are told to follow the new primary at the same time.",
        }
    }
    and {
        /// How many there are.
        number: u8,
    }
}

impl Sentinels {
    /// So many Sentinels, of which the majority must agree.
    pub fn of(number: u8) -> Self {
        Self {
            number,
            quorum: number / 2 + 1,
            ..Self::default()
        }
    }
}

impl SettingType for Sentinels {
    const HOLDS: Holds = Holds::Whole(0, 7);

    fn to_value(&self) -> Option<Value> {
        self.number.to_value()
    }

    fn of_value(value: Option<Value>) -> Option<Self> {
        let number = u8::of_value(value).filter(|number| *number > 0);
        number.map(Self::of)
    }

    fn within(&self) -> Option<&dyn Settings> {
        Some(self)
    }

    fn within_mut(&mut self) -> Option<&mut dyn Settings> {
        Some(self)
    }
}
