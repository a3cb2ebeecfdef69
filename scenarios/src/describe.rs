//! Faults and triggers as people read them: `pause contender-1 for 20s when contender-1 has
//! acquired`.
//!
//! Each fault is called by the name that it has in scenario files.

use picklock_algorithms::clients::RequestKind;
use picklock_checker::lists;
use picklock_sim::plan::{
    ContenderName, Direction, Fault, FaultDuration, FaultKind, Field, LockCall, LockName,
    PlannedFault, Repeat, ServerName, Trigger,
};

use crate::units::{write_duration, write_range};

/// A text of several lines as one.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A contender's name: `contender-1`.
pub fn contender(name: ContenderName) -> String {
    format!("contender-{}", u64::from(name.0) + 1)
}

/// A lock's name: `lock-a`.
pub fn lock(name: LockName) -> String {
    format!("lock-{}", name.letter())
}

/// A server's name: `leader`, `primary`, `follower-1`, `observer-1`, `server-2`, `server-of-contender-1`.
pub fn server(name: ServerName) -> String {
    match name {
        ServerName::Leader => "leader".to_owned(),
        ServerName::Primary => "primary".to_owned(),
        ServerName::Follower(index) => format!("follower-{}", u64::from(index) + 1),
        ServerName::Observer(index) => format!("observer-{}", u64::from(index) + 1),
        ServerName::Of(of) => format!("server-of-{}", contender(of)),
        ServerName::Number(index) => format!("server-{}", u64::from(index) + 1),
        ServerName::Sentinel(index) => format!("sentinel-{}", u64::from(index) + 1),
    }
}

/// A fault and when it happens: `cut contender-2 5ms after contender-2 has acquired`.
pub fn planned(fault: &PlannedFault) -> String {
    let what = match fault.repeat {
        None => self::fault(&fault.inject),
        repeat => repeated(&fault.inject, repeat) + ",",
    };
    let after = write_duration(fault.after);
    match (&fault.when, fault.after.is_zero()) {
        (Trigger::At(at), _) => {
            let at = at.saturating_add(fault.after);
            format!("{what} at {}", write_duration(at))
        }
        (when, true) => format!("{what} when {}", trigger(when)),
        (when, false) => format!("{what} {after} after {}", trigger(when)),
    }
}

/// At which request a fault strikes, if it waits for one, as a clause: `when its create is committed`. The contender
/// that is struck is not named again.
pub fn request(fault: &PlannedFault) -> Option<String> {
    let by = match fault.when {
        Trigger::Sent { by, .. }
        | Trigger::Proposed { by, .. }
        | Trigger::Committed { by, .. }
        | Trigger::Answered { by, .. }
        | Trigger::Streamed { by, .. }
        | Trigger::Applied { by, .. } => contender(by),
        _ => return None,
    };
    let mut clause = trigger(&fault.when);
    let struck = self::fault(&fault.inject);
    if struck.split_whitespace().any(|word| word == by) {
        clause = clause.replace(&format!("{by}'s "), "its ");
        clause = clause.replace(&format!("{by} "), "it ");
    }
    Some(match fault.after.is_zero() {
        true => format!("when {clause}"),
        false => format!("{} after {clause}", write_duration(fault.after)),
    })
}

/// What a trigger waits for, as a clause: `contender-1 has acquired`.
pub fn trigger(trigger: &Trigger) -> String {
    let done = |by: &ContenderName, does: &str, nth: &u32| {
        let again = match nth {
            1 => String::new(),
            nth => format!(" for the {} time", ordinal(*nth)),
        };
        format!("{} {does}{again}", contender(*by))
    };
    match trigger {
        Trigger::At(at) => format!("{} have passed", write_duration(*at)),
        Trigger::Acquiring { by, nth } => done(by, "calls acquire", nth),
        Trigger::Queued { by, nth } => done(by, "is in the queue", nth),
        Trigger::Waiting { by, nth } => done(by, "waits", nth),
        Trigger::Acquired { by, nth } => done(by, "has acquired", nth),
        Trigger::Writing { by, nth } => done(by, "is about to write", nth),
        Trigger::Releasing { by, nth } => done(by, "calls release", nth),
        Trigger::Released { by, nth } => done(by, "has released", nth),
        Trigger::Sent {
            request,
            by,
            nth,
            at,
        } => sends(*request, *by, *nth, *at),
        Trigger::Proposed { request, by, nth } => {
            format!("the leader has proposed {}", of(*request, *by, *nth))
        }
        Trigger::Committed { request, by, nth } => {
            format!("{} is committed", of(*request, *by, *nth))
        }
        Trigger::Answered {
            request,
            by,
            nth,
            at,
        } => format!(
            "{} is answered{}",
            of(*request, *by, *nth),
            beside(" by ", *at)
        ),
        Trigger::Received {
            request,
            by,
            nth,
            at,
        } => {
            let (what, from) = (of(*request, *by, *nth), beside(" of ", *at));
            format!("the answer{from} to {what} has been received")
        }
        Trigger::Streamed { request, by, nth } => {
            format!(
                "the primary has sent its replicas {}",
                of(*request, *by, *nth)
            )
        }
        Trigger::Applied {
            request,
            by,
            nth,
            at,
        } => format!("{} has {}", server(*at), of(*request, *by, *nth)),
        Trigger::Told { by, nth } => done(by, "is sent a message", nth),
        Trigger::SessionExpired { by } => format!("the session of {} has expired", contender(*by)),
        Trigger::Disconnected { by, nth } => done(by, "loses its connection", nth),
        Trigger::Reconnected { by, nth } => done(by, "is connected again", nth),
        Trigger::SessionLost { by, nth } => done(by, "learns that its session is gone", nth),
        Trigger::Elected { nth: 1 } => "another server leads".to_owned(),
        Trigger::Elected { nth } => format!("another server leads for the {} time", ordinal(*nth)),
        Trigger::Fired { fault } => format!("fault {} has fired", fault.saturating_add(1)),
    }
}

