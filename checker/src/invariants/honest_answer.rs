//! What calls report is true.
//!
//! A contender can know no more than the service has answered. So an answer is false only if the service's own
//! answers contradict it ([`ServiceAnswer`]):
//!
//! - A contender that a majority of servers, one after the other, granted the lock may say that it holds it, although
//!   some had lost it before the last one said yes, and it was never the owner.
//! - A contender without a key at a server that answers for all may say that it has released the lock, although another
//!   server takes itself for such a one and has the key; and so may one that asks a replica for which it is over.
//! - A hold that counts entries is released entry by entry. What is left of it then is of calls that could not say
//!   whether they had entered.
//!
//! A release that is said to be done has released something. It is false if the lease of the hold was over before the
//! release began, or another contender had taken the lock from it: the caller was not alone, and could learn it only
//! now. What an operator removed, or a server forgot, is gone as it was to be; and of what goes with a session, the
//! session tells. A contender may take an unanswered request of its release for what has released the lock.
//!
//! An acquire that fails definitely says that nothing of it is at the service, then or later. What is there, or comes,
//! contradicts it at once, however soon it goes by itself. There are reasons to ask no further: an earlier call could
//! not say what it left, and what comes then may be its; the call failed because its session is gone, or because its
//! client has given it up for gone, and what that held goes when the service ends it; it has seen its place gone,
//! which a server may show before the leader has applied it; or a disk or a clock of a server has brought back what an
//! earlier call had left. `no-orphan` says how long that may take.
//!
//! A call of several permits that returns has been given as many, one after the other or at once.
//!
//! An acquire that says that it was cancelled was: a cancel of an earlier call, or of a hold, is none of it.

mod left_behind;
mod never_cancelled;
mod too_few_permits;

use crate::witness::WitnessBuilder;
use crate::{Belief, Evidence, Invariant, Ownership, ServiceAnswer, Truth, Verdict};

/// The registry row.
pub const INVARIANT: Invariant = Invariant {
    name: "honest-answer",
    truth: Truth::Belief,
    meaning: "An acquire that succeeds made its contender the owner, a release that succeeds ended an \
              ownership that lasted until then, a call that fails for certain leaves nothing behind, \
              and a call that answers that it was cancelled was cancelled.",
    check,
    inexcusable: None,
};

/// Only what is certain counts. An answer may be late, so it is false only if it was false from the
/// call on until the contender left.
fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut told = false;
    for belief in &evidence.beliefs {
        if let Some(grant) = belief.grant {
            told = true;
            if let Some(verdict) = too_few_permits::verdict(evidence, belief) {
                return verdict;
            }
            if let Some((released, ownership)) = evidence.released_without_effect(belief) {
                return still_owner(evidence, belief, ownership, released);
            }
            if let Some(released) = evidence.released_nothing(belief) {
                let ownership = &evidence.ownerships[grant];
                return owner_no_longer(evidence, belief, ownership, released);
            }
        } else if evidence.has_owners_of(belief.lock) {
            told = true;
            if !owned_meanwhile(evidence, belief) && !granted_meanwhile(evidence, belief) {
                return never_owner(evidence, belief);
            }
        }
    }
    if let Some(verdict) = never_cancelled::verdict(evidence) {
        return verdict;
    }
    if let Some(left) = evidence.orphan_of_failed_acquire() {
        return left_behind::verdict(evidence, &left);
    }
    if !told {
        return Verdict::Undecided(
            "no answer can be compared with what the service says".to_owned(),
        );
    }
    Verdict::Holds
}

/// Whether the contender owned the lock at any time from its call until it left.
fn owned_meanwhile(evidence: &Evidence<'_>, belief: &Belief) -> bool {
    let asked = belief.asked.unwrap_or(0);
    evidence.ownerships.iter().any(|ownership| {
        (ownership.by, ownership.lock) == (belief.by, belief.lock)
            && evidence.at(ownership.owned) <= evidence.at_or_never(belief.left)
            && evidence.at(asked) <= evidence.at_or_never(ownership.disowned)
    })
}

