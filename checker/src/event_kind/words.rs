//! Words of events that depend on what else there is to say of them.

use crate::conversion::ConversionStep;
use crate::entry_step::EntryStep;
use crate::mode::Mode;
use crate::server_change::ServerChange;
use crate::service_answer::ServiceAnswer;

pub(super) fn calls_acquire(mode: Mode) -> &'static str {
    match mode {
        Mode::Exclusive => "calls acquire",
        Mode::Shared => "calls acquire to read",
    }
}

pub(super) fn enters_again(step: EntryStep) -> &'static str {
    match step {
        EntryStep::Asks => "calls `acquire` again",
        EntryStep::Enters => "has entered again",
        EntryStep::Leaves => "leaves an inner entry",
    }
}

pub(super) fn converts(mode: Mode, step: ConversionStep) -> &'static str {
    match (mode, step) {
        (Mode::Shared, ConversionStep::Asks) => "calls acquire to read, while it writes",
        (Mode::Exclusive, ConversionStep::Asks) => "calls acquire to write, while it reads",
        (_, ConversionStep::Fails) => "is refused, and holds the lock as before",
        (Mode::Shared, ConversionStep::Converts) => "reads on, and gives back the write",
        (Mode::Exclusive, ConversionStep::Converts) => "writes from here on",
    }
}

pub(super) fn is_owner(mode: Mode) -> &'static str {
    match mode {
        Mode::Exclusive => "is made the owner",
        Mode::Shared => "is made an owner, to read",
    }
}

pub(super) fn is_answered(answer: ServiceAnswer) -> String {
    match answer {
        ServiceAnswer::GrantedApart => "is granted it by a majority, never all at once".to_owned(),
        ServiceAnswer::DeniedAtOne => {
            "owns it by one primary, and by another it does not".to_owned()
        }
        ServiceAnswer::Missing => "has no answer to a request of its release".to_owned(),
        ServiceAnswer::Counts(entries) => format!("has {entries} entries at the service"),
    }
}

pub(super) fn changes(to: ServerChange) -> &'static str {
    match to {
        ServerChange::Elected => "is elected leader",
        ServerChange::Promoted => "is promoted to primary",
        ServerChange::Demoted => "follows another from now on",
        ServerChange::Restarted => "is restarted",
    }
}
