//! Permits are conserved: what a service counts as free, and what is out, are as many as there are.
//!
//! A service that only counts does not know which contender has a permit. What is out then are the permits that a
//! contender has counted down and believes in, or has a call under way for; any other that it has counted down is lost.
//! Where each permit has a lease, the service says itself how many are out, and those of the dead come back in time.

use crate::witness::WitnessBuilder;
use crate::{Belief, Ended, EventKind, Evidence, Invariant, LockId, PermitsLeft, Truth, Verdict};

/// The registry row.
pub const INVARIANT: Invariant = Invariant {
    name: "permits-conserved",
    truth: Truth::Ownership,
    meaning: "In the end, the permits that the service counts as free and those that are out are as many as there \
              are: none is lost, and none is there twice.",
    check,
    inexcusable: None,
};

fn check(evidence: &Evidence<'_>) -> Verdict {
    let undecided = |why: &str| Verdict::Undecided(why.to_owned());
    let Some((ended, Ended::AllFinished | Ended::BoundReached)) = evidence.ended else {
        return undecided("the run did not come to an end at which permits can be counted");
    };
    let mut counted = false;
    for (index, left) in evidence.run.permits_left.iter().enumerate() {
        let (lock, Some(left)) = (LockId(index as u32), left) else {
            continue;
        };
        counted = true;
        let lost = not_in_use(evidence, lock);
        let out = match left.leased {
            Some(leased) => i64::try_from(leased).unwrap_or(i64::MAX),
            None => (open_at_end(evidence, lock).count() - lost.len()) as i64,
        };
        if left.free.saturating_add(out) != evidence.permits() as i64 {
            return violated(evidence, ended, (left, out), &lost);
        }
    }
    match counted {
        true => Verdict::Holds,
        false => undecided("no service says how many permits are free when the run ends"),
    }
}

/// The ownerships of a lock that have not ended, by their place.
fn open_at_end(evidence: &Evidence<'_>, lock: LockId) -> impl Iterator<Item = usize> {
    let all = evidence.ownerships.iter().enumerate();
    let open = all.filter(move |(_, own)| own.lock == lock && own.disowned.is_none());
    open.map(|(index, _)| index)
}

/// Of these, the ownerships that no contender believes in, or has a call under way for.
fn not_in_use(evidence: &Evidence<'_>, lock: LockId) -> Vec<usize> {
    let is_held = |belief: &Belief| match belief.left {
        None => true,
        Some(left) => {
            let releases = matches!(evidence.event(left).what, EventKind::ReleaseStarted { .. });
            releases && belief.settled.is_none()
        }
    };
    let is_in_use = |grant: usize| {
        let ownership = &evidence.ownerships[grant];
        let mut beliefs = evidence.beliefs.iter();
        let mut pending = evidence.pending.iter();
        beliefs.any(|belief| is_held(belief) && evidence.rests_on(belief, grant))
            || pending.any(|(by, of, asked)| {
                (*by, *of) == (ownership.by, lock) && *asked < ownership.owned
            })
    };
    open_at_end(evidence, lock)
        .filter(|grant| !is_in_use(*grant))
        .collect()
}

fn violated(
    evidence: &Evidence<'_>,
    ended: usize,
    (left, out): (&PermitsLeft, i64),
    lost: &[usize],
) -> Verdict {
    let permits = evidence.permits() as i64;
    let there = left.free.saturating_add(out);
    let mut case = WitnessBuilder::new(evidence);
    let lost = lost
        .iter()
        .filter(|_| there < permits && left.leased.is_none());
    for ownership in lost.map(|grant| &evidence.ownerships[*grant]) {
        let (who, since) = (case.name(ownership.by), evidence.at(ownership.owned));
        case.show_ownership(ownership).then(format!(
            "{who} has taken one at {since}, and neither believes in it any more nor has given it back."
        ));
    }
    let off = match permits - there {
        lost @ 1.. => format!("{lost} lost"),
        more => format!("{} too many", -more),
    };
    let summary = format!("the permits add up to {there}, not to {permits}: {off}");
    case.then(format!(
        "the service says that {} are free, and {out} are out.",
        left.free
    ))
    .however(format!("it was set to {permits}."))
    .broken(summary, ended, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;

    /// With two permits, of which the service says that so many are free, and out for their leases.
    fn verdict(text: &str, free: i64, leased: Option<u64>) -> Verdict {
        let mut run = notation::run(text);
        run.facts.permits = 2;
        run.permits_left = vec![Some(PermitsLeft { free, leased })];
        INVARIANT.verdict(&run)
    }

    fn summary(text: &str, free: i64) -> String {
        let verdict = verdict(text, free, None);
        verdict.witness().expect("a violation").summary.clone()
    }

    #[test]
    fn what_was_given_back_is_free_and_what_is_held_is_out() {
        let given_back = "a.acquire:0 a=1-5 a:2-5 a.released:6 end:9";
        assert_eq!(verdict(given_back, 2, None), Verdict::Holds);
        let lost = "the permits add up to 1, not to 2: 1 lost";
        assert_eq!(summary(given_back, 1), lost);
        let more = "the permits add up to 3, not to 2: 1 too many";
        assert_eq!(summary(given_back, 3), more);
        let held = "a.acquire:0 a=1- a:2- bound-reached:9";
        assert_eq!(verdict(held, 1, None), Verdict::Holds);
        assert_eq!(summary(held, 2), more);
    }

    #[test]
    fn a_permit_is_in_use_while_a_call_to_take_it_or_to_give_it_back_is_under_way() {
        let asks = "b.acquire:0 b=1- bound-reached:9";
        assert_eq!(verdict(asks, 1, None), Verdict::Holds);
        let releases = "a=1- a:2-5 bound-reached:9";
        assert_eq!(verdict(releases, 1, None), Verdict::Holds);
        // It has an answer by now, or the call that has taken it is over.
        assert_eq!(
            verdict(&format!("{releases} a.released:6"), 2, None),
            Verdict::Holds
        );
        let failed = "b.acquire:0 b=1- b.failed:3 bound-reached:9";
        let verdict = verdict(failed, 1, None);
        let witness = verdict.witness().expect("a violation");
        assert_eq!(witness.argument.len(), 3);
        assert!(format!("{:?}", witness.argument[0]).contains("b has taken one at 1.000 s"));
    }

    #[test]
    fn the_permit_of_a_dead_holder_is_lost_unless_it_has_a_lease() {
        let dead = "a=1- a:2- a.crashed:5 bound-reached:60";
        assert_eq!(
            summary(dead, 1),
            "the permits add up to 1, not to 2: 1 lost"
        );
        assert_eq!(verdict(dead, 1, Some(1)), Verdict::Holds);
        assert!(verdict(dead, 2, Some(1)).witness().is_some());
    }

    #[test]
    fn without_a_count_or_an_end_nothing_is_said() {
        assert!(matches!(
            INVARIANT.verdict(&notation::run("a:0-1 end:2")),
            Verdict::Undecided(_)
        ));
        assert!(matches!(verdict("a:0-1", 2, None), Verdict::Undecided(_)));
    }
}
