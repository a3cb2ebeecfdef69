//! How near a run came to an overlap, whether or not a promise was broken.
//!
//! A lock that lets go a millisecond before its session ends keeps every promise, and is one slow message away from
//! breaking one. A verdict cannot tell it from a lock that lets go a second before. Each [`Distance`] is how far apart
//! in virtual time two things were that must not meet; zero if they met.

mod permits;
mod silence;
#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::mode::ByMode;
use crate::{ContenderId, Disowned, Evidence, VirtualTime};
use silence::Silences;

/// One way to say how near a run came to an overlap.
#[derive(Clone, Copy, Debug)]
pub struct Distance {
    /// Its name, as reports write it.
    pub name: &'static str,
    /// From what to what it is, one sentence.
    pub meaning: &'static str,
    find: fn(&Evidence<'_>, &BeliefEnds) -> Option<NearMiss>,
}

/// Every distance, in the order in which reports show them.
pub const DISTANCES: [Distance; 3] = [
    Distance {
        name: "between-holds",
        meaning: "From the end of a hold until another contender's next one begins.",
        find: between_holds,
    },
    Distance {
        name: "before-loss",
        meaning: "From the end of a hold until the service takes the lock away without a release.",
        find: before_loss,
    },
    Distance {
        name: "lease-left",
        meaning: "From the end of a hold, and of its writes, until a silent holder's session can end.",
        find: lease_left,
    },
];

/// The least of a distance in a run, and when the hold ended that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NearMiss {
    /// How far apart; zero if there was an overlap.
    pub distance: Duration,
    /// When the hold ended, or the history, if that was first.
    pub at: VirtualTime,
}

/// How near a run came to an overlap: the least of each distance, where there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nearness([Option<NearMiss>; DISTANCES.len()]);

impl Nearness {
    /// That of a run.
    pub fn of(evidence: &Evidence<'_>) -> Self {
        // Parties of a barrier are inside together, and one that has passed it need not be gone when it is set again.
        if evidence.run.facts.rendezvous.is_some() {
            return Self::default();
        }
        let ends = BeliefEnds::of(evidence);
        Self(DISTANCES.map(|distance| (distance.find)(evidence, &ends)))
    }

    /// The distances that there are, by name, in the order of [`DISTANCES`].
    pub fn found(self) -> impl Iterator<Item = (&'static str, NearMiss)> {
        let all = DISTANCES.iter().zip(self.0);
        all.filter_map(|(distance, near)| Some((distance.name, near?)))
    }

    /// The least distance to an overlap that an ordinary release does not bring about, as every hand-over does. None
    /// if there was no such thing, or if there was an overlap: then it was no miss.
    pub fn miss(self) -> Option<NearMiss> {
        let [between, loss, lease] = self.0;
        let overlap = |near: &NearMiss| near.distance.is_zero();
        if between.as_ref().is_some_and(overlap) {
            return None;
        }
        let nearest = loss.into_iter().chain(lease).min()?;
        Some(nearest).filter(|near| !overlap(near))
    }
}

/// By belief: when it ended, and when it and the last of its writes did; never, if it did not.
struct BeliefEnds {
    holds: Vec<VirtualTime>,
    acts: Vec<VirtualTime>,
}

impl BeliefEnds {
    fn of(evidence: &Evidence<'_>) -> Self {
        let ends = evidence.beliefs.iter();
        let ends = ends.map(|belief| evidence.at_or_never(belief.left));
        let holds: Vec<VirtualTime> = ends.collect();
        let mut acts = holds.clone();
        for arrival in evidence.arrivals.iter().filter(|arrival| arrival.accepted) {
            if let Some(end) = arrival.belief.and_then(|belief| acts.get_mut(belief)) {
                *end = (*end).max(evidence.at(arrival.event));
            }
        }
        Self { holds, acts }
    }
}

/// How far it is from the end of something until a moment, if the end is what it is about.
fn until(evidence: &Evidence<'_>, end: VirtualTime, moment: VirtualTime) -> NearMiss {
    NearMiss {
        distance: moment.since(end),
        at: end.min(evidence.end()),
    }
}

/// The contender whose hold ends last so far, and the last hold of all others.
#[derive(Clone, Copy, Default)]
struct LatestEnds {
    last: Option<(ContenderId, VirtualTime)>,
    other: Option<(ContenderId, VirtualTime)>,
}

impl LatestEnds {
    /// When the last hold ends that is not this contender's.
    fn of_others(self, than: ContenderId) -> Option<VirtualTime> {
        let ends = [self.last, self.other].into_iter().flatten();
        let ends = ends.filter(|(by, _)| *by != than);
        ends.map(|(_, end)| end).max()
    }

    fn extend(&mut self, by: ContenderId, end: VirtualTime) {
        match &mut self.last {
            Some((last, until)) if *last == by => *until = (*until).max(end),
            Some((_, until)) if *until > end => {
                if self.other.is_none_or(|(_, until)| until < end) {
                    self.other = Some((by, end));
                }
            }
            Some(_) | None => self.other = self.last.replace((by, end)),
        }
    }
}

/// Beliefs come in the order in which they begin, so the one before that ends last is the nearest, of those that it
/// excludes.
fn between_holds(evidence: &Evidence<'_>, ends: &BeliefEnds) -> Option<NearMiss> {
    if evidence.permits() > 1 {
        return permits::between_holds(evidence, ends);
    }
    let mut nearest: Option<NearMiss> = None;
    // By lock.
    let mut latest: Vec<ByMode<LatestEnds>> = Vec::new();
    for (later, end) in evidence.beliefs.iter().zip(&ends.holds) {
        let begin = evidence.at(later.acquired);
        let index = later.lock.0 as usize;
        if index >= latest.len() {
            latest.resize(index + 1, ByMode::default());
        }
        let excluding = latest[index].excluding(later.mode);
        let before = excluding.filter_map(|ends| ends.of_others(later.by));
        if let Some(earlier) = before.max() {
            let near = until(evidence, earlier, begin);
            nearest = Some(nearest.map_or(near, |nearest| nearest.min(near)));
        }
        latest[index].of_mut(later.mode).extend(later.by, *end);
    }
    nearest
}

fn before_loss(evidence: &Evidence<'_>, ends: &BeliefEnds) -> Option<NearMiss> {
    let beliefs = evidence.beliefs.iter().zip(&ends.holds);
    let losses = beliefs.filter_map(|(belief, end)| {
        let ownership = &evidence.ownerships[belief.grant?];
        let taken = match ownership.how? {
            Disowned::Released => false,
            Disowned::RemovedBy(other) | Disowned::OverwrittenBy(other) => other != belief.by,
            Disowned::Expired
            | Disowned::Reaped
            | Disowned::RemovedFromOutside
            | Disowned::LostByService => true,
        };
        let lost = evidence.at(ownership.disowned?);
        taken.then(|| until(evidence, *end, lost))
    });
    losses.min()
}

fn lease_left(evidence: &Evidence<'_>, ends: &BeliefEnds) -> Option<NearMiss> {
    if evidence.signs.is_empty() {
        return None;
    }
    let silences = Silences::of(evidence);
    let beliefs = evidence.beliefs.iter().zip(&ends.acts);
    let left = beliefs.flat_map(|(belief, end)| {
        let begin = evidence.at(belief.acquired);
        let during = silences.of_one(belief.by).iter();
        let during = during.filter(move |silence| begin < silence.until && silence.from <= *end);
        during.map(|silence| {
            let end = (*end).min(silence.until).min(evidence.end());
            until(evidence, end, silence.deadline)
        })
    });
    left.min()
}
