//! Hand-written runs, one line per event.

pub mod hostile;
pub mod outcome;
use std::collections::BTreeMap;
use std::time::Duration;

use picklock_checker::outcome::Story;
use picklock_checker::{
    ContenderId, Disowned, Ended, Event, EventKind, Failure, FaultId, History, Knowledge, LockId,
    Mode, NameId, ServerChange, ServerId, Step, Token, VirtualTime, Witness,
};

const LOCK: LockId = LockId(0);

/// A history from lines like `12 enters 1 token=1`: milliseconds, what, contender, number.
pub fn history(contenders: u32, faults: &[&str], lines: &str) -> History {
    let mut history = History {
        contenders: (1..=contenders).map(|n| format!("contender-{n}")).collect(),
        tasks_per_process: 0,
        locks: vec!["stock".to_owned()],
        vocabulary: Default::default(),
        faults: faults.iter().map(|&fault| fault.to_owned()).collect(),
        fault_requests: Vec::new(),
        names: (0..100)
            .map(|n| format!("/locks/stock/lock-{n:010}"))
            .collect(),
        events: Vec::new(),
        service: Vec::new(),
        scripts: BTreeMap::new(),
        not_modelled: None,
        broken: None,
        too_long: None,
    };
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.split_whitespace();
        let at: f64 = parse(words.next());
        let verb = words.next().expect("a time is followed by a word");
        let rest: Vec<i64> = words.map(|word| parse(Some(word))).collect();
        history.events.push(Event {
            at: VirtualTime::from_micros((at * 1_000.0) as u64),
            what: what(verb, &rest),
        });
    }
    history
}

fn parse<T: std::str::FromStr>(word: Option<&str>) -> T {
    let number = word.and_then(|word| word.parse().ok());
    number.unwrap_or_else(|| panic!("expected a number, found {word:?}"))
}

fn what(verb: &str, rest: &[i64]) -> EventKind {
    let (lock, mode) = (LOCK, Mode::Exclusive);
    let by = ContenderId(rest.first().map_or(0, |&n| n.max(1) as u32 - 1));
    let number = rest.get(1).copied();
    let token = number.map(|number| Token(number as u64));
    let place = number.unwrap_or_default() as u64;
    let name = NameId(number.unwrap_or_default() as u32);
    match verb {
        "acquire" => EventKind::AcquireStarted { by, lock, mode },
        "queued" => EventKind::Queued {
            by,
            lock,
            place,
            name,
            mode,
        },
        "unqueued" => EventKind::Unqueued {
            by,
            lock,
            place,
            name,
        },
        "enters" => EventKind::Acquired {
            by,
            lock,
            token,
            mode,
        },
        "fails" => EventKind::AcquireFailed {
            by,
            lock,
            why: Failure::ConnectionLoss,
            definite: false,
        },
        "leaves" => EventKind::ReleaseStarted { by, lock },
        "released" => EventKind::Released { by, lock },
        "lost" => EventKind::Lost {
            by,
            lock,
            why: Failure::SessionExpired,
        },
        "knew" => EventKind::CouldHaveKnown {
            by,
            lock,
            since: VirtualTime::from_micros(place * 1_000),
            how: Knowledge::Refused,
        },
        "cancelled" => EventKind::Cancelled { by, lock },
        "paused" => EventKind::Paused { by },
        "resumes" => EventKind::Resumed { by },
        "crashed" => EventKind::Crashed { by },
        "restarts" => EventKind::Restarted { by },
        "disconnected" => EventKind::Disconnected { by },
        "reconnected" => EventKind::Reconnected { by },
        "resent" => EventKind::Resent { by },
        "expired" => EventKind::SessionExpired { by },
        "owns" => EventKind::Owned {
            by,
            lock,
            token: token.unwrap_or(Token(0)),
            name: NameId(0),
            mode,
        },
        "disowned" => EventKind::Disowned {
            by,
            lock,
            token: token.unwrap_or(Token(0)),
            how: Disowned::Expired,
        },
        "writing" => EventKind::Writing { by, lock, token },
        "accepted" | "rejected" => EventKind::Effect {
            by,
            lock,
            token,
            before: rest[2],
            after: rest[3],
            based_on: None,
            accepted: verb == "accepted",
        },
        "fault" => EventKind::FaultFired {
            fault: FaultId(by.0),
        },
        "healed" => EventKind::FaultHealed {
            fault: FaultId(by.0),
        },
        "promoted" => EventKind::ServerChanged {
            server: ServerId(by.0),
            to: ServerChange::Promoted,
        },
        "calm" => EventKind::CalmBegan,
        "bound" => EventKind::Ended {
            why: Ended::BoundReached,
        },
        "waits" => EventKind::StillWaiting {
            by,
            lock,
            behind: number.map(|_| name),
            owner: rest.get(2).map(|&owner| ContenderId(owner as u32 - 1)),
        },
        "leftover" => EventKind::Leftover {
            lock,
            name,
            owner: Some(by),
        },
        other => panic!("no such event: {other}"),
    }
}

/// A witness of the events at these places; each step is `("then" or "however", text)`.
pub fn witness(at: u64, summary: &str, events: &[usize], argument: &[(&str, &str)]) -> Witness {
    let step = |&(word, text): &(&str, &str)| match word {
        "then" => Step::Then(text.to_owned()),
        _ => Step::However(text.to_owned()),
    };
    Witness {
        summary: summary.to_owned(),
        at: VirtualTime::from_micros(at * 1_000),
        overlap: None,
        events: events.to_vec(),
        argument: argument.iter().map(step).collect(),
    }
}

/// A run that violates something.
pub fn story(invariant: &str, witness: Witness, history: History) -> Story {
    Story {
        seed: 4127,
        hash: 0x00c0_ffee_0bad_f00d,
        violated: Some((invariant.to_owned(), witness)),
        also: Vec::new(),
        history,
        replay: "picklock replay zookeeper/waiter-death --case zk-no-recheck --seed 4127"
            .to_owned(),
        why: None,
        smaller: None,
        reproduction: None,
    }
}

/// The death of a waiter hands the lock to the one behind it.
pub fn two_inside() -> Story {
    let history = history(
        3,
        &["expire-session contender-2"],
        "0     acquire 1
         4     queued 1 0
         8     owns 1 1
         12    enters 1 1
         40    acquire 2
         44    queued 2 1
         80    acquire 3
         84    queued 3 2
         2000  fault 1
         2000  expired 2
         2000  unqueued 2 1
         2000  enters 3 3
         10012 leaves 1
         10014 disowned 1 1
         12000 leaves 3",
    );
    let argument = [
        (
            "then",
            "contender-1 is inside until 10.012 s, because nothing ended its hold before it left.",
        ),
        (
            "however",
            "contender-3 is inside from 2.000 s, because the ticket it watched, contender-2's, was \
             gone.",
        ),
        (
            "however",
            "contender-2 was a waiter, so contender-1's hold had not ended",
        ),
    ];
    let summary = "contender-1 and contender-3 both inside for 8.012 s";
    let mut witness = witness(2000, summary, &[3, 11, 12], &argument);
    witness.overlap = Some(Duration::from_millis(8_012));
    story("mutual-exclusion", witness, history)
}
