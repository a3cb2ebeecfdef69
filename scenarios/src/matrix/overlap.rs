//! Two who believe at once: whether one of them could be unaware of its loss, or somebody came in who never had the
//! lock.

use picklock_checker::{Belief, Evidence, VirtualTime};
use picklock_sim::plan::Service;

/// Whether every overlap of two beliefs goes back to a loss: one of the two believed on after the service had given
/// its lock away. Where the service still has the first as the owner, the second came in for another reason. Of several
/// servers of Redis each has a truth of its own, and what one of them has lost is no loss that all know of: there,
/// every overlap that faults excuse goes back to one.
pub(super) fn goes_back_to_a_loss(service: &Service, evidence: &Evidence<'_>) -> bool {
    if service.redis().is_some() && service.machines() > 1 {
        return true;
    }
    let beliefs = &evidence.beliefs;
    if evidence.permits() > 1 {
        // Several may be inside together: which of them is one too many, nobody can say.
        let mut all = beliefs.iter();
        return all.any(|it| is_lost_by(evidence, it, evidence.at_or_never(it.left)));
    }
    beliefs.iter().enumerate().all(|(place, later)| {
        let from = evidence.at(later.acquired);
        let mut earlier = beliefs[..place].iter().filter(|earlier| {
            earlier.lock == later.lock
                && earlier.mode.excludes(later.mode)
                && from < evidence.at_or_never(earlier.left)
        });
        earlier.all(|earlier| {
            let until = evidence.at_or_never(earlier.left);
            let until = until.min(evidence.at_or_never(later.left));
            is_lost_by(evidence, earlier, until) || is_lost_by(evidence, later, until)
        })
    })
}

/// Whether the service had ended the ownership that a belief rests on before this time.
fn is_lost_by(evidence: &Evidence<'_>, belief: &Belief, until: VirtualTime) -> bool {
    let grant = belief.grant.map(|grant| &evidence.ownerships[grant]);
    let lost = grant.and_then(|grant| grant.disowned);
    lost.is_some_and(|lost| evidence.at(lost) < until)
}
