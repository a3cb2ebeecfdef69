//! Why seeds say nothing of a promise, and whether more of them would.

use std::collections::BTreeMap;

use picklock_checker::outcome::{Finding, Standing};

use super::phrases::seeds;
use super::{ENOUGH_SEEDS, Tally, Unknown};
use crate::describe::one_line;
use crate::scenario::{Case, Want};

/// That nothing is judged, and why. In the matrix that is what an algorithm claims under a class of faults; in a file,
/// it is a case that cannot fail.
pub(super) fn nothing_judged(case: &Case, in_matrix: bool) -> Finding {
    let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for expectation in &case.expectations {
        let why = match &expectation.want {
            Want::Unchecked { because: None } => "unchecked without a reason".to_owned(),
            Want::Unchecked { because: Some(why) } => format!("unchecked: {}", one_line(why)),
            Want::Excused { because } => format!("excused: {}", one_line(because)),
            Want::Holds | Want::Violated { .. } | Want::Undecided { .. } => continue,
        };
        reasons.entry(why).or_default().push(expectation.invariant);
    }
    let reasons = reasons.iter();
    let reasons = reasons.map(|(why, names)| format!("{} ({why})", names.join(", ")));
    let reasons = reasons.collect::<Vec<_>>().join("; ");
    let (standing, line) = match in_matrix {
        true => (
            Standing::AsExpected,
            format!("nothing is claimed here: {reasons}"),
        ),
        false => (
            Standing::Undecided,
            format!("nothing is judged: {reasons}; expect one of them to hold, or to be violated"),
        ),
    };
    Finding {
        name: "nothing".to_owned(),
        standing,
        line,
        can_tell: None,
    }
}

impl Tally {
    /// What is in doubt is undecided. Where seeds draw plans, a few of them may all have drawn one that cannot tell.
    pub(super) fn undecided_or_for_want_of_seeds(
        &self,
        name: &str,
        doubt: String,
        open: bool,
    ) -> (Standing, String) {
        let ran = self.seeds();
        if !open || !self.are_few() {
            return (Standing::Undecided, doubt);
        }
        let line = format!(
            "{name} may need {} to be decided; {ran} ran",
            seeds(ENOUGH_SEEDS)
        );
        (Standing::Skipped, line)
    }

    /// Whether some seeds have run, and too few of them for a moment or a plan of a kind to be among them.
    pub(super) fn are_few(&self) -> bool {
        (1..ENOUGH_SEEDS).contains(&self.seeds())
    }

    /// Why nothing can be said of an invariant, if so. Where plans are drawn, one that says nothing is no reason to
    /// doubt the others; where the file has written the plan, it is.
    pub(super) fn in_doubt(&self, invariant: &str, open: bool) -> Option<String> {
        if let Some(doubt) = self.vacuity_reason(open) {
            return Some(doubt);
        }
        if open && self.deciding_seeds(invariant) > 0 {
            return None;
        }
        if let Some(Unknown { seeds, reason, .. }) = self.unknown.get(invariant) {
            return Some(format!("{invariant}: {reason} ({})", self.of_all(*seeds)));
        }
        let excused = self.excused.get(invariant)?;
        let of_all = self.of_all(*excused);
        Some(format!(
            "{invariant}: no lock could keep it under the faults drawn ({of_all})"
        ))
    }

    /// Whether no seed decides an invariant because each breaks `progress`, as expected. Then none has to.
    pub(super) fn is_moot(&self, invariant: &str) -> bool {
        let asked = self.unknown.contains_key(invariant) || self.excused.contains_key(invariant);
        !asked && self.silent.get(invariant) == Some(&self.seeds())
    }

    /// Whether no lock could keep an invariant under the faults of any seed.
    pub(super) fn is_always_excused(&self, invariant: &str) -> bool {
        self.excused.get(invariant) == Some(&self.seeds())
    }

    /// For how many seeds an invariant is decided.
    pub(super) fn deciding_seeds(&self, invariant: &str) -> u64 {
        let silent = self.silent.get(invariant).copied().unwrap_or_default();
        let say_nothing = self.idle() + self.seeds_broken();
        // A run that violates it decides it, whatever else the run cannot tell.
        let violated = (self.violated_though_vacuous.get(invariant).copied()).unwrap_or_default();
        self.seeds().saturating_sub(say_nothing + silent) + violated
    }

    /// How many seeds say nothing of anything.
    fn idle(&self) -> u64 {
        self.vacuous.values().sum()
    }

    /// Why every promise is undecided, if so.
    pub(super) fn vacuity_reason(&self, open: bool) -> Option<String> {
        if open && self.idle() < self.seeds() {
            return None;
        }
        let (reason, seeds) = self.vacuous.iter().max_by_key(|(_, seeds)| **seeds)?;
        let of_all = self.of_all(*seeds);
        Some(match self.vacuous_detail.get(reason) {
            Some((seed, here)) => format!("{reason} ({of_all}); at seed {seed}, {here}"),
            None => format!("{reason} ({of_all})"),
        })
    }
}
