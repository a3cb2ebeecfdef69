//! What stands to the right of the lanes: what the service, the resource, and the plan say.

use picklock_checker::{
    ContenderId, Disowned, Ended, EventKind, Failure, FaultId, History, Mode, NameId, ServerChange,
    ServiceAnswer, ServiceEvent, ServiceEventKind, Token, Vocabulary,
};

use super::Names;
use crate::style::Glyphs;

/// The note at an event, if it has one. What the service and the resource say names the lock, if there are several: of
/// what a contender does, its lane names it.
pub(crate) fn note(what: &EventKind, names: &Names, glyphs: &Glyphs) -> Option<String> {
    let note = said(what, names, glyphs)?;
    let lock = what.lock().filter(|_| what.row().of_service);
    Some(
        match lock.and_then(|lock| names.history.lock_among_several(lock)) {
            Some(lock) => format!("{lock}: {note}"),
            None => note,
        },
    )
}

fn said(what: &EventKind, names: &Names, glyphs: &Glyphs) -> Option<String> {
    let history = names.history;
    let note = match *what {
        EventKind::Acquired { token, .. } => {
            return token.map(|token| format!("token {}", token.0));
        }
        EventKind::AcquireFailed { why, definite, .. } if definite => failure(why).to_owned(),
        EventKind::AcquireFailed { why, .. } => format!("{}, but may have happened", failure(why)),
        EventKind::ReleaseFailed { why, .. } | EventKind::Lost { why, .. } => {
            failure(why).to_owned()
        }
        EventKind::Queued {
            by, place, name, ..
        } => format!(
            "{} queues: {}",
            names.of(by),
            place_and_name(place, name, history, glyphs)
        ),
        EventKind::Unqueued {
            by, place, name, ..
        } => format!(
            "{}'s place is gone: {}",
            names.of(by),
            place_and_name(place, name, history, glyphs)
        ),
        EventKind::Owned {
            by, token, mode, ..
        } => {
            let owns = match mode {
                Mode::Exclusive if history.vocabulary == Vocabulary::Election => "leads",
                Mode::Exclusive => "owns it",
                Mode::Shared => "owns it to read",
            };
            format!("service: {} {owns}, grant {}", names.of(by), token.0)
        }
        EventKind::Disowned { by, how, .. } => disowned(by, how, names),
        EventKind::Answered { by, answer, .. } => answered(names.of(by), answer),
        EventKind::CouldHaveKnown { by, since, how, .. } => {
            format!(
                "{} could have known since {since}: {}",
                names.of(by),
                how.clause()
            )
        }
        EventKind::Writing { token, .. } => return token.map(with_token),
        EventKind::Effect {
            token,
            before,
            after,
            ..
        } => change(before, after, token, glyphs),
        EventKind::ServerChanged { server, to } => changed(server.0 + 1, to),
        EventKind::FaultFired { .. } | EventKind::FaultHealed { .. } => history.describe(what),
        EventKind::CalmBegan => calm(history),
        EventKind::Ended { why } => format!("the run ends: {}", ended(why)),
        EventKind::StillWaiting { behind, owner, .. } => {
            return predecessor(behind, owner, names, glyphs);
        }
        EventKind::Leftover { name, owner, .. } => {
            let of = owner.map_or(String::new(), |owner| format!(" of {}", names.of(owner)));
            let name = short_name(history.name(name), glyphs);
            format!("left behind: {name}{of}")
        }
        EventKind::Final { value, .. } => format!("resource: {value} at the end"),
        EventKind::AcquireStarted { .. }
        | EventKind::Reentry { .. }
        | EventKind::Conversion { .. }
        | EventKind::ReleaseStarted { .. }
        | EventKind::Released { .. }
        | EventKind::Revoked { .. }
        | EventKind::Cancelled { .. }
        | EventKind::ReleaseCancelled { .. }
        | EventKind::Finished { .. }
        | EventKind::Paused { .. }
        | EventKind::Resumed { .. }
        | EventKind::Crashed { .. }
        | EventKind::Restarted { .. }
        | EventKind::Disconnected { .. }
        | EventKind::Reconnected { .. }
        | EventKind::ConnectedReadOnly { .. }
        | EventKind::SessionLost { .. }
        | EventKind::Resent { .. }
        | EventKind::SessionExpired { .. }
        | EventKind::Read { .. }
        | EventKind::Written { .. } => return None,
    };
    Some(note)
}

/// The calm begins when every fault is over; those that never struck do not any more, and what nothing heals stays.
fn calm(history: &History) -> String {
    let has =
        |is_it: &dyn Fn(&EventKind) -> bool| history.events.iter().any(|event| is_it(&event.what));
    let mut notes = String::from("the calm begins");
    for (place, text) in history.faults.iter().enumerate() {
        let id = FaultId(place as u32);
        let number = place + 1;
        if !has(&|what| *what == EventKind::FaultFired { fault: id }) {
            notes.push_str(&format!("; fault {number} never struck"));
        } else if text.ends_with("for good") {
            notes.push_str(&format!("; fault {number} stays for good"));
        }
    }
    notes
}

/// What a server did or found.
pub(crate) fn of_service(event: &ServiceEvent, names: &Names, glyphs: &Glyphs) -> String {
    let mut event = event.clone();
    if let ServiceEventKind::WatchFired { path, .. } | ServiceEventKind::WatchLost { path, .. } =
        &mut event.what
    {
        *path = short_name(path, glyphs);
    }
    let words = event.describe(&|by| names.of(by).to_owned());
    match event.what {
        // Sentinels say who they are.
        ServiceEventKind::SentinelLog { .. } => words,
        _ => format!("service: {words}"),
    }
}

