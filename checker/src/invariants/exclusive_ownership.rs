//! Mutual exclusion, as the service sees it.

use crate::witness::{WitnessBuilder, lasting};
use crate::{Evidence, Invariant, Ownership, Truth, Verdict};

use super::interval_sweep::{Latest, OpenStretches};

/// The registry row.
pub const INVARIANT: Invariant = Invariant {
    name: "exclusive-ownership",
    truth: Truth::Ownership,
    meaning: "The service never has two owners of the lock at the same time, unless both share it; \
              nor more than there are permits.",
    check,
    inexcusable: None,
};

/// As for beliefs, the longest ownership so far, of either mode, is the only one to look at, if it is not the same
/// grant, told twice: then others may share the lock with that.
fn check(evidence: &Evidence<'_>) -> Verdict {
    if evidence.ownerships.is_empty() {
        return Verdict::Undecided("the service never made a contender the owner".to_owned());
    }
    if evidence.permits() > 1 {
        return check_permits(evidence);
    }
    let mut longest = Latest::of(evidence);
    for (index, later) in evidence.ownerships.iter().enumerate() {
        let from = evidence.at(later.owned);
        if let Some(earlier) = longest.over(later.lock, later.mode, from) {
            if !is_one_owner(earlier, later) {
                return violated(evidence, &[earlier], later);
            }
            let before = evidence.ownerships[..index].iter();
            let others = before.filter(|earlier| {
                earlier.lock == later.lock
                    && earlier.mode.excludes(later.mode)
                    && !is_one_owner(earlier, later)
                    && from < evidence.at_or_never(earlier.disowned)
            });
            let other = others.max_by_key(|earlier| evidence.at_or_never(earlier.disowned));
            if let Some(earlier) = other {
                return violated(evidence, &[earlier], later);
            }
        }
        let until = evidence.at_or_never(later.disowned);
        longest.extend((later.lock, later.mode), until, later);
    }
    Verdict::Holds
}

/// With several permits each owner has one, in whichever mode; a grant that is told again has no other.
fn check_permits(evidence: &Evidence<'_>) -> Verdict {
    let mut open = OpenStretches::default();
    for later in &evidence.ownerships {
        let mut others: Vec<&Ownership> = Vec::new();
        for earlier in open.at(later.lock, evidence.at(later.owned)) {
            let known = |other: &&Ownership| same_grant(other, earlier);
            if !same_grant(earlier, later) && !others.iter().any(known) {
                others.push(earlier);
            }
        }
        if others.len() >= evidence.permits() {
            return violated(evidence, &others, later);
        }
        open.add(later.lock, evidence.at_or_never(later.disowned), later);
    }
    Verdict::Holds
}

fn same_grant(one: &Ownership, other: &Ownership) -> bool {
    (one.by, one.token) == (other.by, other.token)
}

/// Whether it is one owner: by the same grant, or by two, of which it has one to read what it writes.
fn is_one_owner(one: &Ownership, other: &Ownership) -> bool {
    same_grant(one, other) || (one.by == other.by && one.mode != other.mode)
}

/// All of these own the lock when the last of them comes to.
fn violated(evidence: &Evidence<'_>, earlier: &[&Ownership], later: &Ownership) -> Verdict {
    let all = || earlier.iter().copied().chain([later]);
    let (from, overlap) = evidence.overlap(later.owned, all().map(|owner| owner.disowned));
    let history = &evidence.run.history;
    let mut case = WitnessBuilder::new(evidence);
    let overlap_lasts = lasting(overlap);
    let summary = match (earlier, evidence.permits()) {
        ([earlier], 1) if earlier.by == later.by => {
            let owner = case.name(later.by);
            format!("{owner} owns the lock twice for {overlap_lasts}")
        }
        ([earlier], 1) => {
            let (first, second) = (case.name(earlier.by), case.name(later.by));
            format!("{first} and {second} both own the lock for {overlap_lasts}")
        }
        (_, permits) => {
            let names = case.names(all().map(|owner| owner.by));
            format!("{names} all own the lock for {overlap_lasts}, with {permits} permits")
        }
    };
    for owner in earlier {
        let until = match owner.disowned {
            Some(disowned) => format!("until {}", evidence.at(disowned)),
            None => "to the end of the run".to_owned(),
        };
        let (name, node) = (case.name(owner.by), history.name(owner.name));
        let since = evidence.at(owner.owned);
        case.show_ownership(owner).then(format!(
            "the service has {name} as the owner by {node} from {since} {until}."
        ));
    }
    let (name, node) = (case.name(later.by), history.name(later.name));
    case.show_ownership(later)
        .however(format!("it makes {name} the owner by {node} at {from}."))
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
    fn only_contenders_that_share_the_lock_own_it_together() {
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

    #[test]
    fn a_writer_that_reads_too_is_one_owner() {
        assert_eq!(verdict("a=0-9 a=2-12/shared"), Verdict::Holds);
        let other = "a=0-9 a=2-12/shared b=10-11";
        assert!(verdict(other).witness().is_some());
    }

    #[test]
    fn as_many_own_the_lock_as_there_are_permits_and_no_more() {
        let with_two = |text: &str| {
            let mut run = notation::run(text);
            run.facts.permits = 2;
            INVARIANT.verdict(&run)
        };
        assert_eq!(with_two("a=0-10 b=2-8 c=8-12 a=10-20"), Verdict::Holds);
        let three = with_two("a=0-10 b=2-8 c=7-12");
        let witness = three.witness().expect("a violation");
        let expected = "a, b, and c all own the lock for 1.000 s, with 2 permits";
        assert_eq!(witness.summary, expected);
        assert_eq!(witness.events, [0, 1, 2, 3, 4, 5]);
        let twice = "a=0-/token=1 a=1-10/token=1 b=5-20/token=2";
        assert_eq!(with_two(twice), Verdict::Holds);
        assert!(
            with_two(&format!("{twice} c=6-7/token=3"))
                .witness()
                .is_some()
        );
    }
}
