//! Which part of a run is shown. What is too much for a page is cut, and the page says so.

use std::ops::Range;

use picklock_checker::{History, VirtualTime};

use super::traffic::{TEXT, Traffic};
use crate::words::thousands;

/// A part of a run: these events of its history, and what happens meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The events.
    pub(super) events: Range<usize>,
    /// From when on.
    pub(super) from: VirtualTime,
    /// Until when.
    pub(super) until: VirtualTime,
    /// Messages between servers are shown.
    pub(super) between_servers: bool,
    /// What is left out, one sentence each.
    pub(super) notes: Vec<String>,
}

/// What the page has to write of an event besides its words.
const EVENT: usize = 60;
/// The same of a message.
const MESSAGE: usize = 40;

impl Part {
    /// These events, and all that happens meanwhile.
    pub(super) fn of(history: &History, events: Range<usize>) -> Self {
        let at = |index: usize| history.events.get(index).map(|event| event.at);
        let last = at(events.end.saturating_sub(1));
        Self {
            from: match events.start {
                0 => VirtualTime::ZERO,
                start => at(start).unwrap_or_default(),
            },
            until: last.unwrap_or_default(),
            events,
            between_servers: true,
            notes: Vec::new(),
        }
    }

    /// Whether a time lies in it.
    pub(super) fn has(&self, at: VirtualTime) -> bool {
        (self.from..=self.until).contains(&at)
    }

    /// As much around an event as fits into so many bytes of a page.
    pub(super) fn around(
        history: &History,
        traffic: &Traffic,
        middle: usize,
        bytes: usize,
    ) -> Self {
        let all = history.events.len();
        let weights = |between_servers: bool| weights(history, traffic, between_servers);
        let whole = weights(true);
        if whole.iter().sum::<usize>() <= bytes {
            return Self::of(history, 0..all);
        }
        let less = weights(false);
        let events = grow(&less, middle.min(all.saturating_sub(1)), bytes);
        let mut part = Self::of(history, events.clone());
        part.between_servers = false;
        part.notes
            .push("Messages between servers are left out: they do not fit.".to_owned());
        if events != (0..all) {
            part.notes.push(format!(
                "This run is too large for a page: of its {} events, {} are shown, from {} to {}. All that came before \
                 and after is left out.",
                thousands(all as u64),
                thousands(events.len() as u64),
                part.from,
                part.until,
            ));
        }
        part
    }
}

/// What each event takes, with what happens before it.
fn weights(history: &History, traffic: &Traffic, between_servers: bool) -> Vec<usize> {
    let mut weights = vec![EVENT; history.events.len()];
    let last = weights.len().saturating_sub(1);
    let mut add = |after: usize, bytes: usize| {
        if let Some(weight) = weights.get_mut(after.min(last)) {
            *weight += bytes;
        }
    };
    for event in &history.service {
        add(event.after, EVENT);
    }
    let messages = traffic.messages.iter();
    for message in messages.filter(|message| between_servers || !message.between_servers) {
        // Half of them only end others.
        add(message.after, (message.text.len().min(TEXT) + MESSAGE) / 2);
    }
    weights
}

/// The longest stretch around an event that takes no more than so much, growing at both ends alike.
fn grow(weights: &[usize], middle: usize, most: usize) -> Range<usize> {
    let Some(first) = weights.get(middle) else {
        return 0..0;
    };
    let (mut from, mut until, mut taken) = (middle, middle + 1, *first);
    loop {
        let before = from
            .checked_sub(1)
            .filter(|before| taken + weights[*before] <= most);
        if let Some(before) = before {
            from = before;
            taken += weights[before];
        }
        let after = weights.get(until).filter(|weight| taken + **weight <= most);
        if let Some(after) = after {
            until += 1;
            taken += after;
        }
        if before.is_none() && after.is_none() {
            return from..until;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_grows_around_its_middle_until_nothing_fits() {
        let weights = [5, 5, 5, 5, 5];
        assert_eq!(grow(&weights, 2, 15), 1..4);
        assert_eq!(grow(&weights, 0, 15), 0..3);
        assert_eq!(grow(&weights, 4, 1_000), 0..5);
        assert_eq!(grow(&weights, 2, 1), 2..3);
        assert_eq!(grow(&[], 0, 1), 0..0);
    }
}
