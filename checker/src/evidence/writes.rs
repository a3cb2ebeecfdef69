//! Which sending each write that arrived goes back to.

use super::Arrival;
use super::collect::{Collector, Sent};
use crate::{ContenderId, LockId, Token};

impl Collector<'_> {
    pub(super) fn writing(
        &mut self,
        index: usize,
        by: ContenderId,
        lock: LockId,
        token: Option<Token>,
    ) {
        let place = self.sent.len();
        let cell = self.cells.cell(by, lock);
        self.sent.push(Sent {
            event: index,
            token,
            belief: cell.latest,
            next: None,
        });
        match cell.newest_sent.replace(place) {
            Some(before) if cell.oldest_sent.is_some() => self.sent[before].next = Some(place),
            Some(_) | None => cell.oldest_sent = Some(place),
        }
    }

    /// Finds what was sent for what arrived: writes of one contender arrive in the order in which
    /// it sent them, and carry their tokens with them.
    pub(super) fn arrived(
        &mut self,
        event: usize,
        by: ContenderId,
        lock: LockId,
        token: Option<Token>,
        accepted: bool,
    ) {
        let cell = self.cells.cell(by, lock);
        let (mut oldest, mut newest, mut before, mut last) = (None, None, None, None);
        let mut next = cell.oldest_sent;
        while let Some(place) = next {
            if self.sent[place].token == token {
                if oldest.is_none() {
                    (oldest, before) = (Some(place), last);
                }
                newest = Some(place);
            }
            last = Some(place);
            next = self.sent[place].next;
        }
        if oldest.is_none() {
            (oldest, newest) = (cell.oldest_sent, last);
        }
        if let Some(place) = oldest {
            let after = self.sent[place].next;
            match before {
                Some(before) => self.sent[before].next = after,
                None => cell.oldest_sent = after,
            }
            if after.is_none() {
                cell.newest_sent = before;
            }
        }
        let sent = oldest.map(|place| &self.sent[place]);
        let or = newest.filter(|_| newest != oldest).map(|place| {
            let sent = &self.sent[place];
            (sent.event, sent.belief)
        });
        self.found.arrivals.push(Arrival {
            by,
            lock,
            event,
            accepted,
            sent: sent.map(|sent| sent.event),
            belief: sent.map_or(cell.latest, |sent| sent.belief),
            or,
        });
    }

    /// A write that never arrived leaves it open which of its sender's writes did. Only what is
    /// certain may count against a lock, so the youngest that it can have been is taken.
    pub(super) fn settle_doubts(&mut self) {
        for arrival in &mut self.found.arrivals {
            let Some((sent, belief)) = arrival.or else {
                continue;
            };
            let cell = self.cells.cell(arrival.by, arrival.lock);
            if cell.oldest_sent.is_some() {
                (arrival.sent, arrival.belief) = (Some(sent), belief);
            }
        }
    }
}
