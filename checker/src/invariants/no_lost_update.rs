//! Read, change, write, as the resource sees it: no section undoes another's work.

use crate::witness::WitnessBuilder;
use crate::{Arrival, EventKind, Evidence, Invariant, Truth, Verdict};

/// The registry row.
pub const INVARIANT: Invariant = Invariant {
    name: "no-lost-update",
    truth: Truth::Effect,
    meaning: "What the resource holds is what the writes that it took make of it in turn.",
    check,
    inexcusable: None,
};

/// What an accepted write did.
#[derive(Clone, Copy)]
struct Change {
    before: i64,
    after: i64,
    based_on: Option<i64>,
}

fn check(evidence: &Evidence<'_>) -> Verdict {
    let facts = &evidence.run.facts;
    let accepted = || evidence.arrivals.iter().filter(|write| write.accepted);
    for (index, write) in accepted().enumerate() {
        let change = change(evidence, write);
        if facts.floor.is_some_and(|floor| change.after < floor) {
            return oversold(evidence, write, change);
        }
        let Some(step) = facts.step else {
            continue;
        };
        let fresh = match change.based_on {
            Some(value) => value == change.before,
            // The resource itself counted on: nothing was read that could have become stale.
            None => change.after == change.before.wrapping_add(step),
        };
        if !fresh {
            return lost(evidence, index, write, change);
        }
    }
    if let Some(step) = facts.step
        && let Some(verdict) = does_not_add_up(evidence, step)
    {
        return verdict;
    }
    if accepted().next().is_none() {
        return Verdict::Undecided("nothing was written".to_owned());
    }
    Verdict::Holds
}

fn change(evidence: &Evidence<'_>, write: &Arrival) -> Change {
    match evidence.event(write.event).what {
        EventKind::Effect {
            before,
            after,
            based_on,
            ..
        } => Change {
            before,
            after,
            based_on,
        },
        other => unreachable!("an arrival is an effect, not {other:?}"),
    }
}

fn oversold(evidence: &Evidence<'_>, write: &Arrival, change: Change) -> Verdict {
    let Change { before, after, .. } = change;
    let at = evidence.at(write.event);
    let mut case = WitnessBuilder::new(evidence);
    let who = case.name(write.by);
    let floor = evidence.run.facts.floor.unwrap_or_default();
    let summary = format!("oversold: {who} took the resource from {before} to {after}");
    case.show(write.sent)
        .then(format!("nothing may take the resource below {floor}."))
        .however(format!(
            "the resource held {before}, and took a write of {after} from {who} at {at}."
        ));
    show_hold(&mut case, evidence, write);
    case.broken(summary, write.event, None)
}

fn lost(evidence: &Evidence<'_>, index: usize, write: &Arrival, change: Change) -> Verdict {
    let Change { before, after, .. } = change;
    let at = evidence.at(write.event);
    let mut case = WitnessBuilder::new(evidence);
    let who = case.name(write.by);
    case.show(write.sent);
    show_hold(&mut case, evidence, write);
    // The write that made the value that was overwritten, if one did.
    let accepted = || evidence.arrivals.iter().filter(|write| write.accepted);
    let earlier = accepted().take(index);
    let victim = earlier
        .filter(|victim| victim.lock == write.lock)
        .last()
        .filter(|victim| self::change(evidence, victim).after == before);
    let whose = match victim {
        Some(victim) => format!("the update of {}", case.name(victim.by)),
        None => "what the resource held".to_owned(),
    };
    if let Some(victim) = victim {
        show_hold(&mut case, evidence, victim);
        let (by, at) = (case.name(victim.by), evidence.at(victim.event));
        case.show(victim.sent).show([victim.event]);
        case.then(format!("{by} made it {before} at {at}."));
    }
    case.however(match change.based_on {
        Some(read) => format!("{who} had read {read} and made it {after} at {at}, from that."),
        None => format!("{who} made it {after} at {at} without having read it."),
    })
    .broken(format!("{who} overwrote {whose}"), write.event, None)
}

