//! One of several parts of a range of seeds.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// More shards than this are taken for a slip of the finger.
pub const MOST: u64 = 65_536;

/// One of several parts of a range of seeds: of four shards the second has the second seed, the sixth, the tenth, and
/// so on. No seed is in two shards, each is in one, and what comes first is spread over all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Claimed")]
pub struct Shard {
    index: u64,
    of: u64,
}

/// A shard as a file says it, which may be wrong.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Claimed {
    index: u64,
    of: u64,
}

impl TryFrom<Claimed> for Shard {
    type Error = String;

    fn try_from(claimed: Claimed) -> Result<Self, String> {
        Self::new(claimed.index, claimed.of)
    }
}

impl Shard {
    /// The only part: everything.
    pub const WHOLE: Self = Self { index: 1, of: 1 };

    /// The shard of this place, counted from 1, of so many.
    ///
    /// # Errors
    ///
    /// If there is none: what would be right.
    pub fn new(index: u64, of: u64) -> Result<Self, String> {
        if of == 0 || of > MOST {
            return Err(format!("there may be 1 to {MOST} shards, and not {of}"));
        }
        if index == 0 || index > of {
            return Err(format!(
                "there is no shard {index} of {of}: they count from 1 to {of}"
            ));
        }
        Ok(Self { index, of })
    }

    /// Its place, from 1.
    pub fn index(self) -> u64 {
        self.index
    }

    /// How many there are.
    pub fn of(self) -> u64 {
        self.of
    }
}

/// Which seeds run: those of a range that a shard has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// The range, of which the shard has a part.
    pub range: Range<u64>,
    /// The shard: the whole, if the run is not one of several.
    pub shard: Shard,
}

impl Seeds {
    /// All seeds of a range.
    pub const fn all(range: Range<u64>) -> Self {
        Self {
            range,
            shard: Shard::WHOLE,
        }
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        let all = self.range.end.saturating_sub(self.range.start);
        all.saturating_sub(self.shard.index - 1)
            .div_ceil(self.shard.of)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The seed at this place, counted from 0, which must be less than [`len`](Self::len).
    pub fn nth(&self, position: u64) -> u64 {
        self.range.start + position * self.shard.of + (self.shard.index - 1)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

#[cfg(test)]
mod tests;
