//! Two who believe at once: whether one of them could be unaware of its loss, or somebody came in who never had the
//! lock.

use picklock_checker::{Belief, Evidence, VirtualTime};
use picklock_sim::plan::Service;

/// Two who are inside together, and neither of them had lost the lock before.
pub(super) struct Overlap {
    /// The events by which they entered; none, if nobody can say which of several is one too many.
    pub entered: Vec<usize>,
    /// Who, and since when.
    pub summary: String,
}

/// The first overlap of two beliefs that does not go back to a loss: neither believed on after the service had given
/// its lock away, so the second came in for another reason. Of several servers of Redis each has a truth of its own,
/// and what one of them has lost is no loss that all know of: there, every overlap that faults excuse goes back to one.
pub(super) fn without_a_loss(service: &Service, evidence: &Evidence<'_>) -> Option<Overlap> {
    if service.redis().is_some() && service.machines() > 1 {
        return None;
    }
    let beliefs = &evidence.beliefs;
    if evidence.permits() > 1 {
        // Several may be inside together: which of them is one too many, nobody can say.
        let mut all = beliefs.iter();
        let lost = all.any(|it| is_lost_by(evidence, it, evidence.at_or_never(it.left)));
        return (!lost).then(|| Overlap {
            entered: Vec::new(),
            summary: "more are inside than there are permits".to_owned(),
        });
    }
    beliefs.iter().enumerate().find_map(|(place, later)| {
        let from = evidence.at(later.acquired);
        let mut earlier = beliefs[..place].iter().filter(|earlier| {
            earlier.lock == later.lock
                && earlier.mode.excludes(later.mode)
                && from < evidence.at_or_never(earlier.left)
        });
        let without = earlier.find(|earlier| {
            let until = evidence.at_or_never(earlier.left);
            let until = until.min(evidence.at_or_never(later.left));
            !is_lost_by(evidence, earlier, until) && !is_lost_by(evidence, later, until)
        })?;
        let name = |it: &Belief| &evidence.run.history.contenders[it.by.0 as usize];
        Some(Overlap {
            entered: vec![without.acquired, later.acquired],
            summary: format!(
                "{} is inside beside {} from {from}, and neither had lost the lock before",
                name(later),
                name(without)
            ),
        })
    })
}

/// Whether the service had ended the ownership that a belief rests on before this time.
fn is_lost_by(evidence: &Evidence<'_>, belief: &Belief, until: VirtualTime) -> bool {
    let grant = belief.grant.map(|grant| &evidence.ownerships[grant]);
    let lost = grant.and_then(|grant| grant.disowned);
    lost.is_some_and(|lost| evidence.at(lost) < until)
}
