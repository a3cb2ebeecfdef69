//! Which contenders and which events of a run a reader needs to see.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use picklock_checker::outcome::Story;
use picklock_checker::{
    ContenderId, Ended, EventKind, History, ServiceAnswer, Step, VirtualTime, Vocabulary, Witness,
};

use super::service_rows;

use crate::words::mentions;

/// More lanes than this do not fit side by side.
const LANES: usize = 5;
/// More rows than this are not read.
const ROWS: usize = 40;

/// The part of a run that is shown.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// The contenders that get a lane, ascending.
    pub(crate) lanes: Vec<ContenderId>,
    /// The events that get a row, by their place in the history, ascending.
    pub(crate) events: Vec<usize>,
    /// The events of the service that get a row of their own, by their place, ascending.
    pub(crate) service: Vec<usize>,
    /// The event at which the promise breaks.
    pub(crate) breach: Option<usize>,
    /// For each lane, the stretch of the history in which the contender matters.
    pub(crate) windows: BTreeMap<ContenderId, RangeInclusive<usize>>,
    /// Something that would have been shown comes after the last row.
    pub(crate) cut_short: bool,
}

/// All contenders and all events.
pub(crate) fn everything(story: &Story) -> Selection {
    let history = &story.history;
    let last = history.events.len().saturating_sub(1);
    // A contender that no event is about needs no lane.
    let subjects: BTreeSet<_> = history
        .events
        .iter()
        .flat_map(|event| concerned(&event.what))
        .collect();
    let lanes: Vec<_> = all_contenders(history)
        .filter(|contender| subjects.contains(contender))
        .collect();
    Selection {
        events: (0..history.events.len()).collect(),
        service: service_rows::all(history),
        breach: story
            .violated
            .as_ref()
            .and_then(|(_, witness)| breach(witness, history)),
        windows: lanes.iter().map(|&lane| (lane, 0..=last)).collect(),
        lanes,
        cut_short: false,
    }
}

/// The events of the witness, the faults until it was complete, and what surrounds both.
pub(crate) fn essential(story: &Story) -> Selection {
    let history = &story.history;
    if history.events.is_empty() {
        return Selection::default();
    }
    let witness = story.violated.as_ref().map(|(_, witness)| witness);
    let breach = witness.and_then(|witness| breach(witness, history));
    let lanes = lanes(witness, breach, history);
    let windows = windows(witness, &lanes, history);
    let wanted = Wanted {
        history,
        witness: witness.map_or(&[], |witness| &witness.events),
        lanes: &lanes,
        windows: &windows,
    };
    let (events, cut_short) = wanted.events();
    let service = service_rows::essential(history, witness, &windows);
    Selection {
        lanes,
        events,
        service,
        breach,
        windows,
        cut_short,
    }
}

fn all_contenders(history: &History) -> impl Iterator<Item = ContenderId> {
    (0..history.contenders.len()).map(|index| ContenderId(index as u32))
}

/// The event at which the promise breaks: of the witness, the last one at that time.
fn breach(witness: &Witness, history: &History) -> Option<usize> {
    let known = || {
        let events = witness.events.iter().copied();
        events.filter_map(|index| Some((index, history.events.get(index)?)))
    };
    let entered = |what: &EventKind| matches!(what, EventKind::Acquired { .. });
    let at = |index: &(usize, _)| index.0;
    // An overlap begins where a contender enters, whatever else happens at that time.
    let overlap = witness
        .overlap
        .and_then(|_| known().rfind(|(_, event)| event.at == witness.at && entered(&event.what)));
    let exact = || known().rfind(|(_, event)| event.at == witness.at);
    let before = || known().rfind(|(_, event)| event.at <= witness.at);
    // A belief that lasts too long counts from when it could have been given up, if that was after the loss.
    let lost = known().rfind(|(_, event)| matches!(event.what, EventKind::Disowned { .. }));
    let lost = lost.map_or(VirtualTime::ZERO, |(_, event)| event.at);
    let late = || {
        known().rfind(|(_, event)| {
            matches!(event.what, EventKind::CouldHaveKnown { since, .. } if since >= lost)
        })
    };
    overlap
        .or_else(late)
        .or_else(exact)
        .or_else(before)
        .or_else(|| known().next_back())
        .map(|found| at(&found))
}

