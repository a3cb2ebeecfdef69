//! Mutual exclusion, as the contenders see it.

mod permits;
mod without_loss;

use crate::witness::{WitnessBuilder, lasting};
use crate::{Belief, Evidence, Invariant, Truth, Verdict, Vocabulary};

use super::interval_sweep::Latest;

/// The registry row.
pub const INVARIANT: Invariant = Invariant {
    name: "mutual-exclusion",
    truth: Truth::Belief,
    meaning: "No two contenders believe that they hold the lock at the same time, unless both share it; \
              nor more than there are permits.",
    check,
    inexcusable: Some(inexcusable),
};

/// Beliefs come in the order in which they begin. So long as none that exclude each other overlap, the only ones that
/// the next can overlap are those that last longest so far, of either mode.
fn check(evidence: &Evidence<'_>) -> Verdict {
    if evidence.beliefs.is_empty() {
        return Verdict::Undecided("no contender ever got the lock".to_owned());
    }
    if evidence.permits() > 1 {
        let excess = permits::first_excess(evidence);
        return excess.map_or(Verdict::Holds, |(earlier, later)| {
            violated(evidence, &earlier, later)
        });
    }
    let mut longest = Latest::of(evidence);
    for later in &evidence.beliefs {
        let until = evidence.at_or_never(later.left);
        if let Some(earlier) = longest.over(later.lock, later.mode, evidence.at(later.acquired)) {
            return violated(evidence, &[earlier], later);
        }
        longest.extend((later.lock, later.mode), until, later);
    }
    Verdict::Holds
}

/// What a fault may excuse is that a holder does not learn of its loss in time. So nothing excuses an overlap of
/// contenders that had not lost the lock. Of every other, nothing excuses what comes after one of the two could know of
/// the loss, and has had the time to act on it.
fn inexcusable(evidence: &Evidence<'_>) -> Verdict {
    if evidence.beliefs.is_empty() {
        return Verdict::Undecided("no contender ever got the lock".to_owned());
    }
    if let Some((earlier, later)) = without_loss::first_overlap(evidence) {
        return violated(evidence, &earlier, later);
    }
    for (index, knowing) in evidence.beliefs.iter().enumerate() {
        let Some(from) = evidence.inexcusable_from(knowing) else {
            continue;
        };
        let from = from.max(evidence.at(knowing.acquired));
        let until = evidence.at_or_end(knowing.left);
        let meets = |(other, belief): &(usize, &Belief)| {
            let both_from = evidence.at(belief.acquired).max(from);
            let both_until = evidence.at_or_never(belief.left).min(until);
            *other != index
                && belief.lock == knowing.lock
                && (evidence.permits() > 1 || belief.mode.excludes(knowing.mode))
                && both_from < both_until
        };
        let mut met = evidence.beliefs.iter().enumerate().filter(meets);
        let inside: Vec<usize> = match evidence.permits() {
            1 => met.next().map(|(other, _)| other).into_iter().collect(),
            permits => {
                let met: Vec<_> = met.collect();
                let own = evidence.permits_of([knowing.by]);
                permits::all_inside_at_once(evidence, &met, from, permits.saturating_sub(own))
            }
        };
        if inside.is_empty() {
            continue;
        }
        let mut inside: Vec<usize> = inside.into_iter().chain([index]).collect();
        inside.sort_unstable();
        let inside: Vec<&Belief> = inside.iter().map(|&at| &evidence.beliefs[at]).collect();
        if let Some((later, earlier)) = inside.split_last() {
            return violated(evidence, earlier, later);
        }
    }
    Verdict::Holds
}