/// Whether a majority of servers has granted it the lock between its call and its answer, though never all at once.
fn granted_meanwhile(evidence: &Evidence<'_>, belief: &Belief) -> bool {
    let asked = belief.asked.unwrap_or(0);
    evidence
        .answers_to(belief, asked..belief.acquired)
        .any(|(_, answer)| answer == ServiceAnswer::GrantedApart)
}

fn never_owner(evidence: &Evidence<'_>, belief: &Belief) -> Verdict {
    let mut case = WitnessBuilder::new(evidence);
    let who = case.name(belief.by);
    let from = evidence.at(belief.acquired);
    let until = match belief.left {
        Some(left) => format!("until {}", evidence.at(left)),
        None => "to the end of the run".to_owned(),
    };
    let since = belief.asked.unwrap_or(belief.acquired);
    let mut ownerships = evidence.ownerships.iter();
    let owner = ownerships.find(|ownership| {
        ownership.lock == belief.lock
            && ownership.owned < belief.acquired
            && ownership.disowned.is_none_or(|end| end > belief.acquired)
    });
    let summary = format!("{who} was told that it held the lock, which it never owned");
    case.show_belief(belief).then(format!(
        "acquire told {who} at {from} that it held the lock."
    ));
    if let Some(owner) = owner {
        case.show_ownership(owner);
        let (name, owned) = (case.name(owner.by), evidence.at(owner.owned));
        case.then(format!("the owner was {name}, since {owned}."));
    }
    let since = evidence.at(since);
    case.however(format!(
        "the service did not have {who} as the owner at any time from {since} {until}."
    ))
    .broken(summary, belief.acquired, None)
}

fn still_owner(
    evidence: &Evidence<'_>,
    belief: &Belief,
    ownership: &Ownership,
    released: usize,
) -> Verdict {
    let mut case = WitnessBuilder::new(evidence);
    let who = case.name(belief.by);
    let node = evidence.run.history.name(ownership.name);
    let until = match ownership.disowned {
        Some(disowned) => format!("until {}", evidence.at(disowned)),
        None => "to the end of the run".to_owned(),
    };
    let summary = format!("{who} was told that it had released the lock, which it still owned");
    case.show_belief(belief)
        .then(format!(
            "release told {who} at {} that it had released the lock.",
            evidence.at(released)
        ))
        .however(format!(
            "the service had {who} as the owner by {node} {until}."
        ))
        .broken(summary, released, None)
}

