//! An event in a few words, where there is no room for a timeline.

use picklock_checker::{
    ContenderId, ConversionStep, EntryStep, EventKind, FaultId, History, Mode, ServerChange,
    ServiceAnswer, ServiceEvent,
};

/// What a server did or found, in words: `server-2 is LEADING in epoch 2, after server-3`.
pub fn of_service(history: &History, event: &ServiceEvent) -> String {
    event.describe(&|by| history.contender(by).to_owned())
}

/// The event in words: `contender-2 acquires`.
pub fn describe(history: &History, what: &EventKind) -> String {
    let of = |by: ContenderId, does: &str| format!("{} {does}", history.contender(by));
    match *what {
        EventKind::AcquireStarted {
            by,
            mode: Mode::Exclusive,
            ..
        } => of(by, "calls acquire"),
        EventKind::AcquireStarted {
            by,
            mode: Mode::Shared,
            ..
        } => of(by, "calls acquire to read"),
        EventKind::Acquired { by, .. } => of(by, "acquires"),
        EventKind::AcquireFailed { by, .. } => of(by, "fails to acquire"),
        EventKind::ReleaseStarted { by, .. } => of(by, "calls release"),
        EventKind::Released { by, .. } => of(by, "has released"),
        EventKind::Reentry { by, step, .. } => match step {
            EntryStep::Asks => of(by, "calls `acquire` again"),
            EntryStep::Enters => of(by, "has entered again"),
            EntryStep::Leaves => of(by, "leaves an inner entry"),
        },
        EventKind::Conversion { by, mode, step, .. } => of(by, conversion(mode, step)),
        EventKind::ReleaseFailed { by, .. } => of(by, "fails to release"),
        EventKind::Lost { by, .. } => of(by, "is told of its loss"),
        EventKind::Revoked { by, .. } => of(by, "is asked to give the lock back"),
        EventKind::Cancelled { by, .. } => of(by, "is cancelled"),
        EventKind::ReleaseCancelled { by, .. } => of(by, "drops its release"),
        EventKind::Finished { by } => of(by, "has finished"),
        EventKind::Paused { by } => of(by, "is paused"),
        EventKind::Resumed { by } => of(by, "is resumed"),
        EventKind::Crashed { by } => of(by, "crashes"),
        EventKind::Restarted { by } => of(by, "is restarted"),
        EventKind::Disconnected { by } => of(by, "is disconnected"),
        EventKind::Reconnected { by } => of(by, "is connected again"),
        EventKind::ConnectedReadOnly { by } => of(by, "is connected to a read-only server"),
        EventKind::SessionLost { by } => of(by, "learns that its session is gone"),
        EventKind::Resent { by } => of(by, "has a request sent again by its client library"),
        EventKind::ServerChanged { server, to } => {
            let change = match to {
                ServerChange::Elected => "is elected leader",
                ServerChange::Promoted => "is promoted to primary",
                ServerChange::Demoted => "follows another from now on",
                ServerChange::Restarted => "is restarted",
            };
            format!("server-{} {change}", server.0 + 1)
        }
        EventKind::CouldHaveKnown { by, since, .. } => {
            of(by, &format!("could have known of its loss since {since}"))
        }
        EventKind::Queued { by, place, .. } => of(by, &format!("is queued at place {place}")),
        EventKind::Unqueued { by, place, .. } => of(by, &format!("loses place {place}")),
        EventKind::Owned {
            by,
            mode: Mode::Exclusive,
            ..
        } => of(by, "is made the owner"),
        EventKind::Owned {
            by,
            mode: Mode::Shared,
            ..
        } => of(by, "is made an owner, to read"),
        EventKind::Disowned { by, .. } => of(by, "is the owner no longer"),
        EventKind::Answered { by, answer, .. } => match answer {
            ServiceAnswer::GrantedApart => of(by, "is granted it by a majority, never all at once"),
            ServiceAnswer::DeniedAtOne => {
                of(by, "owns it by one primary, and by another it does not")
            }
            ServiceAnswer::Missing => of(by, "has no answer to a request of its release"),
            ServiceAnswer::Counts(entries) => {
                of(by, &format!("has {entries} entries at the service"))
            }
        },
        EventKind::SessionExpired { by } => of(by, "has its session expired"),
        EventKind::Writing { by, .. } => of(by, "is about to write"),
        EventKind::Read { by, value, .. } => of(by, &format!("reads {value}")),
        EventKind::Effect { by, accepted, .. } => match accepted {
            true => of(by, "has its write accepted"),
            false => of(by, "has its write refused"),
        },
        EventKind::Written { by, .. } => of(by, "has the answer to its write"),
        EventKind::FaultFired { fault } => fired(history, fault),
        EventKind::FaultHealed { fault } => {
            format!("fault {} is over: {}", fault.0 + 1, history.fault(fault))
        }
        EventKind::CalmBegan => "the calm begins".to_owned(),
        EventKind::Ended { .. } => "the run ends".to_owned(),
        EventKind::StillWaiting { by, .. } => of(by, "still waits at the end"),
        EventKind::Leftover { name, .. } => format!("{} is left behind", history.name(name)),
        EventKind::Final { value, .. } => format!("the resource holds {value} at the end"),
    }
}

fn fired(history: &History, fault: FaultId) -> String {
    format!(
        "fault {}: {}",
        fault.0 + 1,
        history.fault_with_request(fault)
    )
}

fn conversion(mode: Mode, step: ConversionStep) -> &'static str {
    match (mode, step) {
        (Mode::Shared, ConversionStep::Asks) => "calls acquire to read, while it writes",
        (Mode::Exclusive, ConversionStep::Asks) => "calls acquire to write, while it reads",
        (_, ConversionStep::Fails) => "is refused, and holds the lock as before",
        (Mode::Shared, ConversionStep::Converts) => "reads on, and gives back the write",
        (Mode::Exclusive, ConversionStep::Converts) => "writes from here on",
    }
}
