//! What the servers did and found, as a timeline shows it: with the change that the history knows, or in a row of its
//! own.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use picklock_checker::{
    ContenderId, EventKind, History, ServerChange, ServerId, ServiceEvent, ServiceEventKind,
    Witness,
};

/// In what is cut to what matters, no more rows than these are of the service.
const ROWS: usize = 8;

/// The server's own event of a change that the history calls `ServerChanged`.
pub(super) fn change(
    history: &History,
    index: usize,
    server: ServerId,
    to: ServerChange,
) -> Option<&ServiceEvent> {
    let first = history.service.partition_point(|event| event.after < index);
    let here = history.service[first..].iter();
    let mut here = here.take_while(|event| event.after == index);
    here.find(|event| event.is_change(server, to))
}

/// Whether a change that the history knows stands for this.
pub(crate) fn is_in_history(history: &History, event: &ServiceEvent) -> bool {
    let next = history.events.get(event.after).map(|event| event.what);
    matches!(next, Some(EventKind::ServerChanged { server, to }) if event.is_change(server, to))
}

/// Everything, but for what the history tells, and what the next row says again.
pub(super) fn all(history: &History) -> Vec<usize> {
    let service = &history.service;
    let is_shown = |index: &usize| {
        let event = &service[*index];
        // The lanes, and notes at calls that fail, show these.
        if let ServiceEventKind::ErrorReply { .. }
        | ServiceEventKind::SessionEstablished { .. }
        | ServiceEventKind::ClientGone { .. }
        | ServiceEventKind::Resent { .. } = event.what
        {
            return false;
        }
        let next = service.get(index + 1);
        let repeated = next.is_some_and(|next| is_repeated(event, next));
        !repeated && !is_in_history(history, event)
    };
    (0..service.len()).filter(is_shown).collect()
}

/// Whether a key has gone to, or from, one more server.
fn is_repeated(event: &ServiceEvent, next: &ServiceEvent) -> bool {
    let is_same = match (&event.what, &next.what) {
        (
            ServiceEventKind::KeySet { of, by, .. },
            ServiceEventKind::KeySet {
                of: next_of,
                by: next_by,
                ..
            },
        ) => (of, by) == (next_of, next_by),
        (
            ServiceEventKind::KeyGone { of, why, .. },
            ServiceEventKind::KeyGone {
                of: next_of,
                why: next_why,
                ..
            },
        ) => (of, why) == (next_of, next_why),
        (_, _) => false,
    };
    is_same && event.after == next.after
}

/// What is needed to understand a violation: the steps of a failover as Sentinels log them, what replication threw
/// away, which servers a majority gave up, and the watches of contenders that wait in vain.
pub(super) fn essential(
    history: &History,
    witness: Option<&Witness>,
    windows: &BTreeMap<ContenderId, RangeInclusive<usize>>,
) -> Vec<usize> {
    let Some(begin) = windows.values().map(|window| *window.start()).min() else {
        return Vec::new();
    };
    let end = windows.values().map(|window| *window.end()).max();
    let shown = witness.map_or(&[][..], |witness| &witness.events);
    let complete = shown.last().copied().or(end).unwrap_or(begin);
    let waits_in_vain = |by: ContenderId| waits_in_vain(history, shown, by);
    let mut said: Vec<String> = Vec::new();
    let mut indices: Vec<usize> = Vec::new();
    for (index, event) in history.service.iter().enumerate() {
        let row = event.row();
        let is_notice = matches!(
            event.what,
            ServiceEventKind::WatchFired { .. }
                | ServiceEventKind::WatchLost { .. }
                | ServiceEventKind::MessageLost { .. }
        );
        let says = said_by_several(&event.what);
        let is_needed = row.discards
            || (is_notice && row.about.is_some_and(waits_in_vain))
            || could_wake(history, index, &waits_in_vain)
            || says.as_ref().is_some_and(|says| !said.contains(says));
        if !is_needed || event.after <= begin || event.after > complete {
            continue;
        }
        said.extend(says);
        indices.push(index);
    }
    // What is nearest to the end says most.
    indices.split_off(indices.len().saturating_sub(ROWS))
}

/// What several machines say of one step of a failover, without what differs: once is enough.
fn said_by_several(what: &ServiceEventKind) -> Option<String> {
    if let ServiceEventKind::NodeFailed { node } = what {
        return Some(node.0.to_string());
    }
    let ServiceEventKind::SentinelLog { event, line } = what else {
        return None;
    };
    let is_step = ["+odown", "+switch-master"].contains(&event.as_str());
    is_step.then(|| without_quorum(line).to_owned())
}

/// Whether one of these events says that a contender waits in vain.
fn waits_in_vain(history: &History, shown: &[usize], by: ContenderId) -> bool {
    let mut events = shown.iter().filter_map(|index| history.events.get(*index));
    let waits = |what: &EventKind| matches!(what, EventKind::StillWaiting { .. });
    events.any(|event| waits(&event.what) && event.what.by() == Some(by))
}

/// Whether a contender that waits in vain last subscribes here, or would receive this.
fn could_wake(history: &History, index: usize, waits: &dyn Fn(ContenderId) -> bool) -> bool {
    match &history.service[index].what {
        ServiceEventKind::Subscribed { by, channel } => {
            waits(*by) && is_last_subscription(history, index, *by, channel)
        }
        ServiceEventKind::Published { channel, .. } => {
            subscribers(history, channel).into_iter().any(waits)
        }
        _ => false,
    }
}

/// The line of a Sentinel without how many agree on it: others may agree with more.
fn without_quorum(line: &str) -> &str {
    line.split_once(" #quorum").map_or(line, |(what, _)| what)
}

/// What the client library of a contender sends again at that place of the history, if the service tells.
pub(super) fn resent(history: &History, index: usize) -> Option<&str> {
    let by = history.events.get(index)?.what.by()?;
    let first = history.service.partition_point(|event| event.after < index);
    let here = history.service[first..].iter();
    let mut here = here.take_while(|event| event.after == index);
    here.find_map(|event| match &event.what {
        ServiceEventKind::Resent { by: of, request } if *of == by => Some(request.as_str()),
        _ => None,
    })
}

/// Who subscribes to a channel in the whole run.
fn subscribers(history: &History, channel: &str) -> BTreeSet<ContenderId> {
    let service = history.service.iter();
    let subscribed = service.filter_map(|event| match &event.what {
        ServiceEventKind::Subscribed { by, channel: other } if other == channel => Some(*by),
        _ => None,
    });
    subscribed.collect()
}

/// Whether a contender subscribes to a channel there for the last time.
fn is_last_subscription(history: &History, index: usize, by: ContenderId, to: &str) -> bool {
    let mut later = history.service[index + 1..].iter();
    !later.any(|event| match &event.what {
        ServiceEventKind::Subscribed {
            by: subscriber,
            channel,
        } => (*subscriber, channel.as_str()) == (by, to),
        _ => false,
    })
}

/// Which servers have the lock's key of a contender when so much of the history has happened, if there are several
/// servers that could.
pub(super) fn holders(history: &History, by: ContenderId, index: usize) -> Option<String> {
    let until = history
        .service
        .partition_point(|event| event.after <= index);
    let known = history.service[..until].iter().rev();
    let mut known = known.filter(|event| event.row().about == Some(by));
    let holders = known.find_map(|event| match &event.what {
        ServiceEventKind::KeySet { holders, .. } => Some(holders),
        _ => None,
    })?;
    (holders.of > 1).then(|| holders.describe())
}
