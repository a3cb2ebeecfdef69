//! One order of all writes, and what readers may see of it: what a replicated store promises its clients.
//!
//! Nothing here knows of locks. A history is a list of [`Call`]s, each with when it was asked and answered; a [`Store`]
//! says how one copy would answer them one after the other. The store keeps its promise if there is an **order** of its
//! writes such that
//!
//! - every write that was answered has one place in it, and one that was not has one at most;
//! - a write that was answered before another was asked comes before it, and so do earlier writes of the same session;
//! - one copy that does the writes in this order gives their answers;
//! - what a session reads is the state after some of the first writes of the order, among them none that was asked only
//!   when the read was answered; and the session never goes back: its next call is of the same state or a later one,
//!   and of none before a write of its own that was answered.
//!
//! A read that must not be stale takes a place in the order like a write ([`CallKind::Write`]). If all do, this is
//! linearizability.
//!
//! # Source
//!
//! Herlihy and Wing, *Linearizability* (1990). That writes are linearizable, and a session reads states of the
//! order that do not go back, is in ZooKeeper's Programmer's Guide, *Consistency Guarantees* (sequential consistency,
//! atomicity, single system image, reliability). The search is Wing and Gong's (1993), which remembers where it was in
//! vain (Lowe, 2017).

mod search;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

pub use search::find_order;

/// A sequential specification: one copy of the store, which performs one request after the other.
pub trait Store: Clone + PartialEq {
    /// What can be asked.
    type Request;
    /// What can be answered.
    type Answer: PartialEq;
    /// Does what a session asks, and answers.
    fn answer(&mut self, session: u32, request: &Self::Request) -> Self::Answer;
}

/// Whether a call has a place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// It has: it changes something, or must see everything that was done before.
    Write,
    /// It has none: it sees some state of the order, and changes nothing.
    Read,
}

/// Something that was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Call<R, A> {
    /// The session that called. Its calls are listed in the order in which it made them.
    pub session: u32,
    /// The request.
    pub request: R,
    /// Whether it has a place in the order.
    pub kind: CallKind,
    /// When, by a clock that all sessions share.
    pub asked: u64,
    /// What came of it; `None` without an answer: a write may have been done, or may yet.
    pub answered: Option<Answered<A>>,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered<A> {
    /// When, by the same clock; not before it was asked.
    pub at: u64,
    /// What was answered.
    pub answer: A,
    /// Of how many of the first writes the answer is, if it says so. Looked at in reads.
    pub as_of: Option<usize>,
}

/// The calls of a store, in the order in which each session made its own.
pub type Calls<S> = [Call<<S as Store>::Request, <S as Store>::Answer>];

/// How an order contradicts the calls, which are named by their places in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disorder {
    /// What is in the order is no write, or is there twice.
    Misplaced(usize),
    /// A write was answered, and has no place.
    Missing(usize),
    /// A write comes later than one that was asked only when it was answered.
    Late {
        /// The one that comes too late.
        call: usize,
        /// The one that was asked later.
        behind: usize,
    },
    /// A write comes earlier than a call that its session made before, or than the state that this was of.
    OutOfTurn(usize),
    /// One copy would have answered something else.
    Wrong(usize),
    /// What was read is no state that the session may see then: it never was, or is too old, or was yet to come.
    Unseen(usize),
}

impl fmt::Display for Disorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misplaced(call) => {
                write!(f, "call {call} has no place in the order, or one only")
            }
            Self::Missing(call) => write!(f, "call {call} was answered, and never took effect"),
            Self::Late { call, behind } => {
                write!(
                    f,
                    "call {call} was answered before call {behind} was asked, which took effect first"
                )
            }
            Self::OutOfTurn(call) => write!(
                f,
                "call {call} took effect before what its session had done or seen"
            ),
            Self::Wrong(call) => write!(f, "call {call} was answered as one copy would not"),
            Self::Unseen(call) => write!(f, "call {call} read what its session could not see then"),
        }
    }
}

/// Whether the calls can have been answered so if the writes took effect in this order, by their places in the list.
///
/// # Errors
///
/// What contradicts it first.
pub fn check_order<S: Store>(start: &S, calls: &Calls<S>, order: &[usize]) -> Result<(), Disorder> {
    let indices = indices(calls, order)?;
    writes_agree_with_time(calls, order)?;
    let states = states(start, calls, order)?;
    sessions_go_forward(&states, calls, order, &indices)
}

/// Where each write is.
fn indices<R, A>(
    calls: &[Call<R, A>],
    order: &[usize],
) -> Result<BTreeMap<usize, usize>, Disorder> {
    let mut indices = BTreeMap::new();
    for (index, call) in order.iter().enumerate() {
        let writes = calls
            .get(*call)
            .is_some_and(|call| call.kind == CallKind::Write);
        if !writes || indices.insert(*call, index).is_some() {
            return Err(Disorder::Misplaced(*call));
        }
    }
    let needs = |call: &Call<R, A>| call.kind == CallKind::Write && call.answered.is_some();
    let lost = (0..calls.len()).find(|call| needs(&calls[*call]) && !indices.contains_key(call));
    lost.map_or(Ok(indices), |call| Err(Disorder::Missing(call)))
}

fn writes_agree_with_time<R, A>(calls: &[Call<R, A>], order: &[usize]) -> Result<(), Disorder> {
    let mut last: Option<usize> = None;
    for &call in order {
        if let (Some(answered), Some(behind)) = (&calls[call].answered, last)
            && answered.at < calls[behind].asked
        {
            return Err(Disorder::Late { call, behind });
        }
        last = last
            .filter(|last| calls[*last].asked >= calls[call].asked)
            .or(Some(call));
    }
    Ok(())
}

/// What one copy shows after none of the writes, after the first, and so on.
fn states<S: Store>(start: &S, calls: &Calls<S>, order: &[usize]) -> Result<Vec<S>, Disorder> {
    let mut states = vec![start.clone()];
    let mut copy = start.clone();
    for &index in order {
        let call = &calls[index];
        let answer = copy.answer(call.session, &call.request);
        let told = call.answered.as_ref();
        if told.is_some_and(|told| told.answer != answer) {
            return Err(Disorder::Wrong(index));
        }
        states.push(copy.clone());
    }
    Ok(states)
}

fn sessions_go_forward<S: Store>(
    states: &[S],
    calls: &Calls<S>,
    order: &[usize],
    indices: &BTreeMap<usize, usize>,
) -> Result<(), Disorder> {
    // How many of the writes a session has seen, and behind how many its writes must come.
    let mut seen: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for (number, call) in calls.iter().enumerate() {
        let (floor, turn) = seen.entry(call.session).or_default();
        match (call.kind, &call.answered, indices.get(&number)) {
            (CallKind::Write, answered, Some(index)) => {
                if *index < (*floor).max(*turn) {
                    return Err(Disorder::OutOfTurn(number));
                }
                *turn = index + 1;
                if answered.is_some() {
                    *floor = index + 1;
                }
            }
            (CallKind::Read, Some(told), _) => {
                let asked_later = |write: &usize| calls[*write].asked > told.at;
                let known = order.iter().position(asked_later).unwrap_or(order.len());
                let shows = |count: &usize| {
                    let mut copy = states[*count].clone();
                    let is_said = told.as_of.is_none_or(|as_of| as_of == *count);
                    is_said && copy.answer(call.session, &call.request) == told.answer
                };
                let found = (*floor..=known).find(shows);
                *floor = found.ok_or(Disorder::Unseen(number))?;
            }
            (CallKind::Write, _, None) | (CallKind::Read, None, _) => {}
        }
    }
    Ok(())
}
