//! Fencing tokens increase from one holder to the next.

use crate::witness::WitnessBuilder;
use crate::{Belief, Evidence, Invariant, LockId, Token, Truth, Verdict};

/// The registry row.
pub const INVARIANT: Invariant = Invariant {
    name: "fencing-monotonic",
    truth: Truth::Ownership,
    meaning: "Each holder gets a higher token than all holders before it.",
    check,
    inexcusable: None,
};

/// Answers may come in another order than their grants, so tokens are compared in the order of the grants.
fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut grants: Vec<(LockId, usize, Token, &Belief)> = Vec::new();
    for belief in &evidence.beliefs {
        if let Some(token) = belief.token {
            grants.push((belief.lock, evidence.age(belief), token, belief));
        }
    }
    if grants.is_empty() {
        return Verdict::Undecided("no tokens were handed out".to_owned());
    }
    // A stable sort: two holds on one grant stay in the order in which they began.
    grants.sort_by_key(|&(lock, age, ..)| (lock, age));
    let mut compared = false;
    for pair in grants.windows(2) {
        let [
            (lock, age, token, belief),
            (next_lock, next_age, next, later),
        ] = pair
        else {
            unreachable!("windows(2) yields pairs")
        };
        if lock != next_lock {
            continue;
        }
        compared = true;
        let rises = if age == next_age {
            token <= next
        } else {
            token < next
        };
        if !rises {
            return violated(evidence, [(belief, *token), (later, *next)]);
        }
    }
    if !compared {
        return Verdict::Undecided("no lock was granted twice with a token".to_owned());
    }
    Verdict::Holds
}

fn violated(evidence: &Evidence<'_>, holds: [(&Belief, Token); 2]) -> Verdict {
    let [(earlier, token), (later, next)] = holds;
    let mut case = WitnessBuilder::new(evidence);
    let (first, second) = (case.name(earlier.by), case.name(later.by));
    let (token, next) = (token.0, next.0);
    let summary = format!("{second} got token {next} after {first} had got token {token}");
    let got = |belief| evidence.at(evidence.age(belief));
    let (before, after) = (got(earlier), got(later));
    case.show_belief(earlier)
        .show_belief(later)
        .then(format!(
            "{first} got the lock at {before}, with token {token}."
        ))
        .however(format!(
            "{second} got it after that, at {after}, with token {next}, which is not higher."
        ))
        .broken(summary, later.acquired.max(earlier.acquired), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;

    fn verdict(text: &str) -> Verdict {
        INVARIANT.verdict(&notation::run(text))
    }

    #[test]
    fn tokens_may_leave_gaps() {
        assert_eq!(verdict("a:0-1/token=3 b:1-2/token=9"), Verdict::Holds);
    }

    #[test]
    fn the_same_token_twice_is_a_violation() {
        let verdict = verdict("a:0-1/token=3 b:1-2/token=3");
        let witness = verdict.witness().unwrap();
        assert_eq!(witness.summary, "b got token 3 after a had got token 3");
        assert_eq!(witness.at.micros(), 1_000_000);
    }

    #[test]
    fn a_token_that_falls_after_a_failover_is_a_violation() {
        let text = "a:0-1/token=8 b:1-2/token=9 c:2-3/token=1";
        assert!(verdict(text).witness().is_some());
    }

    #[test]
    fn a_late_answer_brings_its_old_token_and_that_is_right() {
        let text = "a.acquire:0 a=1-10/how=expired b=10-30 b:10-30/token=2 a:12-14/token=1";
        assert_eq!(verdict(text), Verdict::Holds);
        let text = "a.acquire:0 a=1-10/how=expired b=10-30 b:10-30/token=2 a:12-14/token=3";
        assert!(verdict(text).witness().is_some());
    }

    #[test]
    fn each_lock_counts_for_itself() {
        let text = "a:0-9/on=x/token=5 b:1-9/on=y/token=1 a:9-10/on=x/token=6";
        assert_eq!(verdict(text), Verdict::Holds);
    }

    #[test]
    fn one_token_is_not_enough_to_tell() {
        assert!(matches!(verdict("a:0-1/token=3"), Verdict::Undecided(_)));
        let none = Verdict::Undecided("no tokens were handed out".to_owned());
        assert_eq!(verdict("a:0-1 b:1-2"), none);
    }
}