fn show_hold(case: &mut WitnessBuilder<'_>, evidence: &Evidence<'_>, write: &Arrival) {
    if let Some(belief) = write.belief {
        case.show_belief(&evidence.beliefs[belief]);
    }
}

/// The value at the end must be the first one and a step for each write that was accepted.
fn does_not_add_up(evidence: &Evidence<'_>, step: i64) -> Option<Verdict> {
    let initial = evidence.run.facts.initial_value;
    for &index in &evidence.finals {
        let EventKind::Final { lock: of, value } = evidence.event(index).what else {
            continue;
        };
        let accepted = |write: &&Arrival| write.accepted && write.lock == of;
        let writes = evidence.arrivals.iter().filter(accepted).count();
        let due = initial.wrapping_add(step.wrapping_mul(writes as i64));
        if value != due {
            let summary = format!("the resource holds {value} at the end instead of {due}");
            let last = evidence.arrivals.iter().rfind(accepted);
            let mut case = WitnessBuilder::new(evidence);
            case.show(last.map(|write| write.event))
                .then(format!(
                    "{writes} writes were taken; with {step} each, from {initial}, they make {due}."
                ))
                .however(format!("the resource holds {value} at the end."));
            return Some(case.broken(summary, index, None));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;

    fn counting(step: i64, text: &str) -> Verdict {
        let mut run = notation::run(text);
        run.facts.step = Some(step);
        INVARIANT.verdict(&run)
    }

    fn summary(verdict: &Verdict) -> &str {
        &verdict.witness().expect("a violation").summary
    }

    #[test]
    fn each_counts_on_from_what_the_last_one_left() {
        let text = "a:0-10 a*5/value=0>1 b:10-20 b*11/value=1>2 end:20 final:20/value=2";
        assert_eq!(counting(1, text), Verdict::Holds);
    }

    #[test]
    fn a_write_from_an_old_value_loses_the_other_update() {
        let text = "a:0-10 b:3-10 a*5/value=0>1 b*6/value=1>1/based=0";
        let verdict = counting(1, text);
        assert_eq!(summary(&verdict), "b overwrote the update of a");
    }

    #[test]
    fn an_increment_in_the_resource_itself_loses_nothing() {
        assert_eq!(counting(1, "a:0-9 a*5/value=4>5/blind"), Verdict::Holds);
        let verdict = counting(1, "a:0-9 a*5/value=4>7/blind");
        assert_eq!(summary(&verdict), "a overwrote what the resource held");
    }

    #[test]
    fn a_rejected_write_loses_nothing() {
        let text = "a*5/value=0>1 b*6/value=1>1/based=0/rejected end:7 final:7/value=1";
        assert_eq!(counting(1, text), Verdict::Holds);
    }

    #[test]
    fn the_resource_must_not_forget() {
        let text = "a*5/value=0>1 b*6/value=0>1 end:7 final:7/value=1";
        let verdict = counting(1, text);
        let expected = "the resource holds 1 at the end instead of 2";
        assert_eq!(summary(&verdict), expected);
    }

    #[test]
    fn the_last_piece_can_be_sold_once() {
        let sell = |text| {
            let mut run = notation::run(text);
            run.facts.floor = Some(0);
            INVARIANT.verdict(&run)
        };
        assert_eq!(sell("a*5/value=1>0"), Verdict::Holds);
        let verdict = sell("a*5/value=1>0 b*6/value=0>-1");
        assert_eq!(
            summary(&verdict),
            "oversold: b took the resource from 0 to -1"
        );
    }

    #[test]
    fn sections_that_only_write_lose_nothing() {
        let verdict = INVARIANT.verdict(&notation::run("a*5/value=7>3/based=4"));
        assert_eq!(verdict, Verdict::Holds);
    }

    #[test]
    fn without_a_write_nothing_is_said() {
        let nothing = Verdict::Undecided("nothing was written".to_owned());
        assert_eq!(counting(1, "a:0-10"), nothing);
    }
}
