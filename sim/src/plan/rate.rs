//! How often something happens, of a hundred times.

use std::fmt;

/// A share of all that happens: more than nothing, and less than all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(u32);

impl Rate {
    /// All, in the parts in which rates are counted.
    pub const WHOLE: u32 = 1_000_000;

    /// So many parts in a million; `None` if that is nothing, or all.
    pub fn of_million(parts: u32) -> Option<Self> {
        (1..Self::WHOLE).contains(&parts).then_some(Self(parts))
    }

    /// So many percent, but no less than one and no more than 99.
    pub fn percent(percent: u32) -> Self {
        Self(percent.clamp(1, 99) * (Self::WHOLE / 100))
    }

    /// In parts of a million.
    pub fn parts(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Rate {
    /// `5%`, `0.25%`
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 10_000, self.0 % 10_000);
        if rest == 0 {
            return write!(out, "{whole}%");
        }
        let digits = format!("{rest:04}");
        write!(out, "{whole}.{}%", digits.trim_end_matches('0'))
    }
}
