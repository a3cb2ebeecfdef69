//! What concerns all lanes: faults from when they strike until they are over, and where the promise breaks.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use picklock_checker::outcome::Story;
use picklock_checker::{EventKind, FaultId, History, VirtualTime};

use super::axis::Axis;
use crate::timeline::{Scene, breach_words};

/// How high a row of faults is.
pub(super) const ROW: u32 = 17;

/// A fault, or the calm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// In which row, from the top.
    pub row: u32,
    /// From when on.
    pub from: VirtualTime,
    /// Until when; where the diagram ends, if it goes on there.
    pub until: VirtualTime,
    /// It goes on where the diagram ends.
    pub goes_on: bool,
    /// What it is.
    pub text: String,
    /// Which fault it is; none, if it is the calm, in which nothing breaks.
    pub fault: Option<FaultId>,
    /// The event with which it begins, by its place in the history.
    pub event: usize,
    /// It is a later strike of a fault, whose words stand at an earlier one.
    pub again: bool,
}

/// Where the promise breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The event, by its place in the history.
    pub event: usize,
    /// From when on.
    pub from: VirtualTime,
    /// Until when; the same if it is a moment.
    pub until: VirtualTime,
    /// What breaks: `both inside`.
    pub words: String,
    /// The events from which all that led to it is found, by their places in the history.
    pub evidence: Vec<usize>,
}

/// When something begins, and with which event of the history.
type Begin = (VirtualTime, usize);

/// Faults, a span for each strike, and the calm, in no rows yet. `lengths` says how long each fault lasts.
pub(super) fn spans(history: &History, lengths: &[Option<Duration>]) -> Vec<Span> {
    let end = history
        .events
        .last()
        .map_or(VirtualTime::ZERO, |event| event.at);
    let length = |fault: FaultId| lengths.get(fault.0 as usize).copied().flatten();
    let mut open: Vec<(FaultId, Begin)> = Vec::new();
    let mut spans = Vec::new();
    let strike = |fault: FaultId, from, until| Span {
        fault: Some(fault),
        ..span(
            from,
            until,
            format!(
                "fault {}: {}",
                fault.0 + 1,
                history.fault_with_request(fault)
            ),
        )
    };
    for (index, event) in history.events.iter().enumerate() {
        match event.what {
            EventKind::FaultFired { fault } => open.push((fault, (event.at, index))),
            EventKind::FaultHealed { fault } => {
                // Of several strikes that last, the one that is over now.
                let is_over = |&(of, (from, _)): &(FaultId, Begin)| {
                    of == fault && length(fault).is_none_or(|lasts| from + lasts <= event.at)
                };
                if let Some(place) = open.iter().position(is_over) {
                    spans.push(strike(fault, open.remove(place).1, event.at));
                }
            }
            EventKind::CalmBegan => spans.push(span((event.at, index), end, "calm".to_owned())),
            _ => {}
        }
    }
    spans.extend(open.into_iter().map(|(fault, from)| {
        // What would have ended before the run and did not was over at once: it found nothing to break.
        let goes_on = length(fault).is_some_and(|lasts| lasts > end.since(from.0));
        let until = if goes_on { VirtualTime::NEVER } else { from.0 };
        strike(fault, from, until)
    }));
    spans.sort_by_key(|span| (span.from, span.until));
    spans
}

fn span((from, event): Begin, until: VirtualTime, text: String) -> Span {
    Span {
        row: 0,
        from,
        until,
        goes_on: false,
        text,
        fault: None,
        event,
        again: false,
    }
}

/// Of the strikes of a fault, the first that is shown has the words of all.
pub(super) fn name_once(spans: &mut [Span]) {
    let mut named = BTreeSet::new();
    for span in spans {
        span.again = span.fault.is_some_and(|fault| !named.insert(fault));
    }
}

/// Puts them into rows in which none lies over another, with room for their words, on an axis of this scale that is so
/// wide. All strikes of a fault are in one row. Answers the number of rows.
pub(super) fn rows(spans: &mut [Span], axis: &Axis, scale: f64, room: f64) -> u32 {
    let mut last: BTreeMap<FaultId, f64> = BTreeMap::new();
    for span in spans.iter() {
        if let Some(fault) = span.fault {
            let end = axis.place(span.until) * scale + 4.0;
            let last = last.entry(fault).or_default();
            *last = last.max(end);
        }
    }
    let mut row_of: BTreeMap<FaultId, u32> = BTreeMap::new();
    let mut ends: Vec<f64> = Vec::new();
    for span in spans {
        let of_earlier = span.fault.filter(|_| span.again);
        if let Some(row) = of_earlier.and_then(|fault| row_of.get(&fault)) {
            span.row = *row;
            continue;
        }
        let long = 6.6 * span.text.chars().count() as f64 + 14.0;
        // Words that would end outside begin earlier.
        let from = axis.place(span.from) * scale;
        let begin = from.min(room - long).max(0.0);
        let last = span.fault.and_then(|fault| last.get(&fault).copied());
        let last = last.unwrap_or_else(|| axis.place(span.until) * scale + 4.0);
        let end = (begin + long).max(last);
        let free = ends.iter().position(|&taken| taken <= begin);
        let row = free.unwrap_or(ends.len());
        match free {
            Some(row) => ends[row] = end,
            None => ends.push(end),
        }
        span.row = row as u32;
        row_of.extend(span.fault.map(|fault| (fault, span.row)));
    }
    ends.len() as u32
}

/// Where the promise breaks, if it does.
pub(super) fn breach(story: &Story, scene: &Scene) -> Option<Breach> {
    let (invariant, witness) = story.violated.as_ref()?;
    let event = scene.selection.breach?;
    let at = story.history.events.get(event)?.at;
    let from = if witness.overlap.is_some() {
        witness.at
    } else {
        at
    };
    Some(Breach {
        event,
        from,
        until: from + witness.overlap.unwrap_or_default(),
        words: breach_words(invariant, &story.history, event),
        evidence: witness.events_until_broken(&story.history),
    })
}
