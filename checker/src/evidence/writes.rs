//! Matches each write that arrived with the moment at which it was sent.

use super::Arrival;
use super::collect::{Collector, WriteInFlight};
use crate::{ContenderId, LockId, Token};

impl Collector<'_> {
    pub(super) fn writing(
        &mut self,
        index: usize,
        by: ContenderId,
        lock: LockId,
        token: Option<Token>,
    ) {
        let position = self.sent.len();
        let cell = self.cells.cell(by, lock);
        self.sent.push(WriteInFlight {
            event: index,
            token,
            belief: cell.latest,
            next: None,
        });
        match cell.newest_sent.replace(position) {
            Some(before) if cell.oldest_sent.is_some() => self.sent[before].next = Some(position),
            Some(_) | None => cell.oldest_sent = Some(position),
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
        while let Some(index) = next {
            if self.sent[index].token == token {
                if oldest.is_none() {
                    (oldest, before) = (Some(index), last);
                }
                newest = Some(index);
            }
            last = Some(index);
            next = self.sent[index].next;
        }
        if oldest.is_none() {
            (oldest, newest) = (cell.oldest_sent, last);
        }
        if let Some(index) = oldest {
            let after = self.sent[index].next;
            match before {
                Some(before) => self.sent[before].next = after,
                None => cell.oldest_sent = after,
            }
            if after.is_none() {
                cell.newest_sent = before;
            }
        }
        let sent = oldest.map(|index| &self.sent[index]);
        let or = newest.filter(|_| newest != oldest).map(|index| {
            let sent = &self.sent[index];
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
