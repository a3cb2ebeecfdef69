//! Sections: how long they last, and what they do to the resource.

use std::time::Duration;

use super::Value;
use super::key::{Holds, KeyTable};
use super::setting_type::{SettingType, tables, variants};
use super::settings::settings;

/// How long a section lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// This long.
    For(Duration),
    /// Until nothing is under way any more: one release at a time.
    Settled,
}

/// What a section does to the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Holds, then writes once.
    Write,
    /// Reads a counter, holds, and writes back one more.
    Count,
    /// Reads the stock, holds, and writes back one less, unless nothing is left.
    Sell(Stock),
    /// Writes once, at once, and does not wait for the answer; the write travels for a random time up to this before
    /// it reaches the resource.
    DelayedWrite(Duration),
    /// Nothing.
    Nothing,
}

/// The table that a stock is.
const STOCK: KeyTable = KeyTable {
    title: "sell",
    about: "What is sold.",
    keys: &[Stock::KEYS],
};

settings! {
    /// What is sold.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    Stock {
        stock: u32 = "stock" needed {
            holds: Holds::Whole(1, 1_000_000_000),
            default: 5_000,
            means: "How many there are.",
        }
    }
}

tables! {
    Stock: STOCK,
}

impl SettingType for Hold {
    const HOLDS: Holds = Holds::Hold;

    fn to_value(&self) -> Option<Value> {
        Some(match self {
            Self::For(length) => Value::Time(*length),
            Self::Settled => Value::Named(SETTLED, None),
        })
    }

    fn of_value(value: Option<Value>) -> Option<Self> {
        match value? {
            Value::Time(length) => Some(Self::For(length)),
            Value::Named(SETTLED, None) => Some(Self::Settled),
            _ => None,
        }
    }
}

/// What is written of a section that lasts until nothing is under way.
const SETTLED: &str = "settled";

variants! {
    Section: "section" {
        Write = "write": "Holds, and then writes once.",
        Count = "count": "Reads a counter, holds, and writes back one more.",
        Sell(Stock: Holds::Table(&STOCK)) = "sell":
            "Reads the stock, holds, and writes back one less, unless nothing is left.",
        DelayedWrite(Duration: Holds::Duration) = "delayed-write":
            "Writes at once and does not wait: the write travels for a random time up to this.",
        Nothing = "nothing": "Does nothing to the resource.",
    }
}