/// All of these are inside when the last of them comes.
fn violated(evidence: &Evidence<'_>, earlier: &[&Belief], later: &Belief) -> Verdict {
    let all = || earlier.iter().copied().chain([later]);
    let (_, overlap) = evidence.overlap(later.acquired, all().map(|belief| belief.left));
    let mut case = WitnessBuilder::new(evidence);
    let long = lasting(overlap);
    let summary = match (earlier, evidence.permits()) {
        ([earlier], 1) if earlier.by == later.by => {
            format!("{} is inside twice for {long}", case.name(later.by))
        }
        ([earlier], 1) => {
            let (first, second) = (case.name(earlier.by), case.name(later.by));
            match evidence.words() {
                Vocabulary::Election => format!("{first} and {second} both lead for {long}"),
                _ => format!("{first} and {second} both inside for {long}"),
            }
        }
        (_, permits) => {
            let names = case.names(all().map(|belief| belief.by));
            let taken = evidence.permits_of(all().map(|belief| belief.by));
            let of = match taken == all().count() {
                true => format!("{permits} permits"),
                false => format!("{taken} of {permits} permits"),
            };
            let inside = if earlier.len() == 1 { "both" } else { "all" };
            format!("{names} {inside} inside for {long}, with {of}")
        }
    };
    for belief in earlier {
        let until = case.why_until(belief);
        case.show_belief(belief).then(until);
    }
    let from = case.why_from(later);
    case.show_belief(later);
    for belief in all() {
        if let Some((since, known)) = evidence.inexcusable_from(belief).zip(belief.known) {
            case.show([known.index]);
            let (who, how) = (case.name(belief.by), known.how.clause());
            let overlaps = evidence.at_or_end(belief.left) > since;
            if overlaps {
                case.then(format!("{who} could know since {}: {how}.", known.since));
            }
        }
    }
    case.however(from)
        .broken(summary, later.acquired, Some(overlap))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Step, Witness, notation};

    fn verdict(text: &str) -> Verdict {
        INVARIANT.verdict(&notation::run(text))
    }

    fn witness(text: &str) -> Witness {
        verdict(text).witness().expect("a violation").clone()
    }

    fn argument(text: &str) -> Vec<String> {
        let steps = witness(text).argument.into_iter();
        steps
            .map(|step| match step {
                Step::Then(text) | Step::However(text) => text,
            })
            .collect()
    }

    #[test]
    fn turns_are_fine_even_when_they_touch() {
        assert_eq!(verdict("a:0-10 b:10-20 a:20-30"), Verdict::Holds);
    }

    #[test]
    fn an_overlap_is_a_violation_and_the_witness_is_just_the_two() {
        let witness = witness("a:0-10 b:12-20 c:14-16");
        assert_eq!(witness.summary, "b and c both inside for 2.000 s");
        assert_eq!(witness.at.micros(), 14_000_000);
        assert_eq!(witness.overlap.unwrap().as_secs(), 2);
        assert_eq!(witness.events, [2, 3, 4, 5]);
    }

    #[test]
    fn readers_may_be_inside_together_and_a_writer_with_none_of_them() {
        let readers = "a:0-9/shared b:1-12/shared";
        assert_eq!(verdict(readers), Verdict::Holds);
        assert_eq!(
            verdict(&format!("{readers} c:12-13 d:13-14/shared")),
            Verdict::Holds
        );
        let summary = witness(&format!("{readers} c:10-13")).summary;
        assert_eq!(summary, "b and c both inside for 2.000 s");
        let summary = witness("c:0-3 a:2-9/shared b:2.5-9/shared").summary;
        assert_eq!(summary, "c and a both inside for 1.000 s");
    }

    #[test]
    fn an_overlap_of_one_microsecond_is_one() {
        let summary = witness("a:0-1.000001 b:1-2").summary;
        assert_eq!(summary, "a and b both inside for 1 us");
        assert_eq!(verdict("a:0-1.000001 b:1.000001-2"), Verdict::Holds);
    }

    fn inexcusable_verdict(text: &str) -> Verdict {
        inexcusable(&Evidence::of(&notation::run(text)))
    }

    #[test]
    fn an_overlap_before_the_holder_could_know_can_be_excused() {
        let text = "a=0-5/how=expired a:0-8.4 b=5-9 b:6-9 a.could-know:8";
        assert_eq!(inexcusable_verdict(text), Verdict::Holds);
        assert!(verdict(text).witness().is_some());
    }

    #[test]
    fn an_overlap_after_the_holder_could_know_cannot() {
        let text = "a=0-5/how=expired a:0-9 b=5-9 b:6-9 a.could-know:8/how=over";
        let verdict = inexcusable_verdict(text);
        let witness = verdict.witness().expect("a violation");
        assert_eq!(witness.summary, "a and b both inside for 3.000 s");
        assert!(witness.argument.contains(&Step::Then(
            "a could know since 8.000 s: by its own clock its hold was no longer valid.".to_owned()
        )));
    }

    #[test]
    fn a_part_that_is_over_before_the_holder_could_know_stays_excused() {
        let text = "a=0-5/how=expired a:0-20 b=5-7 b:6-7 a.could-know:8";
        assert_eq!(inexcusable_verdict(text), Verdict::Holds);
        let text = "a=0-5/how=expired a:0-20 b=5-7 b:6-7 c=9-12 c:9-12 a.could-know:8";
        assert!(inexcusable_verdict(text).witness().is_some());
    }

    #[test]
    fn who_is_late_to_be_let_in_is_judged_as_well() {
        let text = "a.acquire:0 a=1-5/how=expired b=5-20 b:5-20 a:6-9 a.could-know:6/how=told";
        assert!(inexcusable_verdict(text).witness().is_some());
    }

    #[test]
    fn a_short_overlap_is_not_told_as_none() {
        let summary = witness("a:0-1.000870 b:1-2").summary;
        assert_eq!(summary, "a and b both inside for 870 us");
    }

    #[test]
    fn the_first_overlap_is_shown_and_not_the_longest() {
        let summary = witness("a:0-10 b:9-11 c:12- d:13-").summary;
        assert_eq!(summary, "a and b both inside for 1.000 s");
    }

    #[test]
    fn locks_of_different_names_are_different_locks() {
        assert_eq!(verdict("a:0-10/on=x b:5-15/on=y"), Verdict::Holds);
    }

    #[test]
    fn a_belief_without_an_end_lasts() {
        let summary = witness("a:0- b:5-6 end:9").summary;
        assert_eq!(summary, "a and b both inside for 1.000 s");
        let summary = witness("a:0- b:5- end:9").summary;
        assert_eq!(summary, "a and b both inside for 4.000 s");
    }

    #[test]
    fn a_crash_and_a_loss_end_a_belief() {
        assert_eq!(verdict("a:0- a.crashed:5 b:5-9"), Verdict::Holds);
        assert_eq!(verdict("a:0- a.lost:5 b:5-9"), Verdict::Holds);
    }

    #[test]
    fn a_contender_cannot_be_inside_twice() {
        let summary = witness("a:0- a:3- a.leaves:5").summary;
        assert_eq!(summary, "a is inside twice for 2.000 s");
    }

    #[test]
    fn the_argument_says_which_contender_made_way() {
        let steps = argument("a=0- a:0-10 b.queued:1 b.unqueued:2 c=2- c:2-12");
        assert_eq!(
            steps,
            [
                "a is inside until 10.000 s, because nothing ended its hold before it left.",
                "c is inside from 2.000 s, because the service made it the owner when node-b of b \
                 went away."
            ]
        );
    }

    #[test]
    fn a_session_that_expired_before_the_servers_had_committed_it_is_no_lease() {
        let text =
            "a.queued:0 a=0-14.001/how=expired a:0-20 a.session-expired:14 b=14.001- b:15- end:30";
        assert_eq!(
            argument(text),
            [
                "a is inside until 20.000 s, because it was never told that its session had \
                 expired at 14.000 s.",
                "b is inside from 15.000 s, because the service made it the owner at 14.001 s when \
                 the session of a expired."
            ]
        );
        // A session that was over before the place was made has nothing to do with it.
        let text = "a.session-expired:0 a.queued:1 a=2-14/how=expired a:2-20 b=14- b:15- end:30";
        assert!(argument(text)[0].ends_with("told that its lease had run out at 14.000 s."));
    }

    #[test]
    fn an_answer_that_was_not_looked_at_is_no_silence() {
        let text = "a=0-5/how=expired a:0-20 b=5- b:6- a.could-know:8/how=refused end:30";
        assert_eq!(
            argument(text)[0],
            "a is inside until 20.000 s: its lease had run out at 5.000 s, and although the \
             service had answered at 8.000 s that the key was not its own, it did not look at that."
        );
        let told = "a=0-5/how=expired a:0- a.lost:8.1 b=5- b:6- a.could-know:8/how=refused end:30";
        assert!(argument(told)[0].contains("because only then was it told"));
        let clock = "a=0-5/how=expired a:0-20 b=5- b:6- a.could-know:8/how=over end:30";
        assert!(argument(clock)[0].contains("because it was never told"));
    }

    #[test]
    fn what_kept_it_from_knowing_last_is_named() {
        let text = "a=0-10/how=expired a:0- a.paused:1 a.resumed:20 a.disconnected:21 \
                    a.reconnected:59.9 a.lost:60 b=10- b:11- end:90";
        assert_eq!(
            argument(text)[0],
            "a is inside until 60.000 s, because it was disconnected from 21.000 s to 59.900 s, \
             and only then was it told that its lease had run out at 10.000 s."
        );
        let text = "a=0-10/how=expired a:0-60 a.paused:1 a.resumed:20 b=10- b:11- end:90";
        assert_eq!(
            argument(text)[0],
            "a is inside until 60.000 s, because it was paused from 1.000 s to 20.000 s, and it \
             was never told that its lease had run out at 10.000 s."
        );
        let text = "a=0-10/how=expired a:0-60 a.paused:12 a.resumed:20 b=10- b:11- end:90";
        assert!(argument(text)[0].contains("because it was never told"));
        // That the connection broke is what told it.
        let text = "a=0-10/how=expired a:0- a.disconnected:60 a.lost:60 b=10- b:11- end:90";
        assert!(argument(text)[0].contains("because only then was it told"));
    }

    #[test]
    fn the_argument_tells_of_the_pause_and_of_the_session_behind_it() {
        let text = "a=0-10/how=expired a:0-21 fault1.fired:1 a.paused:1 a.session-expired:10 \
                    b=10-30 b:11-30 a.resumed:20";
        assert_eq!(
            argument(text),
            [
                "a is inside until 21.000 s, because it was paused from 1.000 s to 20.000 s and \
                 did not notice that its session had expired at 10.000 s.",
                "b is inside from 11.000 s, because the service made it the owner at 10.000 s when \
                 the session of a expired."
            ]
        );
        let history = notation::history(text);
        let witness = witness(text);
        let shown: Vec<_> = witness
            .events
            .iter()
            .map(|&i| history.events[i].at)
            .collect();
        let seconds: Vec<_> = shown.iter().map(|at| at.micros() / 1_000_000).collect();
        assert_eq!(seconds, [0, 0, 1, 1, 10, 10, 10, 11, 20, 21, 30, 30]);
    }
}
