//! The bound is reached, and no event says what a contender waits for: calls of those that still want the lock must do.

use super::has_left;
use crate::witness::WitnessBuilder;
use crate::{ContenderId, EventKind, Evidence, Verdict};

/// A contender whose calls failed up to the end.
struct Failing {
    by: ContenderId,
    /// How many calls in the calm have failed since it last got the lock.
    times: usize,
    last: usize,
}

/// What is violated: the first open call never ended, or calls failed again and again.
pub(super) fn verdict(evidence: &Evidence<'_>, ended: usize) -> Verdict {
    let mut case = WitnessBuilder::new(evidence);
    let at = evidence.at(ended);
    let failing = failing(evidence);
    let worst = failing.iter().rev().max_by_key(|failing| failing.times);
    let summary = match (worst, evidence.pending.first()) {
        (Some(worst), _) => {
            for each in &failing {
                case.show([each.last]);
                let (who, last) = (case.name(each.by), evidence.at(each.last));
                let times = times(each.times);
                case.then(format!(
                    "{who} called for the lock in the calm and failed {times}, last at {last}."
                ));
            }
            let (who, times) = (case.name(worst.by), times(worst.times));
            format!("{who} never got the lock: its calls failed {times} in the calm")
        }
        (None, Some(&(by, _, asked))) => {
            case.show([asked]);
            format!("{} {}", case.name(by), evidence.words().never_got_it())
        }
        (None, None) => "the run did not come to its end within the bound".to_owned(),
    };
    case.however(format!(
        "{summary}: the bound on progress was reached at {at}."
    ));
    case.broken(summary, ended, None)
}

fn times(times: usize) -> String {
    match times {
        1 => "once".to_owned(),
        times => format!("{times} times"),
    }
}

/// The contenders that have not left, and whose last calls in the calm have all failed.
fn failing(evidence: &Evidence<'_>) -> Vec<Failing> {
    let history = &evidence.run.history;
    let calm = { history.events.iter() }.position(|event| event.what == EventKind::CalmBegan);
    let Some(calm) = calm else {
        return Vec::new();
    };
    let all = (0..history.contenders.len() as u32).map(ContenderId);
    let owing = all.filter(|by| !has_left(evidence, *by));
    let owing = owing.filter(|by| evidence.run.for_good.stranded(*by).is_none());
    let failing = owing.filter_map(|by| {
        let mut found: Option<Failing> = None;
        for (index, event) in history.events.iter().enumerate().skip(calm) {
            if let EventKind::AcquireFailed { by: who, .. } = event.what
                && who == by
            {
                let times = found.map_or(0, |failing| failing.times) + 1;
                let last = index;
                found = Some(Failing { by, times, last });
            } else if let EventKind::Acquired { by: who, .. } = event.what
                && who == by
            {
                found = None;
            }
        }
        found
    });
    failing.collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{summary, verdict};

    #[test]
    fn calls_that_fail_again_and_again_are_counted_and_the_last_shown() {
        let text = "calm:0 a.acquire:1 a.failed:2 b.acquire:2 b.indefinite:3 a.acquire:3 \
                    a.failed:4 b.acquire:5 bound-reached:6";
        let expected = "a never got the lock: its calls failed 2 times in the calm";
        assert_eq!(summary(text), expected);
        let told = verdict(text);
        let witness = told.witness().expect("a violation");
        assert!(witness.events.len() > 2, "{witness:?}");
        assert!(
            witness
                .kind()
                .contains("b called for the lock in the calm and failed once")
        );
    }

    #[test]
    fn failures_before_a_hold_or_in_the_storm_say_nothing() {
        let text = "a.acquire:0 a.failed:1 calm:2 a.acquire:3 a.failed:4 a.acquire:5 a:6-7 \
                    bound-reached:9";
        assert_eq!(
            summary(text),
            "the run did not come to its end within the bound"
        );
    }
}
