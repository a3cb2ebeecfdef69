//! The search for an order.

use std::collections::BTreeMap;

use super::{CallKind, Calls, Store};

/// An order of the writes that explains all answers, if there is one: then
/// [`check_order`](super::check_order) accepts it. Writes that were not answered are in it where they must be.
///
/// It takes time that can double with each write that was under way at the same time as others, and with each that was
/// not answered.
pub fn find_order<S: Store>(start: &S, calls: &Calls<S>) -> Option<Vec<usize>> {
    let unknown = |call: &super::Call<_, _>| call.kind == CallKind::Read && call.answered.is_none();
    let mut search = Search {
        calls,
        in_vain: BTreeMap::new(),
    };
    search.go_on(Point {
        copy: start.clone(),
        done: calls.iter().map(unknown).collect(),
        order: Vec::new(),
        last_asked: 0,
    })
}

struct Search<'c, S: Store> {
    calls: &'c Calls<S>,
    /// From where it found nothing: what was done, after how many writes, the last of which was asked when, and what
    /// the copy showed.
    in_vain: BTreeMap<Vec<bool>, Vec<(usize, u64, S)>>,
}

/// How far it has come.
#[derive(Clone)]
struct Point<S> {
    copy: S,
    /// Calls that have been accounted for.
    done: Vec<bool>,
    order: Vec<usize>,
    /// When the one of the order was asked that was asked last.
    last_asked: u64,
}

impl<S: Store> Search<'_, S> {
    fn go_on(&mut self, mut point: Point<S>) -> Option<Vec<usize>> {
        self.read(&mut point);
        let open = |call: &usize| !point.done[*call] && self.calls[*call].answered.is_some();
        let mut left = (0..self.calls.len()).filter(open).peekable();
        if left.peek().is_none() {
            return Some(point.order);
        }
        // A read that was answered before the last write was asked cannot come after that write.
        let is_late = |call: usize| {
            let call = &self.calls[call];
            let at = call.answered.as_ref().map(|told| told.at);
            call.kind == CallKind::Read && at.is_some_and(|at| at < point.last_asked)
        };
        let known = self.in_vain.get(&point.done).is_some_and(|known| {
            let here = (point.order.len(), point.last_asked, &point.copy);
            known
                .iter()
                .any(|(count, last, copy)| (*count, *last, copy) == here)
        });
        if known || left.any(is_late) {
            return None;
        }
        for call in 0..self.calls.len() {
            if let Some(next) = self.write(&point, call)
                && let Some(found) = self.go_on(next)
            {
                return Some(found);
            }
        }
        let here = (point.order.len(), point.last_asked, point.copy);
        self.in_vain.entry(point.done).or_default().push(here);
        None
    }

    /// Accounts for every read that the copy answers so: to read early never hurts.
    fn read(&self, point: &mut Point<S>) {
        for (index, call) in self.calls.iter().enumerate() {
            let Some(told) = &call.answered else {
                continue;
            };
            let is_said = told.as_of.is_none_or(|as_of| as_of == point.order.len());
            if call.kind == CallKind::Read
                && !point.done[index]
                && is_said
                && point.last_asked <= told.at
                && self.is_next(point, index)
                && point.copy.clone().answer(call.session, &call.request) == told.answer
            {
                point.done[index] = true;
            }
        }
    }

    /// The point at which this write comes next, if it can.
    fn write(&self, point: &Point<S>, index: usize) -> Option<Point<S>> {
        let call = &self.calls[index];
        let in_time = |other: usize| {
            let earlier = self.calls[other].answered.as_ref().map(|told| told.at);
            let writes = self.calls[other].kind == CallKind::Write;
            point.done[other] || !writes || earlier.is_none_or(|at| at >= call.asked)
        };
        let can = call.kind == CallKind::Write && !point.done[index] && self.is_next(point, index);
        if !can || !(0..self.calls.len()).all(in_time) {
            return None;
        }
        let mut next = point.clone();
        let answer = next.copy.answer(call.session, &call.request);
        if call
            .answered
            .as_ref()
            .is_some_and(|told| told.answer != answer)
        {
            return None;
        }
        // What its session has written before, and what has not been done by now, never will.
        for (other, done) in next.done[..=index].iter_mut().enumerate() {
            *done |= self.calls[other].session == call.session;
        }
        next.order.push(index);
        next.last_asked = next.last_asked.max(call.asked);
        Some(next)
    }

    /// Whether its session has come to this call. It does not wait for writes that were not answered.
    fn is_next(&self, point: &Point<S>, index: usize) -> bool {
        (0..index).all(|earlier| {
            let other = &self.calls[earlier];
            let waits = other.session == self.calls[index].session && other.answered.is_some();
            point.done[earlier] || !waits
        })
    }
}
