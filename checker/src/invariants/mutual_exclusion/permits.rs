//! One too many: where several may hold the lock at once, each with a permit, in whichever mode.

use crate::invariants::interval_sweep::OpenStretches;
use crate::{Belief, Evidence, VirtualTime};

/// The first belief that begins when all permits are taken, and the beliefs that have them.
pub(super) fn first_excess<'e>(
    evidence: &'e Evidence<'_>,
) -> Option<(Vec<&'e Belief>, &'e Belief)> {
    let mut open = OpenStretches::default();
    for later in &evidence.beliefs {
        let inside = open.at(later.lock, evidence.at(later.acquired));
        let taken = inside.iter().copied().chain([later]);
        if evidence.permits_of(taken.map(|belief| belief.by)) > evidence.permits() {
            return Some((inside, later));
        }
        open.add(later.lock, evidence.at_or_never(later.left), later);
    }
    None
}

/// Those of these beliefs that are all inside at some moment, not before this one, at which they have more permits than
/// so many; none if there is no such moment. It is when one of them begins, if it is not the first.
pub(super) fn all_inside_at_once(
    evidence: &Evidence<'_>,
    beliefs: &[(usize, &Belief)],
    from: VirtualTime,
    most: usize,
) -> Vec<usize> {
    let begins = beliefs
        .iter()
        .map(|(_, belief)| evidence.at(belief.acquired).max(from));
    let inside_at = |at: VirtualTime| {
        let inside = beliefs.iter().filter(move |(_, belief)| {
            evidence.at(belief.acquired) <= at && at < evidence.at_or_never(belief.left)
        });
        inside.map(|(index, _)| *index).collect::<Vec<_>>()
    };
    let mut moments = begins.map(inside_at);
    moments
        .find(|inside| {
            let holders = inside.iter().map(|index| evidence.beliefs[*index].by);
            evidence.permits_of(holders) > most
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::{Evidence, Invariant, Verdict, invariants, notation};

    fn mutual_exclusion() -> &'static Invariant {
        invariants::find("mutual-exclusion").expect("it is there")
    }

    fn with_permits(permits: u32, text: &str) -> Verdict {
        let mut run = notation::run(text);
        run.facts.permits = permits;
        mutual_exclusion().verdict(&run)
    }

    #[test]
    fn as_many_may_be_inside_as_there_are_permits_and_no_more() {
        let two = "a:0-10 b:2-8 c:8-12 a:10-20";
        assert_eq!(with_permits(2, two), Verdict::Holds);
        let three = with_permits(2, "a:0-10 b:2-8 c:7-12 d:9-11");
        let witness = three.witness().expect("a violation");
        let expected = "a, b, and c all inside for 1.000 s, with 2 permits";
        assert_eq!(witness.summary, expected);
        assert_eq!(witness.at.micros(), 7_000_000);
        // All of them, and not d.
        assert_eq!(witness.events, [0, 1, 2, 3, 5, 7]);
        assert_eq!(witness.argument.len(), 3);
        assert_eq!(
            with_permits(3, "a:0-10 b:2-8 c:7-12 d:9-11"),
            Verdict::Holds
        );
        assert_eq!(
            with_permits(2, "a:0-9/on=x b:1-9/on=x c:2-9/on=y"),
            Verdict::Holds
        );
    }

    /// Of three permits, a takes two by each call, and all others one.
    fn with_two_for_a(text: &str) -> crate::Run {
        let mut run = notation::run(text);
        (run.facts.permits, run.facts.permits_per_acquire) = (3, vec![2]);
        run
    }

    #[test]
    fn what_one_call_takes_counts_as_often() {
        let full = "a:0-10 b:2-8 b:8-12 c:10-14 d:11-13";
        let verdict = |text: &str| mutual_exclusion().verdict(&with_two_for_a(text));
        assert_eq!(verdict(full), Verdict::Holds);
        // Neither one beside them, nor the two beside two others.
        let late = verdict("a:0-10 b:2-8 c:7-12");
        let witness = late.witness().expect("a violation");
        let expected = "a, b, and c all inside for 1.000 s, with 4 of 3 permits";
        assert_eq!(witness.summary, expected);
        let two = verdict("a:0-1 b:2-8 c:3-9 a:7-12");
        assert_eq!(two.witness().expect("a violation").at.micros(), 7_000_000);
    }

    #[test]
    fn the_loss_of_one_permit_of_a_call_is_a_loss_of_its_hold() {
        let inexcusable = { mutual_exclusion().inexcusable }.expect("there is such a part");
        let both =
            "a.acquire:0 a=0-5/how=outside/name=p a=0-9/name=q a:0-9 b=1-9 b:2-9 c=5-9 c:6-9";
        let run = with_two_for_a(both);
        assert!(mutual_exclusion().verdict(&run).witness().is_some());
        assert_eq!(inexcusable(&Evidence::of(&run)), Verdict::Holds);
        let run = with_two_for_a(&both.replace("a=0-5/how=outside", "a=0-9"));
        assert!(inexcusable(&Evidence::of(&run)).witness().is_some());
    }

    #[test]
    fn one_too_many_is_inexcusable_when_one_of_them_could_know() {
        let inexcusable = mutual_exclusion()
            .inexcusable
            .expect("there is such a part");
        let inexcusable_with_two = |text: &str| {
            let mut run = notation::run(text);
            run.facts.permits = 2;
            inexcusable(&Evidence::of(&run))
        };
        let lost = "a=0-5/how=expired a:0-20 b=0-20 b:0-20";
        let early = format!("{lost} c=5-7 c:6-7 a.could-know:8");
        assert_eq!(inexcusable_with_two(&early), Verdict::Holds);
        assert!(with_permits(2, &early).witness().is_some());
        let late = format!("{lost} c=5-12 c:6-12 a.could-know:8");
        let verdict = inexcusable_with_two(&late);
        let summary = &verdict.witness().expect("a violation").summary;
        assert_eq!(
            summary,
            "a, b, and c all inside for 6.000 s, with 2 permits"
        );
        // One after the other is not at once.
        let turns = "a=0-5/how=expired a:0-20 b=0-9 b:0-9 c=9-12 c:9-12 a.could-know:8";
        assert_eq!(inexcusable_with_two(turns), Verdict::Holds);
    }
}
