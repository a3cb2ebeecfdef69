//! Vacuous runs: what a scenario wanted to test never happened.

use crate::{Ended, EventKind, Evidence, FaultId, Rendezvous, Run};

/// Why the run says nothing, if so. Whatever the checks found then, it is not "holds".
pub fn vacuous(run: &Run) -> Option<String> {
    vacuous_evidence(&Evidence::of(run))
}

/// As [`vacuous`], for a run that has been read already.
pub fn vacuous_evidence(evidence: &Evidence<'_>) -> Option<String> {
    cut_short(evidence)
        .or_else(|| never_fired(evidence))
        .or_else(|| untried(evidence))
}

/// As [`vacuous_evidence`], but for faults that never fired.
pub fn idle(evidence: &Evidence<'_>) -> Option<String> {
    cut_short(evidence).or_else(|| untried(evidence))
}

/// The first fault of the plan that never fired.
pub fn never_fired(evidence: &Evidence<'_>) -> Option<String> {
    let fault = first_unfired(evidence)?;
    let (number, fault) = (fault.0 + 1, evidence.run.history.fault(fault));
    Some(format!("fault {number} never fired: {fault}"))
}

/// Which fault that is.
pub fn first_unfired(evidence: &Evidence<'_>) -> Option<FaultId> {
    let mut faults = (0..evidence.run.facts.faults_planned).map(FaultId);
    faults.find(|&fault| {
        let fires = |&index: &usize| evidence.event(index).what == EventKind::FaultFired { fault };
        !evidence.faults.iter().any(fires)
    })
}

/// Why the run ended before it could tell.
pub fn cut_short(evidence: &Evidence<'_>) -> Option<String> {
    if let Some((_, Ended::OutOfBudget)) = evidence.ended {
        return Some(out_of_budget(evidence.run.counts.engine_events));
    }
    if let Some((_, Ended::NotModelled)) = evidence.ended {
        let what = evidence.run.history.not_modelled.as_deref();
        let what = what.unwrap_or("what the service was asked for");
        return Some(format!("not modelled: {what}"));
    }
    if let Some((_, Ended::Broken)) = evidence.ended {
        return Some("the run broke off".to_owned());
    }
    None
}

/// Why the run puts no lock to the test: no contender got it, or none waited for it.
pub fn untried(evidence: &Evidence<'_>) -> Option<String> {
    let facts = &evidence.run.facts;
    if evidence.beliefs.is_empty() && evidence.ownerships.is_empty() {
        let what = match facts.rendezvous {
            Some(Rendezvous::DoubleBarrier { .. }) => "no contender ever entered the barrier",
            Some(Rendezvous::Barrier) => "no contender ever set the barrier, and none passed it",
            Some(Rendezvous::CountDownLatch { .. }) => "no contender ever came to the latch",
            None => "no contender ever got the lock",
        };
        return Some(what.to_owned());
    }
    if facts.must_contend && !evidence.waited {
        return Some("no contender ever waited for the lock".to_owned());
    }
    None
}

/// What to do about a run that gave up: its last event was the first beyond its budget.
fn out_of_budget(events: u64) -> String {
    let what = "the run was out of its budget before it could tell";
    match events.checked_sub(1) {
        None | Some(0) => what.to_owned(),
        Some(budget) => {
            let more = budget.saturating_mul(2);
            format!("{what}, after {budget} events of the engine: try `event-budget = {more}`")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;

    #[test]
    fn a_run_in_which_a_contender_got_the_lock_says_something() {
        assert_eq!(vacuous(&notation::run("a:0-10")), None);
    }

    #[test]
    fn a_run_in_which_no_contender_got_the_lock_says_nothing() {
        let reason = vacuous(&notation::run("a.acquire:0 a.failed:1"));
        assert_eq!(reason.as_deref(), Some("no contender ever got the lock"));
    }

    #[test]
    fn a_fault_that_never_fired_is_named_even_if_another_fired_twice() {
        let mut run = notation::run("a:0-10 fault1.fired:1 fault1.fired:2");
        run.facts.faults_planned = 2;
        run.history.faults = vec!["cut".to_owned(), "pause contender-1 for 20s".to_owned()];
        let reason = vacuous(&run);
        assert_eq!(
            reason.as_deref(),
            Some("fault 2 never fired: pause contender-1 for 20s")
        );
    }

    #[test]
    fn a_queue_of_one_is_no_queue() {
        let contend = |text| {
            let mut run = notation::run(text);
            run.facts.must_contend = true;
            vacuous(&run)
        };
        let unwaited = Some("no contender ever waited for the lock".to_owned());
        assert_eq!(contend("a.acquire:0 a:1-5 b.acquire:5 b:6-7"), unwaited);
        assert_eq!(contend("a.acquire:0 a:1-5 b.acquire:4 b:6-7"), None);
        assert_eq!(contend("a.acquire:0 b.acquire:0 a:1-5 b:6-7"), None);
        assert_eq!(contend("a=0-5 b.acquire:4 b:6-7"), None);
        assert_eq!(contend("a:0-5/on=x b.acquire:4/on=y b:6-7/on=y"), unwaited);
    }

    #[test]
    fn a_run_out_of_its_budget_says_nothing() {
        let mut run = notation::run("a:0-10 b.acquire:5 not-modelled:11");
        run.history.not_modelled = Some("LMPOP".to_owned());
        assert_eq!(vacuous(&run), Some("not modelled: LMPOP".to_owned()));
        let reason = vacuous(&notation::run("a:0-10 out-of-budget:11"));
        assert!(reason.unwrap().contains("budget"));
    }

    #[test]
    fn a_run_out_of_its_budget_names_the_key_that_raises_it_and_a_value() {
        let mut run = notation::run("a:0-10 out-of-budget:11");
        run.counts.engine_events = 61;
        let reason = vacuous(&run).unwrap();
        assert!(reason.contains("after 60 events"), "{reason}");
        assert!(reason.contains("`event-budget = 120`"), "{reason}");
    }
}
