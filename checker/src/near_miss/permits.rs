//! How near holds came to be one too many, where several may hold the lock at once.

use std::collections::BTreeMap;

use super::{BeliefEnds, NearMiss, until};
use crate::{ContenderId, Evidence, LockId, VirtualTime};

/// When the last hold of a lock ends, of each contender.
type LastEnds = BTreeMap<ContenderId, VirtualTime>;

/// Of the others' last holds, those that leave too few permits for the next end last. If the first of these had ended
/// later, they would all have been inside when the next begins: that is how near it was.
pub(super) fn between_holds(evidence: &Evidence<'_>, ends: &BeliefEnds) -> Option<NearMiss> {
    let permits = evidence.permits();
    let mut last: BTreeMap<LockId, LastEnds> = BTreeMap::new();
    let mut nearest: Option<NearMiss> = None;
    for (later, end) in evidence.beliefs.iter().zip(&ends.holds) {
        let of_lock = last.entry(later.lock).or_default();
        let others = of_lock.iter().filter(|(by, _)| **by != later.by);
        let mut others: Vec<_> = others.map(|(by, end)| (*end, *by)).collect();
        others.sort_unstable();
        let mut taken = evidence.permits_of([later.by]);
        let made_room = others.iter().rev().find(|(_, by)| {
            taken += evidence.permits_of([*by]);
            taken > permits
        });
        if let Some((end, _)) = made_room {
            let near = until(evidence, *end, evidence.at(later.acquired));
            nearest = Some(nearest.map_or(near, |nearest| nearest.min(near)));
        }
        let own = of_lock.entry(later.by).or_insert(*end);
        *own = (*own).max(*end);
    }
    nearest
}