/// What breaks, and how often: `cut contender-1, 3 times, every 2s`.
pub fn repeated(inject: &Fault, repeat: Option<Repeat>) -> String {
    let text = fault(inject);
    match repeat {
        None => text,
        Some(Repeat { times, every: None }) => format!("{text}, {times} times"),
        Some(Repeat {
            times,
            every: Some(every),
        }) => format!("{text}, {times} times, every {}", write_duration(every)),
    }
}

/// Updates the text of a fault that has been changed.
pub fn update_text(fault: &mut PlannedFault) {
    fault.text = repeated(&fault.inject, fault.repeat);
}

/// What breaks: `pause contender-1 for 20s`.
pub fn fault(fault: &Fault) -> String {
    let fields = fault.fields();
    let mut text = String::new();
    let mut rest = FaultKind::of(fault).spec().sentence;
    while let Some((before, (keys, after))) = rest
        .split_once('{')
        .and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    {
        text += before;
        let named = fields
            .iter()
            .filter(|(key, _)| keys.split('+').any(|named| named == *key));
        let words: Vec<String> = named.flat_map(|(key, field)| words(key, field)).collect();
        text += &listed(&words);
        rest = after;
    }
    text += rest;
    text.trim_end().to_owned()
}

/// What a field of a fault says: one clause, or several names.
fn words(key: &str, field: &Field) -> Vec<String> {
    let time = |duration| match key {
        "for" => format!("for {}", write_duration(duration)),
        _ => write_duration(duration),
    };
    let clause = match field {
        Field::Contender(name) => contender(*name),
        Field::Server(name) => server(*name),
        Field::Contenders(names) => return names.iter().map(|name| contender(*name)).collect(),
        Field::Servers(names) => return names.iter().map(|name| server(*name)).collect(),
        Field::Direction(direction) => way(*direction).to_owned(),
        Field::Call(LockCall::Acquire) => String::new(),
        Field::Call(LockCall::Release) => "the release of ".to_owned(),
        Field::FaultDuration(FaultDuration::For(length)) => time(*length),
        Field::FaultDuration(FaultDuration::ForGood) => "for good".to_owned(),
        Field::Duration(duration) => time(*duration),
        Field::MaybeDuration(duration) => match (key, duration) {
            ("restart-after", None) => "for good".to_owned(),
            ("restart-after", Some(after)) => format!("and restart it after {}", time(*after)),
            (_, Some(length)) => time(*length),
            (_, None) => String::new(),
        },
        Field::Range(range) => write_range(*range),
        Field::Flag(true) => ", if nothing has changed".to_owned(),
        Field::Flag(false) => String::new(),
        Field::Rate(rate) => rate.to_string(),
        Field::Millis(millis) => signed_millis(*millis),
        Field::PartsPerMillion(parts) => parts.to_string(),
    };
    vec![clause]
}

fn sends(request: RequestKind, by: ContenderName, nth: u32, at: Option<ServerName>) -> String {
    let (who, what, to) = (contender(by), request.name(), beside(" to ", at));
    match nth {
        1 => format!("{who} sends a {what}{to}"),
        nth => format!("{who} sends its {} {what}{to}", ordinal(nth)),
    }
}

/// A word and a server, if there is one.
fn beside(word: &str, at: Option<ServerName>) -> String {
    at.map_or_else(String::new, |at| format!("{word}{}", server(at)))
}

fn of(request: RequestKind, by: ContenderName, nth: u32) -> String {
    let (who, what) = (contender(by), request.name());
    match nth {
        1 => format!("{who}'s {what}"),
        nth => format!("{who}'s {} {what}", ordinal(nth)),
    }
}

fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::ToServer => "towards the server",
        Direction::ToClient => "towards the client",
        Direction::Both => "both ways",
    }
}

/// Milliseconds with a sign if negative: `-5s`.
pub(crate) fn signed_millis(millis: i64) -> String {
    let length = std::time::Duration::from_millis(millis.unsigned_abs());
    let sign = if millis < 0 { "-" } else { "" };
    format!("{sign}{}", write_duration(length))
}

fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        (_, _) => "th",
    };
    format!("{number}{ending}")
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "nothing".to_owned(),
        names => lists::named(names, " and "),
    }
}
