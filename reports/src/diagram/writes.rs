//! Writes to the resource as arrows: where each was sent, and where the resource took or refused it.

use std::collections::BTreeSet;

use picklock_checker::{Arrival, ContenderId, EventKind, Evidence};

use super::lanes::{Lane, LaneKind};
use super::messages::{Arrow, ArrowEnd, ArrowKind};
use super::range::Part;

/// The writes that are sent or arrive in a part of a run.
pub(super) fn writes(evidence: &Evidence<'_>, part: &Part, lanes: &[Lane]) -> Vec<Arrow> {
    let lane = |kind: LaneKind| lanes.iter().position(|lane| lane.kind == kind);
    let Some(resource) = lane(LaneKind::Resource) else {
        return Vec::new();
    };
    let write = |by: ContenderId, sent: usize, (ends, end): (usize, ArrowEnd)| {
        Some(Arrow {
            from: lane(LaneKind::Contender(by))?,
            to: resource,
            sent: evidence.at(sent),
            ends: evidence.at(ends),
            comes_in: false,
            end,
            kind: ArrowKind::Write,
            text: words(evidence, ends),
            after: sent,
        })
    };
    let arrived = evidence.arrivals.iter();
    let arrived: Vec<(&Arrival, usize)> = arrived
        .filter_map(|arrival| Some((arrival, arrival.sent?)))
        .collect();
    let ended: BTreeSet<usize> = arrived.iter().map(|(_, sent)| *sent).collect();
    let events = evidence.run.history.events.iter().enumerate();
    let under_way = events.filter_map(|(index, event)| match event.what {
        EventKind::Writing { by, .. } if !ended.contains(&index) => Some((by, index)),
        _ => None,
    });
    let under_way = under_way.filter_map(|(by, sent)| write(by, sent, (sent, ArrowEnd::UnderWay)));
    let arrived = arrived
        .iter()
        .filter_map(|(arrival, sent)| write(arrival.by, *sent, (arrival.event, ArrowEnd::Arrives)));
    let mut writes: Vec<Arrow> = arrived.chain(under_way).collect();
    writes.retain_mut(|write| write.cut(part));
    writes
}

/// What the resource makes of a write.
fn words(evidence: &Evidence<'_>, event: usize) -> String {
    match evidence.event(event).what {
        EventKind::Effect {
            accepted: true,
            before,
            after,
            ..
        } => format!("write: {before} becomes {after}"),
        EventKind::Effect { .. } => "write, refused by the resource".to_owned(),
        _ => "write".to_owned(),
    }
}
