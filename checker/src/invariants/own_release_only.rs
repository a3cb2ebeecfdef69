//! No contender releases another's hold.

use crate::witness::WitnessBuilder;
use crate::{Disowned, EventKind, Evidence, Invariant, Truth, Verdict};

/// The registry row.
pub const INVARIANT: Invariant = Invariant {
    name: "own-release-only",
    truth: Truth::Ownership,
    meaning: "No contender takes the lock from another that owns it.",
    check,
    inexcusable: None,
};

fn check(evidence: &Evidence<'_>) -> Verdict {
    if evidence.ownerships.is_empty() {
        return Verdict::Undecided("the service never made a contender the owner".to_owned());
    }
    match evidence.removals.first() {
        None => Verdict::Holds,
        Some(&removal) => violated(evidence, removal),
    }
}

fn violated(evidence: &Evidence<'_>, removal: usize) -> Verdict {
    let EventKind::Disowned {
        by,
        lock,
        how: how @ (Disowned::RemovedBy(other) | Disowned::OverwrittenBy(other)),
        ..
    } = evidence.event(removal).what
    else {
        unreachable!("a removal is a disowning by another contender")
    };
    let overwritten = how == Disowned::OverwrittenBy(other);
    let at = evidence.at(removal);
    let mut case = WitnessBuilder::new(evidence);
    let (who, other_name) = (case.name(by), case.name(other));
    let mut ownerships = evidence.ownerships.iter();
    if let Some(ownership) = ownerships.find(|o| o.disowned == Some(removal)) {
        let owned = evidence.at(ownership.owned);
        case.show_ownership(ownership)
            .then(format!("{who} owns the lock from {owned}."));
    }
    // What the other one was doing: its latest hold, or its release of that.
    let mut beliefs = evidence.beliefs.iter().rev();
    let latest = beliefs.find(|b| b.by == other && b.lock == lock && b.acquired < removal);
    let mut meaning = String::new();
    if let Some(belief) = latest {
        case.show_belief(belief);
        let left = belief.left.filter(|&left| left < removal);
        // What was on its way when a release was dropped may arrive at any time.
        let dropped = |settled| {
            let what = evidence.event(settled).what;
            matches!(what, EventKind::ReleaseCancelled { .. })
        };
        let mut settled = belief.settled.into_iter();
        let releasing = settled.all(|settled| settled > removal || dropped(settled));
        if let Some(left) = left.filter(|_| releasing) {
            let (got, left) = (evidence.at(belief.acquired), evidence.at(left));
            meaning = format!(", when it released its own hold of {got} to {left}");
        }
    }
    let summary = if overwritten {
        format!("{other_name} overwrote the claim of {who}, which owned the lock")
    } else {
        format!("{other_name} took the lock from {who}, which owned it")
    };
    let did = if overwritten { "overwrote" } else { "removed" };
    case.however(format!(
        "{other_name} {did} the claim of {who} at {at}{meaning}."
    ))
    .broken(summary, removal, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Step, notation};

    fn verdict(text: &str) -> Verdict {
        INVARIANT.verdict(&notation::run(text))
    }

    #[test]
    fn releases_and_leases_and_operators_are_fine() {
        let text = "a=0-10 b=10-20/how=expired c=20-30/how=outside a=30-40/how=a";
        assert_eq!(verdict(text), Verdict::Holds);
    }

    #[test]
    fn what_a_reaper_removes_of_the_dead_is_fine() {
        assert_eq!(verdict("a=0-10/how=reaped b=10-20"), Verdict::Holds);
    }

    #[test]
    fn a_release_that_deletes_the_key_of_another_is_a_violation() {
        let verdict = verdict("a=0-10/how=expired a:0-15 b=10-15/how=a b:10-20 end:20");
        let witness = verdict.witness().unwrap();
        assert_eq!(witness.summary, "a took the lock from b, which owned it");
        assert_eq!(witness.at.micros(), 15_000_000);
    }

    #[test]
    fn to_put_a_hold_of_ones_own_in_the_place_of_anothers_is_a_violation_and_called_so() {
        let verdict = verdict("a=0-5/how=over-b b=5-20 end:20");
        let witness = verdict.witness().unwrap();
        let expected = "b overwrote the claim of a, which owned the lock";
        assert_eq!(witness.summary, expected);
        let however = Step::However("b overwrote the claim of a at 5.000 s.".to_owned());
        assert_eq!(witness.argument.last(), Some(&however));
    }

    #[test]
    fn to_overwrite_its_own_hold_takes_nothing_from_another() {
        assert_eq!(verdict("a=0-5/how=over-a a=5-20 end:20"), Verdict::Holds);
    }
}
