//! What concerns all lanes: faults from when they strike until they are over, and where the promise breaks.

use std::collections::BTreeMap;

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
    /// Until when.
    pub until: VirtualTime,
    /// What it is.
    pub text: String,
    /// Nothing breaks in it.
    pub calm: bool,
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
}

/// Faults and the calm, in no rows yet.
pub(super) fn spans(history: &History) -> Vec<Span> {
    let end = history.events.last().map_or(VirtualTime::ZERO, |it| it.at);
    let mut open: BTreeMap<FaultId, VirtualTime> = BTreeMap::new();
    let mut spans = Vec::new();
    let fault = |fault: FaultId, from, until| Span {
        row: 0,
        from,
        until,
        text: format!(
            "fault {}: {}",
            fault.0 + 1,
            history.fault_with_request(fault)
        ),
        calm: false,
    };
    for event in &history.events {
        match event.what {
            EventKind::FaultFired { fault } => {
                open.entry(fault).or_insert(event.at);
            }
            EventKind::FaultHealed { fault: it } => {
                let from = open.remove(&it);
                spans.extend(from.map(|from| fault(it, from, event.at)));
            }
            EventKind::CalmBegan => spans.push(Span {
                row: 0,
                from: event.at,
                until: end,
                text: "calm".to_owned(),
                calm: true,
            }),
            _ => {}
        }
    }
    spans.extend(open.into_iter().map(|(it, from)| {
        // What strikes once is over at once, unless its words say that it stays.
        let stays = history.fault(it).ends_with("for good");
        fault(it, from, if stays { end } else { from })
    }));
    spans.sort_by_key(|span| (span.from, span.until));
    spans
}

/// Puts them into rows in which none lies over another, with room for their words, on an axis of this scale that is so
/// wide. Answers the number of rows.
pub(super) fn rows(spans: &mut [Span], axis: &Axis, scale: f64, room: f64) -> u32 {
    let mut ends: Vec<f64> = Vec::new();
    for span in spans {
        let long = 6.6 * span.text.chars().count() as f64 + 14.0;
        // Words that would end outside begin earlier.
        let from = axis.place(span.from) * scale;
        let begin = from.min(room - long).max(0.0);
        let end = (begin + long).max(axis.place(span.until) * scale + 4.0);
        let free = ends.iter().position(|&taken| taken <= begin);
        let row = free.unwrap_or(ends.len());
        match free {
            Some(row) => ends[row] = end,
            None => ends.push(end),
        }
        span.row = row as u32;
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
    })
}
