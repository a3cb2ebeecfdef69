//! Contenders that wait at a count-down latch at the end.

use crate::witness::WitnessBuilder;
use crate::{ContenderId, EventKind, Evidence, LockId, Rendezvous, Verdict};

/// Why a latch never opened: `None` if the run is not of one, or no contender waits to pass.
///
/// No latch can help that a participant is gone for good before its call to count down was answered.
pub(super) fn verdict(evidence: &Evidence<'_>, ended: usize) -> Option<Verdict> {
    let Some(Rendezvous::CountDownLatch { count }) = evidence.run.facts.rendezvous else {
        return None;
    };
    let waiting: Vec<(ContenderId, LockId, usize)> = { evidence.waiting.iter() }
        .filter_map(|&index| match evidence.event(index).what {
            EventKind::StillWaiting { by, lock, .. } => Some((by, lock, index)),
            _ => None,
        })
        .filter(|(by, ..)| by.0 >= count && evidence.run.for_good.stranded(*by).is_none())
        .collect();
    let &(first, lock, _) = waiting.first()?;
    let has = |what: EventKind| {
        let mut events = evidence.run.history.events.iter();
        events.any(|event| event.what == what)
    };
    let mut unanswered =
        { (0..count).map(ContenderId) }.filter(|by| !has(EventKind::Released { by: *by, lock }));
    let stranded = unanswered.find_map(|by| evidence.run.for_good.stranded(by));
    if let Some(stranded) = stranded {
        let why = format!("{}, and all others wait for it", stranded.why);
        return Some(Verdict::Undecided(why));
    }
    let mut participants = (0..count).map(ContenderId);
    let late = participants.find(|by| !has(EventKind::ReleaseStarted { by: *by, lock }));
    let mut case = WitnessBuilder::new(evidence);
    for by in (0..count).map(ContenderId) {
        explain(&mut case, evidence, by, lock);
    }
    case.show(waiting.iter().map(|(.., event)| *event));
    let who = case.name(first);
    let summary = match late {
        Some(late) => format!(
            "{who} never passes: {} has not counted down",
            case.name(late)
        ),
        None => format!("{who} never passes, although all have counted down"),
    };
    case.however(format!(
        "{} of {} still waited when the run ended at {}.",
        waiting.len(),
        evidence.run.history.contenders.len() - count as usize,
        evidence.at(ended)
    ));
    Some(case.broken(summary, ended, None))
}

/// When a participant counted down, and what came of that.
fn explain(case: &mut WitnessBuilder<'_>, evidence: &Evidence<'_>, who: ContenderId, at: LockId) {
    let name = case.name(who);
    for (index, event) in evidence.run.history.events.iter().enumerate() {
        let said = match event.what {
            EventKind::ReleaseStarted { by, lock } if (by, lock) == (who, at) => "counted down",
            EventKind::ReleaseFailed { by, lock, .. } if (by, lock) == (who, at) => {
                "was told that its call to count down had failed"
            }
            _ => continue,
        };
        case.show([index]);
        case.then(format!("{name} {said} at {}.", evidence.at(index)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;
    use crate::{Run, Stranded, notation};

    /// Of one participant, a.
    fn run(text: &str) -> Run {
        let mut run = notation::run(text);
        run.facts.rendezvous = Some(Rendezvous::CountDownLatch { count: 1 });
        run
    }

    fn summary(text: &str) -> String {
        let run = run(text);
        let verdict = check(&Evidence::of(&run));
        verdict.witness().expect("a violation").summary.clone()
    }

    #[test]
    fn a_waiter_that_never_passes_is_named_with_what_it_misses() {
        let all = "a.acquire:0 a:1-2 b.acquire:1/shared a.released:3 bound-reached:90 b.waiting:90";
        assert_eq!(
            summary(all),
            "b never passes, although all have counted down"
        );
        let none = "a.acquire:0 a:1- b.acquire:1/shared bound-reached:90 b.waiting:90";
        assert_eq!(summary(none), "b never passes: a has not counted down");
    }

    #[test]
    fn a_call_to_count_down_that_failed_is_told() {
        let text =
            "a.acquire:0 a:1-2 b.acquire:1/shared a.release-failed:3 bound-reached:90 b.waiting:90";
        let run = run(text);
        let verdict = check(&Evidence::of(&run));
        let witness = verdict.witness().expect("a violation");
        let told = crate::Step::Then(
            "a was told that its call to count down had failed at 3.000 s.".to_owned(),
        );
        assert!(witness.argument.contains(&told), "{:?}", witness.argument);
    }

    #[test]
    fn a_participant_that_is_gone_for_good_is_an_excuse_until_it_is_answered() {
        let dead = |text: &str| {
            let mut run = run(text);
            run.for_good.contenders = vec![Stranded {
                by: ContenderId(0),
                why: "a is dead for good".to_owned(),
                is_heard: false,
            }];
            check(&Evidence::of(&run))
        };
        let before =
            "a.acquire:0 a:1- a.crashed:2 b.acquire:1/shared bound-reached:90 b.waiting:90";
        let why = "a is dead for good, and all others wait for it";
        assert_eq!(dead(before), Verdict::Undecided(why.to_owned()));
        let asked =
            "a.acquire:0 a:1-2 a.crashed:3 b.acquire:1/shared bound-reached:90 b.waiting:90";
        assert_eq!(dead(asked), Verdict::Undecided(why.to_owned()));
        let after = "a.acquire:0 a:1-2 a.released:3 a.crashed:4 b.acquire:1/shared bound-reached:90 b.waiting:90";
        assert!(dead(after).witness().is_some());
    }
}
