//! An event in a few words, where there is no room for a timeline.

use crate::checker::{ContenderId, History, ServerChange, ServiceAnswer, What};

/// The event in words: `contender-2 acquires`.
pub(super) fn in_words(history: &History, what: &What) -> String {
    let of = |by: ContenderId, does: &str| format!("{} {does}", history.contender(by));
    match *what {
        What::AcquireStarted { by, .. } => of(by, "calls acquire"),
        What::Acquired { by, .. } => of(by, "acquires"),
        What::AcquireFailed { by, .. } => of(by, "fails to acquire"),
        What::ReleaseStarted { by, .. } => of(by, "calls release"),
        What::Released { by, .. } => of(by, "has released"),
        What::ReleaseFailed { by, .. } => of(by, "fails to release"),
        What::Lost { by, .. } => of(by, "is told of its loss"),
        What::Cancelled { by, .. } => of(by, "is cancelled"),
        What::Finished { by } => of(by, "has finished"),
        What::Paused { by } => of(by, "is paused"),
        What::Resumed { by } => of(by, "is resumed"),
        What::Crashed { by } => of(by, "crashes"),
        What::Restarted { by } => of(by, "is restarted"),
        What::Disconnected { by } => of(by, "is disconnected"),
        What::Reconnected { by } => of(by, "is connected again"),
        What::ConnectedReadOnly { by } => of(by, "is connected to a read-only server"),
        What::SessionLost { by } => of(by, "learns that its session is gone"),
        What::Resent { by } => of(by, "has a request sent again by its client library"),
        What::ServerChanged { server, to } => {
            let change = match to {
                ServerChange::Elected => "is elected leader",
                ServerChange::Promoted => "is promoted to primary",
                ServerChange::Demoted => "follows another from now on",
                ServerChange::Restarted => "is restarted",
            };
            format!("server-{} {change}", server.0 + 1)
        }
        What::CouldHaveKnown { by, since, .. } => {
            of(by, &format!("could have known of its loss since {since}"))
        }
        What::Queued { by, place, .. } => of(by, &format!("is queued at place {place}")),
        What::Unqueued { by, place, .. } => of(by, &format!("loses place {place}")),
        What::Owned { by, .. } => of(by, "is made the owner"),
        What::Disowned { by, .. } => of(by, "is the owner no longer"),
        What::Answered { by, answer, .. } => match answer {
            ServiceAnswer::GrantedApart => of(by, "is granted it by a majority, never all at once"),
            ServiceAnswer::DeniedAtOne => {
                of(by, "owns it by one primary, and by another it does not")
            }
            ServiceAnswer::Counts(entries) => {
                of(by, &format!("has {entries} entries at the service"))
            }
        },
        What::SessionExpired { by } => of(by, "has its session expired"),
        What::Writing { by, .. } => of(by, "is about to write"),
        What::Read { by, value, .. } => of(by, &format!("reads {value}")),
        What::Effect { by, accepted, .. } => match accepted {
            true => of(by, "has its write accepted"),
            false => of(by, "has its write refused"),
        },
        What::Written { by, .. } => of(by, "has the answer to its write"),
        What::FaultFired { fault } => format!("fault {}: {}", fault.0 + 1, history.fault(fault)),
        What::FaultHealed { fault } => format!("fault {} is undone", fault.0 + 1),
        What::CalmBegan => "the calm begins".to_owned(),
        What::Ended { .. } => "the run ends".to_owned(),
        What::StillWaiting { by, .. } => of(by, "still waits at the end"),
        What::Leftover { name, .. } => format!("{} is left behind", history.name(name)),
        What::Final { value, .. } => format!("the resource holds {value} at the end"),
    }
}
