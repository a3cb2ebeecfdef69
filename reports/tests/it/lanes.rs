//! What stands in the lanes of a timeline, and in its notes, that servers tell more of.

use crate::common;

use common::{history, story, two_inside, witness};
use picklock_checker::outcome::Story;
use picklock_checker::{
    ContenderId, Disowned, EventKind, Failure, LockId, ServiceAnswer, ServiceEvent,
    ServiceEventKind,
};
use picklock_reports::style::Style;
use picklock_reports::timeline::Detail;

const STYLE: Style = Style {
    color: false,
    ascii: false,
    width: None,
};
const A: ContenderId = ContenderId(0);

fn full(told: &Story) -> String {
    picklock_reports::story::story(told, Detail::Full, &STYLE)
}

fn told(lines: &str, service: &[(usize, ServiceEventKind)]) -> Story {
    let history = history(2, &["lose-reply to contender-1"], lines);
    let told = witness(0, "it is not the point", &[0], &[]);
    let mut told = story("progress", told, history);
    for (after, what) in service {
        told.history.service.push(ServiceEvent {
            at: told.history.events[*after].at,
            after: *after,
            machine: "server-1".to_owned(),
            what: what.clone(),
        });
    }
    told
}

fn begins(session: &str) -> ServiceEventKind {
    ServiceEventKind::SessionEstablished {
        session: session.to_owned(),
        by: A,
    }
}

fn expires(session: &str) -> ServiceEventKind {
    ServiceEventKind::SessionExpired {
        session: session.to_owned(),
        of: Some(A),
    }
}

fn session_lost(told: &mut Story, index: usize) {
    told.history.events[index].what = EventKind::SessionLost { by: A };
}

#[test]
fn the_end_of_a_session_that_was_replaced_is_that_of_the_old_one() {
    let lines = "0 acquire 1
         10 enters 1
         20 expired 1";
    let service = [(0, begins("0x1")), (1, begins("0x2")), (2, expires("0x1"))];
    let text = full(&told(lines, &service));
    assert!(text.contains("┃ old session expires"), "{text}");
    assert!(!text.contains('✗'), "{text}");
    let service = [(0, begins("0x1")), (2, expires("0x1"))];
    let text = full(&told(lines, &service));
    assert!(text.contains("┃ ✗ expired"), "{text}");
}

#[test]
fn a_client_that_decides_itself_has_not_been_told() {
    let lines = "0 acquire 1
         10 enters 1
         20 acquire 2";
    let mut own = told(lines, &[(0, begins("0x1"))]);
    session_lost(&mut own, 2);
    assert!(full(&own).contains("client gives session up"));
    let mut heard = told(lines, &[(0, begins("0x1")), (1, expires("0x1"))]);
    session_lost(&mut heard, 2);
    assert!(full(&heard).contains("told: expired"));
}

#[test]
fn a_refused_call_says_what_the_server_answered() {
    let refused = |service: &[(usize, ServiceEventKind)]| {
        let mut told = told("0 acquire 1\n10 fails 1\n20 acquire 1", service);
        let (by, lock) = (A, LockId(0));
        told.history.events[1].what = EventKind::AcquireFailed {
            by,
            lock,
            why: Failure::Refused,
            definite: true,
        };
        full(&told)
    };
    let error = |error: &str| ServiceEventKind::ErrorReply {
        to: A,
        error: error.to_owned(),
    };
    let text = refused(&[(1, error("LOADING")), (1, error("BUSY"))]);
    assert!(
        text.contains("✗ fails") && text.contains("refused: BUSY"),
        "{text}"
    );
    // What another call was told is not what this one was.
    let text = refused(&[(2, error("BUSY"))]);
    // A recipe may refuse by itself, with its connection up.
    assert!(!text.contains("no connection"), "{text}");
    for text in [text, refused(&[])] {
        assert!(
            text.contains("refused") && !text.contains("refused:"),
            "{text}"
        );
    }
}

#[test]
fn a_fault_names_the_request_and_a_client_what_it_sends_again() {
    let resent = ServiceEventKind::Resent {
        by: A,
        request: "EVAL 59114909".to_owned(),
    };
    let mut told = told("0 acquire 1\n5 fault 1\n10 resent 1", &[(2, resent)]);
    told.history.fault_requests = vec![Some("when its 5th script is committed".to_owned())];
    let text = full(&told);
    let words: Vec<&str> = text
        .split_whitespace()
        .filter(|word| *word != "╎")
        .collect();
    let fault = "fault 1: lose-reply to contender-1, when its 5th script is committed";
    assert!(words.join(" ").contains(fault), "{text}");
    assert!(text.contains("client resends EVAL 59114909"), "{text}");
}

#[test]
fn of_several_locks_the_cast_says_whose_place_it_is_and_which_was_entered() {
    let mut told = two_inside();
    told.history.locks.push("stock-b".to_owned());
    let text = full(&told);
    let cast = "A = contender-1, place 0 (lock-0000000000) of stock, entered stock with token 1";
    assert!(text.contains(cast), "{text}");
}

#[test]
fn a_counted_hold_says_so_and_who_enters_meanwhile_has_a_lane() {
    let lines = "0 acquire 1
         10 enters 1
         20 enters 2
         30 leaves 1
         35 acquire 3
         40 enters 3
         50 leaves 2";
    let history = history(3, &[], lines);
    let mut both = witness(20, "both inside", &[1, 2], &[]);
    both.overlap = Some(std::time::Duration::from_millis(10));
    let mut told = story("mutual-exclusion", both, history);
    told.history.events[4].what = EventKind::Answered {
        by: ContenderId(1),
        lock: LockId(0),
        answer: ServiceAnswer::Counts(2),
    };
    let text = picklock_reports::story::story(&told, Detail::Essential, &STYLE);
    assert!(text.contains("C = contender-3"), "{text}");
    assert!(text.contains("the hold of B counts 2 entries"), "{text}");
}

#[test]
fn what_a_holder_removes_while_it_holds_is_no_release() {
    let removed = |before: &str| {
        let text = format!("0 acquire 1\n5 owns 1\n10 enters 1\n{before}30 disowned 1");
        let mut told = told(&text, &[]);
        for event in &mut told.history.events {
            if let EventKind::Disowned { how, .. } = &mut event.what {
                *how = Disowned::Released;
            }
        }
        full(&told)
    };
    let own = removed("");
    assert!(
        own.contains("no longer: removed by its own request"),
        "{own}"
    );
    let released = removed("20 leaves 1\n");
    assert!(released.contains("no longer: released"), "{released}");
}