fn change(before: i64, after: i64, token: Option<Token>, glyphs: &Glyphs) -> String {
    let arrow = glyphs.arrow;
    let token = token.map_or(String::new(), |token| format!(", {}", with_token(token)));
    format!("resource: {before} {arrow} {after}{token}")
}

fn predecessor(
    behind: Option<NameId>,
    owner: Option<ContenderId>,
    names: &Names,
    glyphs: &Glyphs,
) -> Option<String> {
    let behind = behind.map(|name| short_name(names.history.name(name), glyphs));
    match (behind, owner) {
        (Some(behind), Some(owner)) => Some(format!("behind {behind} of {}", names.of(owner))),
        (Some(behind), None) => Some(format!("behind {behind}")),
        (None, Some(owner)) => Some(format!("behind {}", names.of(owner))),
        (None, None) => None,
    }
}

fn with_token(token: Token) -> String {
    format!("token {}", token.0)
}

/// A place in the queue, with the node, key, or row that stands for it.
pub(crate) fn place_and_name(
    place: u64,
    name: NameId,
    history: &History,
    glyphs: &Glyphs,
) -> String {
    format!("place {place} ({})", short_name(history.name(name), glyphs))
}

/// The last part of a path, and of a very long one its end, where the counter is.
fn short_name(name: &str, glyphs: &Glyphs) -> String {
    const LONGEST: usize = 32;
    let last = name.rsplit('/').find(|part| !part.is_empty());
    let last = last.unwrap_or(name);
    let length = last.chars().count();
    if length <= LONGEST {
        return last.to_owned();
    }
    let end: String = last.chars().skip(length - LONGEST).collect();
    format!("{}{end}", glyphs.ellipsis)
}

fn failure(why: Failure) -> &'static str {
    match why {
        Failure::SessionExpired => "session expired",
        Failure::ConnectionLoss => "connection lost",
        Failure::PlaceLost => "its place is gone",
        Failure::Disconnected => "disconnected",
        Failure::Refused => "refused",
        Failure::TimedOut => "timed out",
        Failure::LeaseLapsed => "its lease had lapsed",
        Failure::AlreadyHeld => "its lock object says locked",
        Failure::Cancelled => "says cancelled",
    }
}

fn changed(server: u32, to: ServerChange) -> String {
    let what = match to {
        ServerChange::Elected => "is elected leader",
        ServerChange::Promoted => "is promoted to primary",
        ServerChange::Demoted => "follows another, and drops what only it had",
        ServerChange::Restarted => "is back with what its disk has kept",
    };
    format!("service: server-{server} {what}")
}

fn disowned(by: ContenderId, how: Disowned, names: &Names) -> String {
    let how = match how {
        Disowned::Released => "released".to_owned(),
        Disowned::Expired => "expired".to_owned(),
        Disowned::RemovedBy(by) => format!("removed by {}", names.of(by)),
        Disowned::OverwrittenBy(by) => format!("overwritten by {}", names.of(by)),
        Disowned::Reaped => "reaped".to_owned(),
        Disowned::RemovedFromOutside => "removed from outside".to_owned(),
        Disowned::LostByService => "lost by the service".to_owned(),
    };
    disowned_by(by, &how, names)
}

fn disowned_by(by: ContenderId, how: &str, names: &Names) -> String {
    let owns = if names.history.vocabulary == Vocabulary::Election {
        "leads"
    } else {
        "owns it"
    };
    format!("service: {} {owns} no longer: {how}", names.of(by))
}

/// That a holder's own request took the lock from it, and no release of its own: a renewal by no time at all does.
pub(super) fn removed_by_own_request(names: &Names, index: usize) -> Option<String> {
    let history = names.history;
    let disowned = &history.events[index].what;
    let EventKind::Disowned { by, lock, how, .. } = *disowned else {
        return None;
    };
    let before = history.events[..index].iter().rev();
    let mut own =
        before.filter(|event| event.what.by() == Some(by) && event.what.lock() == Some(lock));
    let calls = |what: &EventKind| {
        matches!(
            what,
            EventKind::Acquired { .. }
                | EventKind::AcquireStarted { .. }
                | EventKind::ReleaseStarted { .. }
                | EventKind::Released { .. }
                | EventKind::Lost { .. }
        )
    };
    let last = own.find(|event| calls(&event.what))?;
    let holds = matches!(last.what, EventKind::Acquired { .. });
    let by_itself = how == Disowned::Released && holds;
    let told = by_itself.then(|| disowned_by(by, "removed by its own request", names))?;
    Some(match history.lock_among_several(lock) {
        Some(lock) => format!("{lock}: {told}"),
        None => told,
    })
}

fn answered(who: &str, answer: ServiceAnswer) -> String {
    match answer {
        ServiceAnswer::GrantedApart => {
            format!("service: a majority said yes to {who}, never all at once")
        }
        ServiceAnswer::DeniedAtOne => {
            format!("service: one primary has the hold of {who}, another has not")
        }
        ServiceAnswer::Missing => {
            format!("service: {who} has no answer to a request of its release")
        }
        ServiceAnswer::Counts(1) => format!("service: the hold of {who} counts 1 entry"),
        ServiceAnswer::Counts(entries) => {
            format!("service: the hold of {who} counts {entries} entries")
        }
    }
}

fn ended(why: Ended) -> &'static str {
    match why {
        Ended::AllFinished => "all have finished",
        Ended::BoundReached => "the bound on progress is reached",
        Ended::OutOfBudget => "its budget of events is spent",
        Ended::NotModelled => "the service was asked for something that is not modelled",
        Ended::Broken => "it broke off",
    }
}
