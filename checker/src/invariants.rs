//! Invariants: promises about a run, each with a pure function that tells whether it was kept.

mod all_or_none;
mod barrier;
mod bounded_bypass;
mod exclusive_ownership;
mod fencing_monotonic;
mod fifo;
mod honest_answer;
mod interval_sweep;
mod mutual_exclusion;
mod no_lost_update;
mod no_orphan;
mod no_stale_effect;
mod no_starvation;
mod own_release_only;
mod permits_conserved;
mod progress;
mod reentrancy;
mod timely_loss;

use serde::{Deserialize, Serialize};

use crate::{Evidence, Run, Verdict, Witness};

/// A promise about a run.
#[derive(Clone, Copy, Debug)]
pub struct Invariant {
    /// Its name, as scenarios and reports write it.
    pub name: &'static str,
    /// Which of the truths it is about.
    pub truth: Truth,
    /// What it says, one sentence.
    pub meaning: &'static str,
    /// Tells whether it was kept.
    pub check: fn(&Evidence<'_>) -> Verdict,
    /// Tells whether the part of it was kept that no fault excuses: what goes back to no loss of the lock, or happens
    /// after a holder could know of its loss. `None` if all of it is excused together.
    pub inexcusable: Option<fn(&Evidence<'_>) -> Verdict>,
}

/// Which of the truths a promise is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Truth {
    /// What contenders think.
    Belief,
    /// What the service says.
    Ownership,
    /// What the protected resource accepted.
    Effect,
    /// How contenders are served: whether they get the lock, and in which order.
    Service,
}

/// All invariants, in the order in which reports show them.
pub const INVARIANTS: &[Invariant] = &[
    mutual_exclusion::INVARIANT,
    exclusive_ownership::INVARIANT,
    no_stale_effect::INVARIANT,
    no_lost_update::INVARIANT,
    fencing_monotonic::INVARIANT,
    progress::INVARIANT,
    no_orphan::INVARIANT,
    own_release_only::INVARIANT,
    fifo::INVARIANT,
    bounded_bypass::INVARIANT,
    no_starvation::INVARIANT,
    reentrancy::INVARIANT,
    honest_answer::INVARIANT,
    timely_loss::INVARIANT,
    barrier::INVARIANT,
    all_or_none::INVARIANT,
    permits_conserved::INVARIANT,
];

/// The invariant of that name.
pub fn find(name: &str) -> Option<&'static Invariant> {
    INVARIANTS.iter().find(|invariant| invariant.name == name)
}

/// Checks all invariants: the verdicts that are not [`Verdict::Holds`].
pub fn check_all(run: &Run) -> Vec<(&'static str, Verdict)> {
    check_evidence(&Evidence::of(run), INVARIANTS)
}

/// Checks some invariants on a run that has been read: the verdicts that are not
/// [`Verdict::Holds`].
pub fn check_evidence<'i>(
    evidence: &Evidence<'_>,
    invariants: impl IntoIterator<Item = &'i Invariant>,
) -> Vec<(&'static str, Verdict)> {
    let mut verdicts = Vec::new();
    for invariant in invariants {
        let verdict = (invariant.check)(evidence);
        if verdict != Verdict::Holds {
            verdicts.push((invariant.name, verdict));
        }
    }
    verdicts
}

impl Invariant {
    /// The verdict on a run. To check several on one run, see [`check_evidence`].
    pub fn verdict(&self, run: &Run) -> Verdict {
        (self.check)(&Evidence::of(run))
    }

    /// How a run violates it, if it does.
    pub fn violation(&self, evidence: &Evidence<'_>) -> Option<Witness> {
        (self.check)(evidence).into_witness()
    }

    /// How a run violates the part of it that no fault excuses, if it does.
    pub fn violation_beyond_excuse(&self, evidence: &Evidence<'_>) -> Option<Witness> {
        self.inexcusable?(evidence).into_witness()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;

    #[test]
    fn every_invariant_is_found_by_its_name() {
        for invariant in INVARIANTS {
            assert_eq!(find(invariant.name).unwrap().meaning, invariant.meaning);
            assert!(invariant.meaning.ends_with('.'));
        }
        assert!(find("mutex").is_none());
    }

    #[test]
    fn no_check_holds_of_an_empty_history() {
        let found = check_all(&notation::run(""));
        assert_eq!(found.len(), INVARIANTS.len());
        assert!(
            found
                .iter()
                .all(|(_, v)| matches!(v, Verdict::Undecided(_)))
        );
    }

    #[test]
    fn only_what_was_asked_for_is_checked() {
        let run = notation::run("a:0-10 b:5-15");
        let evidence = Evidence::of(&run);
        let asked = find("mutual-exclusion").into_iter().chain(find("fifo"));
        let found: Vec<_> = check_evidence(&evidence, asked)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(found, ["mutual-exclusion", "fifo"]);
    }
}
