//! Mutual exclusion, as the service sees it.

use crate::witness::{WitnessBuilder, lasting};
use crate::{Evidence, Invariant, Ownership, Truth, Verdict};

use super::interval_sweep::Latest;

/// The registry row.
pub const INVARIANT: Invariant = Invariant {
    name: "exclusive-ownership",
    truth: Truth::Ownership,
    meaning: "The service never has two owners of the lock at the same time, unless both share it.",
    check,
    inexcusable: None,
};

/// As for beliefs, the longest ownership so far, of either mode, is the only one to look at, if it is not the same
/// grant, told twice: then others may share the lock with that.
fn check(evidence: &Evidence<'_>) -> Verdict {
    if evidence.ownerships.is_empty() {
        return Verdict::Undecided("the service never made anybody the owner".to_owned());
    }
    let mut longest = Latest::of(evidence);
    for (index, later) in evidence.ownerships.iter().enumerate() {
        let from = evidence.at(later.owned);
        if let Some(earlier) = longest.over(later.lock, later.mode, from) {
            if !same_grant(earlier, later) {
                return violated(evidence, earlier, later);
            }
            let before = evidence.ownerships[..index].iter();
            let others = before.filter(|earlier| {
                earlier.lock == later.lock
                    && earlier.mode.excludes(later.mode)
                    && !same_grant(earlier, later)
                    && from < evidence.at_or_never(earlier.disowned)
            });
            let other = others.max_by_key(|earlier| evidence.at_or_never(earlier.disowned));
            if let Some(earlier) = other {
                return violated(evidence, earlier, later);
            }
        }
        let until = evidence.at_or_never(later.disowned);
        longest.extend((later.lock, later.mode), until, later);
    }
    Verdict::Holds
}

fn same_grant(one: &Ownership, other: &Ownership) -> bool {
    (one.by, one.token) == (other.by, other.token)
}

fn violated(evidence: &Evidence<'_>, earlier: &Ownership, later: &Ownership) -> Verdict {
    let (from, overlap) = evidence.overlap(later.owned, [earlier.disowned, later.disowned]);
    let history = &evidence.run.history;
    let mut case = WitnessBuilder::new(evidence);
    let (first, second) = (case.name(earlier.by), case.name(later.by));
    let summary = if earlier.by == later.by {
        format!("{first} owns the lock twice for {}", lasting(overlap))
    } else {
        let overlap = lasting(overlap);
        format!("{first} and {second} both own the lock for {overlap}")
    };
    let until = match earlier.disowned {
        Some(disowned) => format!("until {}", evidence.at(disowned)),
        None => "to the end of the run".to_owned(),
    };
    let node = history.name(earlier.name);
    case.show_ownership(earlier)
        .show_ownership(later)
        .then(format!(
            "the service has {first} as the owner by {node} from {} {until}.",
            evidence.at(earlier.owned)
        ))
        .however(format!(
            "it makes {second} the owner by {} at {from}.",
            history.name(later.name)
        ))
        .broken(summary, later.owned, Some(overlap))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;

    fn verdict(text: &str) -> Verdict {
        INVARIANT.verdict(&notation::run(text))
    }

    #[test]
    fn who_share_the_lock_own_it_together_and_nobody_else_does() {
        let readers = "a=0-9/shared b=1-12/shared";
        assert_eq!(verdict(readers), Verdict::Holds);
        assert_eq!(verdict(&format!("{readers} c=12-13")), Verdict::Holds);
        for writer in ["c=11-13", "c=0.5-0.6"] {
            let verdict = verdict(&format!("{readers} {writer}"));
            assert!(verdict.witness().is_some(), "{writer}");
        }
        assert!(verdict("a=0-9 b=1-2/shared").witness().is_some());
    }

    #[test]
    fn ownership_may_pass_on_at_once() {
        assert_eq!(verdict("a=0-10 b=10-20 a=20-"), Verdict::Holds);
    }

    #[test]
    fn belief_is_not_ownership() {
        assert_eq!(verdict("a=0-10 a:0-15 b=10-20 b:10-20"), Verdict::Holds);
    }

    #[test]
    fn two_owners_are_a_violation() {
        let verdict = verdict("a=0-10 b=8-20");
        let witness = verdict.witness().unwrap();
        assert_eq!(witness.summary, "a and b both own the lock for 2.000 s");
        assert_eq!(witness.events, [0, 1, 2, 3]);
    }

    #[test]
    fn an_overlap_of_one_microsecond_is_one() {
        assert!(verdict("a=0-10 b=9.999999-20").witness().is_some());
    }

    #[test]
    fn a_grant_that_is_told_twice_is_one_grant() {
        let twice = "a=0-/token=1 a=1-10/token=1 b=10-20/token=2";
        assert_eq!(verdict(twice), Verdict::Holds);
    }

    #[test]
    fn one_contender_with_two_grants_is_two_owners() {
        let verdict = verdict("a=0- a=4-6 end:9");
        let summary = &verdict.witness().unwrap().summary;
        assert_eq!(summary, "a owns the lock twice for 2.000 s");
    }
}