/// The contenders that matter, ascending: all that the witness or a fault is about, or, if those
/// are too many, those of the witness.
fn lanes(witness: Option<&Witness>, breach: Option<usize>, history: &History) -> Vec<ContenderId> {
    let Some(witness) = witness else {
        return all_contenders(history).take(LANES).collect();
    };
    let mut first: Vec<ContenderId> = Vec::new();
    for index in breach.iter().chain(&witness.events) {
        let event = history.events.get(*index);
        for id in event.iter().flat_map(|event| concerned(&event.what)) {
            if !first.contains(&id) {
                first.push(id);
            }
        }
    }
    let mut involved: BTreeSet<ContenderId> = first.iter().copied().collect();
    let texts = witness_texts(witness).chain(fired(witness, history));
    for text in texts {
        let named = |id: &ContenderId| mentions(text, history.contender(*id));
        involved.extend(all_contenders(history).filter(named));
    }
    involved.extend(entering_meanwhile(witness, breach, history));
    if involved.len() <= LANES {
        return involved.into_iter().collect();
    }
    first.truncate(LANES);
    first.sort_unstable();
    first
}

/// Of an overlap, which others come to believe while the later of the two is inside: what it lost to the
/// other, a third may have got.
fn entering_meanwhile(
    witness: &Witness,
    breach: Option<usize>,
    history: &History,
) -> BTreeSet<ContenderId> {
    let (Some(breach), Some(_)) = (breach, witness.overlap) else {
        return BTreeSet::new();
    };
    let last = history.events[breach].what.by();
    let after = &history.events[breach + 1..];
    let mut inside = after.iter();
    let until = inside.position(|event| event.what.by() == last && ends(&event.what, history));
    let entered = after[..until.unwrap_or(0)].iter();
    let entered = entered.filter_map(|event| match event.what {
        EventKind::Acquired { by, .. } => Some(by),
        _ => None,
    });
    entered.collect()
}

/// The contender that an event is about, and the one that it blames.
fn concerned(what: &EventKind) -> impl Iterator<Item = ContenderId> {
    let blamed =
        if let EventKind::StillWaiting { owner, .. } | EventKind::Leftover { owner, .. } = *what {
            owner
        } else {
            None
        };
    what.by().into_iter().chain(blamed)
}

fn witness_texts(witness: &Witness) -> impl Iterator<Item = &str> {
    let steps = witness.argument.iter().map(|step| match step {
        Step::Then(text) | Step::However(text) => text.as_str(),
    });
    std::iter::once(witness.summary.as_str()).chain(steps)
}

/// What the faults do that fired until the witness was complete.
fn fired<'a>(witness: &Witness, history: &'a History) -> impl Iterator<Item = &'a str> {
    let end = witness.events.last().map_or(0, |last| last + 1);
    history.events.iter().take(end).filter_map(|event| {
        if let EventKind::FaultFired { fault } = event.what {
            Some(history.fault(fault))
        } else {
            None
        }
    })
}

/// For each lane, from the call that leads up to its part in the witness until the end of that call
/// or hold.
fn windows(
    witness: Option<&Witness>,
    lanes: &[ContenderId],
    history: &History,
) -> BTreeMap<ContenderId, RangeInclusive<usize>> {
    let last = history.events.len() - 1;
    let indices: &[usize] = witness.map_or(&[], |witness| &witness.events);
    let of = |index: usize, lane: ContenderId| {
        let event = history.events.get(index);
        event.is_some_and(|event| event.what.by() == Some(lane))
    };
    let started = |index: usize, lane: ContenderId| {
        of(index, lane) && matches!(history.events[index].what, EventKind::AcquireStarted { .. })
    };
    let mut windows = BTreeMap::new();
    for &lane in lanes {
        let mut own = indices.iter().copied().filter(|&index| of(index, lane));
        let Some(first) = own.next() else { continue };
        let until = own.next_back().unwrap_or(first);
        let from = (0..=first)
            .rev()
            .find(|&index| started(index, lane))
            .unwrap_or(first);
        let end = |index: &usize| of(*index, lane) && ends(&history.events[*index].what, history);
        let until = if engaged(history, lane, until) {
            (until..=last).find(end).unwrap_or(until)
        } else {
            until
        };
        windows.insert(lane, from..=until);
    }
    let from = windows.values().map(|window| *window.start()).min();
    let until = windows.values().map(|window| *window.end()).max();
    let (from, until) = (from.unwrap_or(0), until.unwrap_or(last));
    for &lane in lanes {
        // Its part began before that of the others if it was already waiting or inside by then.
        let before = (0..=from).rev().find(|&index| started(index, lane));
        let before = before.filter(|_| engaged(history, lane, from));
        windows
            .entry(lane)
            .or_insert(before.unwrap_or(from)..=until);
    }
    windows
}

