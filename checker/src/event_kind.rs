//! Everything that can happen in a run, one row an event: what it is about, its number in the hash, its words, and how
//! it is shown.

mod row;
mod words;

use serde::{Deserialize, Serialize};

use crate::conversion::ConversionStep;
use crate::disowned::Disowned;
use crate::ended::Ended;
use crate::entry_step::EntryStep;
use crate::ids::{ContenderId, FaultId, LockId, NameId, ServerId, Token};
use crate::server_change::ServerChange;
use crate::service_answer::ServiceAnswer;
use crate::{Failure, Knowledge, Mode, VirtualTime};

pub use row::EventRow;
use row::events;
use words::{calls_acquire, changes, converts, enters_again, is_answered, is_owner};

events! {
    // Belief: the contender's own view.
    /// The contender calls `acquire`.
    AcquireStarted [by; lock] {
        #[serde(default, skip_serializing_if = "Mode::is_exclusive")]
        mode: Mode,
    } = 1 { words: calls_acquire(mode), structural: true, label: Some("acquire") }
    /// `acquire` has returned the lock: from here on the contender believes that it holds it.
    Acquired [by; lock] {
        token: Option<Token>,
        #[serde(default, skip_serializing_if = "Mode::is_exclusive")]
        mode: Mode,
    } = 2 { words: "acquires", structural: true }
    /// `acquire` has failed. `definite`: the contender surely left nothing behind at the service.
    AcquireFailed [by; lock] { why: Failure, definite: bool } = 3 {
        words: "fails to acquire",
        structural: true,
        bad: true,
        label: Some("fails"),
    }
    /// The contender, which holds the lock, enters it again, or leaves such a further entry.
    Reentry [by; lock] { step: EntryStep } = 38 { words: enters_again(step) }
    /// The contender, which holds the lock, changes the mode in which it holds it to this one (`conversion`).
    Conversion [by; lock] { mode: Mode, step: ConversionStep } = 40 { words: converts(mode, step) }
    /// The contender calls `release`: it no longer believes that it holds the lock.
    ReleaseStarted [by; lock] = 4 { words: "calls release", structural: true, label: Some("release") }
    /// `release` has returned without an error.
    Released [by; lock] = 5 { words: "has released", label: Some("released") }
    /// `release` has failed.
    ReleaseFailed [by; lock] { why: Failure } = 6 { words: "fails to release", bad: true }
    /// The contender was told, while it held the lock, that it may not hold it any more, and stopped.
    Lost [by; lock] { why: Failure } = 7 { words: "is told that it has lost the lock", structural: true, bad: true }
    /// The contender, which holds the lock, was asked to give it back, and ends its section (fault `revoke`).
    Revoked [by; lock] = 39 { words: "is asked to give the lock back" }
    /// A pending `acquire` was dropped at an await point (fault `cancel`).
    Cancelled [by; lock] = 8 { words: "is cancelled", structural: true, bad: true }
    /// A pending `release` was dropped at an await point (fault `cancel`): it may have been done, or be done later.
    ReleaseCancelled [by; lock] = 37 { words: "drops its release", bad: true }
    /// The contender has done all that it came for, or gave up for good. Its process and its session live on.
    Finished [by] = 9 { words: "has finished", lane: "done", label: Some("done") }

    // The contender's process.
    /// The process stops running (a GC pause, SIGSTOP).
    Paused [by] = 10 { words: "is paused", structural: true, bad: true }
    /// The process runs again.
    Resumed [by] = 11 { words: "is resumed", structural: true }
    /// The process dies with everything in its memory; its beliefs end here.
    Crashed [by] = 12 { words: "crashes", structural: true, bad: true }
    /// A new process takes the contender's place.
    Restarted [by] = 13 { words: "is restarted", structural: true, lane: "restarts" }
    /// The contender's client has lost its connection to the service.
    Disconnected [by] = 14 { words: "is disconnected", structural: true, bad: true, lane: "disconnected" }
    /// The contender's client is connected again, in the same session.
    Reconnected [by] = 15 { words: "is connected again", structural: true, lane: "reconnected" }
    /// The contender's client is connected to a server that answers reads alone, in a session of that server's own.
    ConnectedReadOnly [by] = 33 {
        words: "is connected to a read-only server",
        structural: true,
        lane: "read-only server",
    }
    /// The contender's client has learned that its session is gone.
    SessionLost [by] = 16 {
        words: "learns that its session is gone",
        structural: true,
        bad: true,
        lane: "told: expired",
        label: Some("told: expired"),
    }
    /// The client library sends a request again that may have been executed; its caller did not ask for that.
    Resent [by] = 35 { words: "has a request sent again by its client library", lane: "client resends" }
    /// The contender went on believing although it could have known since `since` that the lock is not its own any
    /// more. Recorded when the belief ends.
    CouldHaveKnown [by; lock] { since: VirtualTime, how: Knowledge } = 37 {
        words: format!("could have known of its loss since {since}"),
        of_service: true,
        label: Some(""),
    }

    // Ownership: the service's view.
    /// A contender's request for the lock is recorded at the service, at this place in its order of arrival.
    Queued [by; lock] {
        place: u64,
        name: NameId,
        #[serde(default, skip_serializing_if = "Mode::is_exclusive")]
        mode: Mode,
    } = 17 { words: format!("is queued at place {place}"), of_service: true, label: Some("queued") }
    /// That place has been given up, or was taken away, before or after it came to own the lock.
    Unqueued [by; lock] { place: u64, name: NameId } = 18 {
        words: format!("loses place {place}"),
        of_service: true,
    }
    /// The service makes `by` the owner. `token` grows with each grant, whatever the recipe makes of it.
    Owned [by; lock] {
        token: Token,
        name: NameId,
        #[serde(default, skip_serializing_if = "Mode::is_exclusive")]
        mode: Mode,
    } = 19 { words: is_owner(mode), of_service: true, label: Some("owner") }
    /// `by` owns the lock no longer.
    Disowned [by; lock] { token: Token, how: Disowned } = 20 {
        words: "is the owner no longer",
        of_service: true,
        label: Some("owner no longer"),
    }
    /// The service has answered `by` about a hold, and no contender came to own the lock by that, or ceased to.
    Answered [by; lock] { answer: ServiceAnswer } = 34 { words: is_answered(answer), of_service: true }
    /// The service has ended the session that `by` used.
    SessionExpired [by] = 21 {
        words: "has its session expired",
        structural: true,
        bad: true,
        label: Some("session expired"),
    }

    // The life of the service.
    /// A server has become another to the others.
    ServerChanged [] { server: ServerId, to: ServerChange } = 36 {
        words: format!("server-{} {}", server.0 + 1, changes(to)),
        label: Some(changes(to).strip_prefix("is ").unwrap_or_default()),
    }

    // Effect: the protected resource's view.
    /// The contender is about to send a write to the resource.
    Writing [by; lock] { token: Option<Token> } = 22 { words: "is about to write", lane: "sends a write" }
    /// The resource was read.
    Read [by; lock] { value: i64 } = 23 { words: format!("reads {value}") }
    /// A write has reached the resource, which held `before` and now holds `after`. A rejected write changes
    /// nothing. `based_on` is the value that the writer had read first, if it had.
    Effect [by; lock] {
        token: Option<Token>,
        before: i64,
        after: i64,
        based_on: Option<i64>,
        accepted: bool,
    } = 24 {
        words: if accepted { "has its write accepted" } else { "has its write refused" },
        bad: !accepted,
        of_service: true,
        lane: if accepted { "write accepted" } else { "write rejected" },
        label: Some(if accepted { "takes the write" } else { "refuses the write" }),
    }
    /// The writer has the resource's answer.
    Written [by; lock] { accepted: bool } = 25 {
        words: "has the answer to its write",
        lane: if accepted { "told: accepted" } else { "told: rejected" },
    }

    // The plan.
    /// A fault was injected.
    FaultFired [] { fault: FaultId } = 26 {
        words: format!("fault {}", fault.0 + 1),
        bad: true,
        label: Some(""),
    }
    /// A fault has been undone.
    FaultHealed [] { fault: FaultId } = 27 {
        words: format!("fault {} is over", fault.0 + 1),
        label: Some(""),
    }
    /// The storm is over: what heals has healed, and nothing new breaks.
    CalmBegan = 28 { words: "the calm begins" }

    // What is left when the run ends, in this order.
    /// The run ends.
    Ended [] { why: Ended } = 29 { words: "the run ends" }
    /// A contender still waits for the lock. `behind` is the node or key it waits for, if it waits for one, and `owner`
    /// the contender that made that.
    StillWaiting [by; lock] { behind: Option<NameId>, owner: Option<ContenderId> } = 30 {
        words: "still waits at the end",
        bad: true,
        label: Some("still waits"),
    }
    /// A node or key of the lock that is still there after all contenders have left.
    Leftover [; lock] { name: NameId, owner: Option<ContenderId> } = 31 {
        words: "is left behind",
        bad: true,
        of_service: true,
    }
    /// What the resource holds at the end.
    Final [; lock] { value: i64 } = 32 {
        words: format!("the resource holds {value} at the end"),
        of_service: true,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::NUMBERS;

    #[test]
    fn no_two_events_have_one_number_but_for_two_of_old() {
        let mut events: BTreeMap<u64, u32> = BTreeMap::new();
        for number in NUMBERS {
            *events.entry(*number).or_default() += 1;
        }
        let shared: Vec<_> = events
            .into_iter()
            .filter(|(_, events)| *events > 1)
            .collect();
        // A release that was dropped, and a loss that could have been known: hashes of both are kept.
        assert_eq!(shared, [(37, 2)]);
    }
}