fn owner_no_longer(
    evidence: &Evidence<'_>,
    belief: &Belief,
    ownership: &Ownership,
    released: usize,
) -> Verdict {
    let mut case = WitnessBuilder::new(evidence);
    let who = case.name(belief.by);
    let summary =
        format!("{who} was told that it had released the lock, and its release released nothing");
    let at = evidence.at(released);
    case.show_belief(belief);
    let lost = case.why_lost(ownership);
    case.then(format!(
        "release told {who} at {at} that it had released the lock."
    ))
    .however(format!("{lost}, before that release began."))
    .broken(summary, released, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;

    pub(super) fn verdict(text: &str) -> Verdict {
        INVARIANT.verdict(&notation::run(text))
    }

    fn summary(text: &str) -> String {
        verdict(text)
            .witness()
            .expect("a violation")
            .summary
            .clone()
    }

    #[test]
    fn a_late_answer_is_honest() {
        let text = "a.acquire:0 a=1-5/how=expired a:6-9 a.release-failed:10";
        assert_eq!(verdict(text), Verdict::Holds);
    }

    #[test]
    fn an_acquire_of_a_lock_that_another_owns_is_a_lie() {
        let text = "a=0-10 a:0-10 b.acquire:1 b:2-5";
        assert_eq!(
            summary(text),
            "b was told that it held the lock, which it never owned"
        );
    }

    #[test]
    fn an_old_ownership_does_not_make_a_new_answer_true() {
        let text = "a.acquire:0 a=1-5 a:1-5 a.released:5 a.acquire:6 a:7-9";
        assert!(verdict(text).witness().is_some());
    }

    #[test]
    fn a_candidate_that_lost_its_term_owns_the_next_before_it_asks() {
        let until_lost = "a.acquire:0 a=1-2/how=expired a:1- a.lost:3";
        let next = "a=4-5/how=expired a.acquire:6 a:6-9";
        assert_eq!(verdict(&format!("{until_lost} {next}")), Verdict::Holds);
        // Not one that has released the lock meanwhile, or whose next call has failed.
        for ended in ["a.acquire:3.1 a.indefinite:3.2", "a.released:3.5"] {
            let text = format!("{until_lost} {ended} {next}");
            assert!(verdict(&text).witness().is_some(), "{ended}");
        }
    }

    #[test]
    fn a_release_is_true_if_the_service_has_done_it_at_that_moment() {
        assert_eq!(verdict("a=0-10 a:0-9 a.released:10"), Verdict::Holds);
    }

    #[test]
    fn a_release_that_released_nothing_is_a_lie() {
        let text = "a=0-20/how=expired a:0-9 a.released:10";
        let expected = "a was told that it had released the lock, which it still owned";
        assert_eq!(summary(text), expected);
        assert_eq!(verdict("a=0-20 a:0-9 a.release-failed:10"), Verdict::Holds);
    }

    #[test]
    fn a_release_of_a_hold_that_was_over_before_it_is_a_lie() {
        let told = "a was told that it had released the lock, and its release released nothing";
        for how in ["expired", "b", "over-b"] {
            let text = format!("a=0-5/how={how} b=5-8 a:0-9 a.released:10");
            assert_eq!(summary(&text), told, "{how}");
        }
        for honest in [
            // It ended while the release was under way.
            "a=0-9.5/how=expired a:0-9 a.released:10",
            "a=0-5/how=outside a:0-9 a.released:10",
            "a=0-5/how=expired a:0-9 a.unanswered:9.5 a.released:10",
            "a=0-5/how=expired a:0-9 a.release-failed:10",
            // It was the owner again.
            "a=0-5/how=expired a=6-9.5 a:0-9 a.released:10",
        ] {
            assert_eq!(verdict(honest), Verdict::Holds, "{honest}");
        }
        let mut run = notation::run("a=0-5/how=expired a:0-9 a.released:10");
        run.facts.held_by_session = true;
        assert_eq!(INVARIANT.verdict(&run), Verdict::Holds);
    }

    #[test]
    fn who_was_granted_it_by_a_majority_that_never_had_it_at_once_is_honest() {
        let text = "b=0-1 a.acquire:2 a.granted:3 a:4-5 a.released:6";
        assert_eq!(verdict(text), Verdict::Holds);
        // Not by a grant of an earlier call, nor by another's.
        for other in ["a.granted:2", "b.granted:4"] {
            let text = format!("b=0-1 {other} a.acquire:3 a:5-6 a.released:7");
            let expected = "a was told that it held the lock, which it never owned";
            assert_eq!(summary(&text), expected, "{other}");
        }
    }

    #[test]
    fn a_release_is_true_if_one_server_that_answers_for_all_has_done_it() {
        let text = "a=0-20/how=outside a:0-9 a.denied:9.5 a.released:10";
        assert_eq!(verdict(text), Verdict::Holds);
        let text = "a=0-20/how=outside a:0-9 b.denied:9.5 a.released:10";
        assert!(verdict(text).witness().is_some());
    }

    #[test]
    fn a_release_gives_one_entry_back_and_what_is_left_is_of_a_call_that_could_not_say() {
        let entered = "a.acquire:0 a=1-20/how=expired a.indefinite:2 a.acquire:3 a.entries:4/value=2 \
                       a:5-6";
        let text = format!("{entered} a.entries:6.5/value=1 a.released:7");
        assert_eq!(verdict(&text), Verdict::Holds);
        // Nothing was given back, or more was taken.
        for so in ["", "a.entries:6.5/value=3"] {
            let text = format!("{entered} {so} a.released:7");
            let expected = "a was told that it had released the lock, which it still owned";
            assert_eq!(summary(&text), expected, "{so}");
        }
    }

    #[test]
    fn without_the_services_view_nothing_is_said() {
        assert!(matches!(verdict("a:0-10"), Verdict::Undecided(_)));
    }
}
