//! Tests of the judgement of orders, and of the search for one.

use super::*;
use proptest::prelude::*;

/// A register: `Some` sets it and answers what it was, `None` reads it.
#[derive(Clone, Debug, PartialEq)]
struct Register(u8);

impl Store for Register {
    type Request = Option<u8>;
    type Answer = u8;
    fn answer(&mut self, _session: u32, request: &Option<u8>) -> u8 {
        match request {
            Some(value) => std::mem::replace(&mut self.0, *value),
            None => self.0,
        }
    }
}

type Op = Call<Option<u8>, u8>;

const START: Register = Register(0);

fn write(session: u32, value: u8, from: u64, told: Option<(u64, u8)>) -> Op {
    Call {
        session,
        request: Some(value),
        kind: CallKind::Write,
        asked: from,
        answered: told.map(|(at, answer)| Answered {
            at,
            answer,
            as_of: None,
        }),
    }
}

fn read(session: u32, from: u64, until: u64, answer: u8) -> Op {
    let as_of = None;
    Call {
        request: None,
        kind: CallKind::Read,
        answered: Some(Answered {
            at: until,
            answer,
            as_of,
        }),
        ..write(session, 0, from, None)
    }
}

/// A read that must not be stale.
fn fresh(session: u32, from: u64, until: u64, answer: u8) -> Op {
    Call {
        kind: CallKind::Write,
        ..read(session, from, until, answer)
    }
}

#[test]
fn a_read_may_be_stale_unless_it_has_a_place_in_the_order() {
    let done = write(0, 1, 0, Some((1, 0)));
    let stale = [done.clone(), read(1, 5, 6, 0)];
    assert_eq!(check_order(&START, &stale, &[0]), Ok(()));
    let old = [done, fresh(1, 5, 6, 0)];
    let late = Disorder::Late { call: 0, behind: 1 };
    assert_eq!(check_order(&START, &old, &[0, 1]), Err(Disorder::Wrong(1)));
    assert_eq!(check_order(&START, &old, &[1, 0]), Err(late));
    assert_eq!(find_order(&START, &old), None);
}

#[test]
fn a_session_does_not_go_back() {
    let calls = [
        write(0, 1, 0, Some((1, 0))),
        read(1, 2, 3, 1),
        read(1, 4, 5, 0),
    ];
    let unseen = Err(Disorder::Unseen(2));
    assert_eq!(check_order(&START, &calls, &[0]), unseen);
    assert_eq!(find_order(&START, &calls), None);
    // Another session may lag behind it.
    let mut others = calls;
    others[2].session = 2;
    assert_eq!(check_order(&START, &others, &[0]), Ok(()));
}

#[test]
fn a_session_sees_what_it_has_written() {
    let calls = [write(0, 1, 0, Some((1, 0))), read(0, 2, 3, 0)];
    let unseen = Err(Disorder::Unseen(1));
    assert_eq!(check_order(&START, &calls, &[0]), unseen);
    // It is not bound by a write whose answer it never had, though that was done.
    let unanswered = [write(0, 1, 0, None), read(0, 2, 3, 0), read(1, 4, 5, 1)];
    assert_eq!(check_order(&START, &unanswered, &[0]), Ok(()));
    assert_eq!(find_order(&START, &unanswered), Some(vec![0]));
}

#[test]
fn a_write_that_was_not_answered_is_done_at_any_time_or_never() {
    let lost = write(0, 1, 0, None);
    for (answer, order) in [(0, vec![]), (1, vec![0])] {
        let calls = [lost.clone(), read(1, 9, 10, answer)];
        assert_eq!(find_order(&START, &calls), Some(order));
    }
    // But not before it was asked, and not when its session has written something else since.
    let early = [read(1, 2, 3, 1), write(0, 1, 4, None)];
    assert_eq!(find_order(&START, &early), None);
    let turned = [write(0, 1, 0, None), write(0, 2, 5, Some((6, 0)))];
    assert_eq!(find_order(&START, &turned), Some(vec![1]));
    let never = [turned.to_vec(), vec![read(1, 7, 8, 2), read(1, 9, 10, 1)]].concat();
    assert_eq!(find_order(&START, &never), None);
    let turn = Err(Disorder::OutOfTurn(1));
    assert_eq!(check_order(&START, &turned, &[1, 0]), turn);
}

#[test]
fn an_answer_that_says_what_it_is_of_is_of_that() {
    let mut calls = [write(0, 0, 0, Some((1, 0))), read(1, 2, 3, 0)];
    let mut as_of = |count| {
        calls[1].answered.as_mut().expect("it was answered").as_of = Some(count);
        (
            check_order(&START, &calls, &[0]),
            find_order(&START, &calls),
        )
    };
    assert_eq!(as_of(1), (Ok(()), Some(vec![0])));
    assert_eq!(as_of(2), (Err(Disorder::Unseen(1)), None));
}

