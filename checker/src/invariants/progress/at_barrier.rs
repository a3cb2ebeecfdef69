//! Parties of a barrier that wait for each other at the end.

use super::super::barrier::{Out, Parties};
use crate::witness::WitnessBuilder;
use crate::{ContenderId, Evidence, LockId, Verdict};

/// Why a barrier made no progress: `None` if the run is not of one, or no party waits.
///
/// No barrier can help that a party is missed that is gone for good, or has given up; or that a party came back after
/// its session had ended, when others had gone through without it.
pub(super) fn verdict(evidence: &Evidence<'_>, ended: usize) -> Option<Verdict> {
    let count = evidence.run.facts.rendezvous?.parties()?;
    let parties = Parties::at_end(count, &evidence.run.history);
    let (entering, leaving) = (parties.entering(), parties.leaving());
    let waiting = [entering.as_slice(), leaving.as_slice()].concat();
    let &(first, lock) = waiting.first()?;
    let leaves_only = entering.is_empty();
    if let Some(why) = excuse(evidence, &parties, count, &waiting, leaves_only) {
        return Some(Verdict::Undecided(why));
    }
    let mut case = WitnessBuilder::new(evidence);
    for &(by, lock) in &entering {
        if let Some(came) = parties.came(by, lock) {
            let (who, at) = (case.name(by), evidence.at(came));
            case.show([came]);
            case.then(format!("{who} came at {at}, and has not entered."));
        }
    }
    for &(by, lock) in &leaving {
        if let Some(done) = parties.done(by, lock) {
            let (who, at) = (case.name(by), evidence.at(done));
            case.show([done]);
            case.then(format!("{who} was done at {at}, and has not left."));
        }
    }
    let who = case.name(first);
    let summary = match entering.is_empty() {
        false => match parties.missing(lock) {
            Some(missing) => {
                let does = match leaving.contains(&(missing, lock)) {
                    true => "is leaving",
                    false => "does not come",
                };
                let missing = case.name(missing);
                format!("{who} never enters: {missing} {does}")
            }
            None => format!("{who} never enters, although all have come"),
        },
        true => match parties.inside(lock) {
            Some(inside) => {
                let inside = case.name(inside);
                format!("{who} never leaves: {inside} is not done")
            }
            None if evidence.run.for_good.contenders.is_empty() => {
                format!("{who} never leaves, although all are done")
            }
            None => format!("{who} never leaves, although all who live are done"),
        },
    };
    case.however(format!(
        "{} of {count} still waited when the run ended at {}.",
        waiting.len(),
        evidence.at(ended)
    ));
    Some(case.broken(summary, ended, None))
}

/// Why no barrier could help. Where all wait to leave, a dead party is no excuse: the service lets its node go, unless
/// it still hears of it.
fn excuse(
    evidence: &Evidence<'_>,
    parties: &Parties,
    count: u32,
    waiting: &[(ContenderId, LockId)],
    leaves_only: bool,
) -> Option<String> {
    let mut stranded = evidence.run.for_good.contenders.iter();
    if let Some(stranded) = stranded.find(|stranded| stranded.is_heard || !leaves_only) {
        return Some(format!("{}, and all others wait for it", stranded.why));
    }
    for &(_, lock) in waiting {
        for by in (0..count).map(ContenderId) {
            let who = evidence.run.history.contender(by);
            match parties.out(by, lock) {
                Some(Out::GaveUp) => {
                    return Some(format!("{who} gave up, and all others wait for it"));
                }
                Some(Out::Lost) if !leaves_only && parties.is_entered(lock) => {
                    return Some(format!(
                        "{who} died or lost its session at the barrier, and others had gone on without it"
                    ));
                }
                Some(Out::Lost) | None => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;
    use crate::{Rendezvous, Stranded, notation};

    fn verdict(text: &str) -> Verdict {
        let mut run = notation::run(text);
        run.facts.rendezvous = Some(Rendezvous::DoubleBarrier { parties: 2 });
        check(&Evidence::of(&run))
    }

    fn summary(text: &str) -> String {
        verdict(text)
            .witness()
            .expect("a violation")
            .summary
            .clone()
    }

    #[test]
    fn a_party_that_never_enters_is_named_with_the_missing_one() {
        let gone_on = "a.acquire:0 b.acquire:1 a:2-3 bound-reached:90 b.waiting:90";
        assert_eq!(summary(gone_on), "b never enters: a is leaving");
        let stuck = "a.acquire:0 b.acquire:1 bound-reached:90 a.waiting:90 b.waiting:90";
        assert_eq!(summary(stuck), "a never enters, although all have come");
        let away = "a.acquire:0 b.acquire:1 a:2-3 b:2-3 a.released:3 b.released:3 a.acquire:4 \
                    bound-reached:90 a.waiting:90";
        assert_eq!(summary(away), "a never enters: b does not come");
    }

    #[test]
    fn a_party_that_never_leaves_is_named_with_the_one_inside() {
        let both = "a.acquire:0 b.acquire:1 a:2-3 b:2-4 bound-reached:90";
        assert_eq!(summary(both), "a never leaves, although all are done");
        let inside = "a.acquire:0 b.acquire:1 a:2-3 b:2- bound-reached:90";
        assert_eq!(summary(inside), "a never leaves: b is not done");
    }

    #[test]
    fn who_is_dead_must_not_keep_the_others_from_leaving() {
        let text = "a.acquire:0 b.acquire:1 a:2-3 b:2- b.crashed:3 bound-reached:90";
        let mut run = notation::run(text);
        run.facts.rendezvous = Some(Rendezvous::DoubleBarrier { parties: 2 });
        let dead = |is_heard| Stranded {
            by: ContenderId(1),
            why: "b is dead for good".to_owned(),
            is_heard,
        };
        run.for_good.contenders = vec![dead(false)];
        let verdict = check(&Evidence::of(&run));
        let summary = &verdict.witness().expect("a violation").summary;
        assert_eq!(summary, "a never leaves, although all who live are done");
        run.for_good.contenders = vec![dead(true)];
        assert!(matches!(check(&Evidence::of(&run)), Verdict::Undecided(_)));
    }

    #[test]
    fn a_barrier_cannot_help_that_a_party_is_gone() {
        let undecided = |text: &str| matches!(verdict(text), Verdict::Undecided(_));
        let came_back = "a.acquire:0 b.acquire:1 a:2-3 b:2- b.crashed:3 a.released:5 b.acquire:6 \
                         bound-reached:90 b.waiting:90";
        assert!(undecided(came_back));
        let gave_up = "a.acquire:0 b.acquire:1 b.cancelled:2 bound-reached:90 a.waiting:90";
        assert!(undecided(gave_up));
        let mut run = notation::run("a.acquire:0 b.crashed:0 bound-reached:90 a.waiting:90");
        run.facts.rendezvous = Some(Rendezvous::DoubleBarrier { parties: 2 });
        run.for_good.contenders = vec![Stranded {
            by: ContenderId(1),
            why: "b is dead for good".to_owned(),
            is_heard: false,
        }];
        let why = "b is dead for good, and all others wait for it";
        assert_eq!(
            check(&Evidence::of(&run)),
            Verdict::Undecided(why.to_owned())
        );
    }

    #[test]
    fn a_party_that_came_back_before_the_first_entry_is_served() {
        let text = "a.acquire:0 b.acquire:1 b.session-expired:2 b.acquire:3 bound-reached:90 \
                    a.waiting:90 b.waiting:90";
        assert_eq!(summary(text), "a never enters, although all have come");
    }
}
