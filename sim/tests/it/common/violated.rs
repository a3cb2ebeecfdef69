//! What a run violates.

use picklock_checker::{Evidence, INVARIANTS, Run, Verdict};

/// Violated promises, with what is said of each.
pub fn violated(run: &Run) -> Vec<(&'static str, String)> {
    let evidence = Evidence::of(run);
    let all = INVARIANTS.iter();
    let verdicts = all.map(|invariant| (invariant.name, (invariant.check)(&evidence)));
    let violated = verdicts.filter_map(|(name, verdict)| match verdict {
        Verdict::Violated(witness) => Some((name, witness.summary)),
        Verdict::Holds | Verdict::Undecided(_) => None,
    });
    violated.collect()
}