#[test]
fn what_is_no_order_of_the_writes_is_refused() {
    let calls = [write(0, 1, 0, Some((1, 0))), read(1, 2, 3, 1)];
    let misplaced = |call| Err(Disorder::Misplaced(call));
    assert_eq!(check_order(&START, &calls, &[]), Err(Disorder::Missing(0)));
    assert_eq!(check_order(&START, &calls, &[0, 0]), misplaced(0));
    assert_eq!(check_order(&START, &calls, &[0, 1]), misplaced(1));
    assert_eq!(check_order(&START, &calls, &[0, 7]), misplaced(7));
}

/// The promise as it is said, by trying everything: a place for each write, and for each read a state.
fn holds(calls: &[Op], order: &[usize]) -> bool {
    let index = |call: usize| order.iter().position(|other| *other == call);
    let is_write = |call: &usize| calls[*call].kind == CallKind::Write;
    let at = |call: usize| calls[call].answered.as_ref().map(|told| told.at);
    let once = order
        .iter()
        .enumerate()
        .all(|(i, call)| is_write(call) && !order[..i].contains(call));
    let all = (0..calls.len())
        .all(|call| !is_write(&call) || at(call).is_none() || index(call).is_some());
    let in_time = order.iter().enumerate().all(|(i, later)| {
        let before = |earlier: &usize| at(*later).is_none_or(|at| at >= calls[*earlier].asked);
        order[..i].iter().all(before)
    });
    let mut states = vec![START];
    let mut right = true;
    for call in order {
        let mut next = states[states.len() - 1].clone();
        let answer = next.answer(0, &calls[*call].request);
        right &= calls[*call]
            .answered
            .as_ref()
            .is_none_or(|told| told.answer == answer);
        states.push(next);
    }
    once && all && in_time && right && reads_fit(calls, order, &states, &mut Vec::new())
}

/// Whether there is a state for this read and all later ones. What a call is of is told before the calls after it.
fn reads_fit(
    calls: &[Op],
    order: &[usize],
    states: &[Register],
    chosen: &mut Vec<Option<usize>>,
) -> bool {
    let number = chosen.len();
    let Some(call) = calls.get(number) else {
        return true;
    };
    let mine = |(_, other): &(usize, &Op)| other.session == call.session;
    let earlier: Vec<(usize, &Op)> = calls[..number].iter().enumerate().filter(mine).collect();
    let index = order.iter().position(|other| *other == number);
    let options: Vec<Option<usize>> = match (call.kind, &call.answered) {
        (CallKind::Write, _) => vec![index.map(|index| index + 1)],
        (CallKind::Read, None) => vec![None],
        (CallKind::Read, Some(told)) => {
            let fits = |count: &usize| {
                let later = |write: &usize| calls[*write].asked > told.at;
                states[*count].0 == told.answer && !order[..*count].iter().any(later)
            };
            (0..states.len()).filter(fits).map(Some).collect()
        }
    };
    if options.is_empty() {
        return false;
    }
    for option in options {
        let forward = option.is_none_or(|here| {
            earlier.iter().all(|(other, before)| {
                let binds = before.answered.is_some() || call.kind == CallKind::Write;
                let after = |there| {
                    if call.kind == CallKind::Write {
                        there < here
                    } else {
                        there <= here
                    }
                };
                // A write comes after the states that were read: it makes the next one.
                !binds || chosen[*other].is_none_or(after)
            })
        });
        chosen.push(option);
        let fits = forward && reads_fit(calls, order, states, chosen);
        chosen.pop();
        if fits {
            return true;
        }
    }
    false
}

/// Every order of some of the writes.
fn orders(calls: &[Op]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    let mut index = 0;
    while index < all.len() {
        let known: Vec<usize> = all[index].clone();
        for call in (0..calls.len()).filter(|call| !known.contains(call)) {
            if calls[call].kind == CallKind::Write {
                all.push(known.iter().copied().chain([call]).collect());
            }
        }
        index += 1;
    }
    all
}

/// A few sessions, each with one call after the other.
fn calls() -> impl Strategy<Value = Vec<Op>> {
    let call = (0..3_u32, 0..3_u8, 0..3_u8, (0..4_u64, 0..4_u64), 0..3_u8);
    prop::collection::vec(call, 0..7).prop_map(|all| {
        let mut clocks = [0_u64; 3];
        let mut writes = 0;
        let made = all
            .into_iter()
            .map(|(session, value, answer, (wait, takes), what)| {
                let clock = &mut clocks[session as usize];
                let from = *clock + wait;
                *clock = from + takes;
                if what == 0 || writes >= 4 {
                    return read(session, from, *clock, answer);
                }
                writes += 1;
                let told = (what == 1 || value > 0).then_some((*clock, answer));
                write(session, value, from, told)
            });
        made.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_say_what_trying_everything_says(calls in calls()) {
        let mut some = false;
        for order in orders(&calls) {
            let judged = check_order(&START, &calls, &order);
            prop_assert_eq!(judged.is_ok(), holds(&calls, &order), "{:?} {:?}", order, judged);
            some |= judged.is_ok();
        }
        let found = find_order(&START, &calls);
        prop_assert_eq!(found.is_some(), some, "{:?}", found);
        if let Some(order) = found {
            prop_assert_eq!(check_order(&START, &calls, &order), Ok(()));
        }
    }
}