/// Whether a contender waits or believes, right after an event.
fn engaged(history: &History, lane: ContenderId, index: usize) -> bool {
    for event in history.events[..=index].iter().rev() {
        if event.what.by() != Some(lane) {
            continue;
        }
        if ends(&event.what, history) {
            return false;
        }
        if matches!(
            event.what,
            EventKind::AcquireStarted { .. } | EventKind::Acquired { .. }
        ) {
            return true;
        }
    }
    false
}

/// Whether a wait or a hold ends here. Who is done waits at a barrier until it may leave.
fn ends(what: &EventKind, history: &History) -> bool {
    let is_barrier = history.vocabulary == Vocabulary::DoubleBarrier;
    match what {
        EventKind::ReleaseStarted { .. } => return !is_barrier,
        EventKind::Released { .. } | EventKind::ReleaseFailed { .. } => return is_barrier,
        _ => {}
    }
    matches!(
        what,
        EventKind::Lost { .. }
            | EventKind::AcquireFailed { .. }
            | EventKind::Revoked { .. }
            | EventKind::Cancelled { .. }
            | EventKind::Crashed { .. }
            | EventKind::Finished { .. }
            | EventKind::StillWaiting { .. }
    )
}

/// The search for the rows.
struct Wanted<'a> {
    history: &'a History,
    witness: &'a [usize],
    lanes: &'a [ContenderId],
    windows: &'a BTreeMap<ContenderId, RangeInclusive<usize>>,
}

impl Wanted<'_> {
    /// The events to show, ascending, and whether some after the last of them had to be left out.
    fn events(&self) -> (Vec<usize>, bool) {
        let mut ranked: Vec<(u8, usize, usize)> = (0..self.history.events.len())
            .filter_map(|index| Some((self.rank(index)?, self.distance(index), index)))
            .collect();
        let last = ranked.iter().map(|&(_, _, index)| index).max();
        ranked.sort_unstable();
        ranked.truncate(ROWS);
        let mut events: Vec<usize> = ranked.into_iter().map(|(_, _, index)| index).collect();
        events.sort_unstable();
        let cut_short = events.last().copied() != last;
        (events, cut_short)
    }

    /// The lower, the more it is needed; None: not at all.
    fn rank(&self, index: usize) -> Option<u8> {
        let what = &self.history.events[index].what;
        if let EventKind::Ended { why: Ended::Broken } = what {
            return Some(0);
        }
        let shown = what.by().is_none_or(|by| self.lanes.contains(&by));
        if self.witness.binary_search(&index).is_ok() {
            return shown.then_some(0);
        }
        let begin = self.windows.values().map(|window| *window.start()).min()?;
        let end = self.windows.values().map(|window| *window.end()).max()?;
        let complete = self.witness.last().copied().unwrap_or(end);
        if let EventKind::FaultFired { fault } = what {
            let text = self.history.fault(*fault);
            let named = |lane: &ContenderId| mentions(text, self.history.contender(*lane));
            let rank = if self.lanes.iter().any(named) { 1 } else { 3 };
            return (index <= complete).then_some(rank);
        }
        // A failover between two grants is the reason of many a violation, and so is a request that came twice.
        if matches!(
            what,
            EventKind::ServerChanged { .. } | EventKind::Resent { .. }
        ) && shown
        {
            return (begin..=complete).contains(&index).then_some(1);
        }
        if matches!(what, EventKind::FaultHealed { .. } | EventKind::CalmBegan) {
            return (begin..=complete).contains(&index).then_some(3);
        }
        let window = what.by().and_then(|by| self.windows.get(&by))?;
        (window.contains(&index) && self.explains(what)).then_some(2)
    }

    /// Effects explain only what effects contradict.
    fn explains(&self, what: &EventKind) -> bool {
        let is_effect =
            |what: &EventKind| matches!(what, EventKind::Writing { .. } | EventKind::Effect { .. });
        let about_effects = || {
            let mut events = self
                .witness
                .iter()
                .filter_map(|&index| self.history.events.get(index));
            events.any(|event| is_effect(&event.what))
        };
        let counts = matches!(
            what,
            EventKind::Answered {
                answer: ServiceAnswer::Counts(_),
                ..
            }
        );
        let leaves = matches!(what, EventKind::Released { .. }) && ends(what, self.history);
        what.row().structural || leaves || counts || (is_effect(what) && about_effects())
    }

    /// How many events lie between this one and the nearest one of the witness.
    fn distance(&self, index: usize) -> usize {
        let distances = self.witness.iter().map(|&other| other.abs_diff(index));
        distances.min().unwrap_or(index)
    }
}
