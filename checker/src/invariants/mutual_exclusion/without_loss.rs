//! An overlap that goes back to no loss: no contender believed on after the service had given the lock away, so one
//! came in for another reason.

use super::permits::first_excess;
use crate::{Belief, Evidence, VirtualTime};

/// The first contender that comes in beside others, although neither it nor they lose the lock while inside together.
pub(super) fn first_overlap<'e>(
    evidence: &'e Evidence<'_>,
) -> Option<(Vec<&'e Belief>, &'e Belief)> {
    if evidence.run.facts.servers_decide_alone {
        return None;
    }
    let beliefs = &evidence.beliefs;
    let until = |belief: &Belief| evidence.at_or_never(belief.left);
    if evidence.permits() > 1 {
        // Which of several is one too many cannot be said if any of them has lost its permit.
        let mut all = beliefs.iter();
        let lost = all.any(|belief| is_lost_before(evidence, belief, until(belief)));
        let excess = first_excess(evidence).filter(|(_, last)| evidence.has_owners_of(last.lock));
        return if lost { None } else { excess };
    }
    beliefs.iter().enumerate().find_map(|(place, later)| {
        let from = evidence.at(later.acquired);
        let mut earlier = beliefs[..place].iter().filter(|earlier| {
            earlier.lock == later.lock
                && earlier.mode.excludes(later.mode)
                && from < until(earlier)
                && evidence.has_owners_of(later.lock)
        });
        let earlier = earlier.find(|earlier| {
            let both_until = until(earlier).min(until(later));
            let kept = |belief| !is_lost_before(evidence, belief, both_until);
            kept(earlier) && kept(later)
        })?;
        Some((vec![earlier], later))
    })
}

/// Whether the service had ended an ownership that a belief rests on before this time.
fn is_lost_before(evidence: &Evidence<'_>, belief: &Belief, until: VirtualTime) -> bool {
    let mut grants = evidence.grants_of(belief);
    grants.any(|grant| evidence.at_or_never(grant.disowned) < until)
}

#[cfg(test)]
mod tests {
    use crate::invariants::mutual_exclusion::INVARIANT;
    use crate::{Evidence, Run, Verdict, notation};

    fn inexcusable(run: &Run) -> Verdict {
        let check = INVARIANT.inexcusable.expect("there is such a part");
        check(&Evidence::of(run))
    }

    #[test]
    fn nothing_excuses_one_who_comes_in_beside_an_owner() {
        let run = notation::run("a=0-5 a:0-5 b:2-4");
        let verdict = inexcusable(&run);
        let witness = verdict.witness().expect("a violation");
        assert_eq!(witness.summary, "a and b both inside for 2.000 s");
    }

    #[test]
    fn it_is_shown_although_another_overlap_before_it_goes_back_to_a_loss() {
        let run = notation::run("a=0-3/how=expired a:0-4 b=3-9 b:3-9 c:7-8");
        let verdict = inexcusable(&run);
        let witness = verdict.witness().expect("a violation");
        assert_eq!(witness.summary, "b and c both inside for 1.000 s");
    }

    #[test]
    fn an_overlap_that_goes_back_to_a_loss_can_be_excused() {
        let run = notation::run("a=0-3/how=expired a:0-4 b=3-9 b:3-9");
        assert_eq!(inexcusable(&run), Verdict::Holds);
    }

    #[test]
    fn a_term_that_was_lost_before_it_was_asked_for_can_be_excused() {
        let stays_candidate = "a=0-1/how=expired a:0- a.lost:2 a=3-4/how=expired";
        let run = notation::run(&format!("{stays_candidate} b=4-9 a.acquire:5 a:5-8 b:6-9"));
        assert_eq!(inexcusable(&run), Verdict::Holds);
    }

    #[test]
    fn a_history_that_does_not_say_who_owns_the_lock_does_not_say_who_lost_it() {
        assert_eq!(inexcusable(&notation::run("a:0-5 b:2-4")), Verdict::Holds);
    }

    #[test]
    fn what_one_of_several_servers_has_lost_is_not_known_to_all() {
        let mut run = notation::run("a=0-5 a:0-5 b:2-4");
        run.facts.servers_decide_alone = true;
        assert_eq!(inexcusable(&run), Verdict::Holds);
    }
}
