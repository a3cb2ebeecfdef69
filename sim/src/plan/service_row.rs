//! What is true of a service however it is set: a row a service.

use picklock_clients::ServiceKind;

use super::TriggerKind;
use super::fault::FaultKind;
use super::workload::Share;

/// Why no moment of a session comes.
pub(super) const SESSIONS: &str = "there are no sessions";

/// What is true of a service however it is set. Most rows say little and leave the rest to [`ServiceRow::plain`].
#[derive(Debug)]
pub struct ServiceRow {
    /// Which it is.
    pub kind: ServiceKind,
    /// How many locks it knows at most; `None` if their number has no bound of its own.
    pub most_locks: Option<u32>,
    /// Whether its servers are named by what they are to each other and to contenders: `leader`, `follower-1`,
    /// `server-of-contender-1`. Else they have numbers.
    pub has_roles: bool,
    /// Whether a majority of its servers agrees on each write before it is done.
    pub has_quorum: bool,
    /// Whether an answer can come before what was written is on the disk or on a replica, so that a server can lose it.
    pub replicates_asynchronously: bool,
    /// The faults of another service that strike this one as well.
    pub shares: &'static [FaultKind],
    /// The triggers that never happen here, and why.
    pub never: &'static [(TriggerKind, &'static str)],
    /// The moments of a history (`picklock_checker::SOMETIMES`) that it never comes through, and why.
    pub never_through: &'static [(&'static str, &'static str)],
    /// Why tasks of a process cannot share this, and what they can; `None` if they can.
    pub unshared: fn(Share) -> Option<[&'static str; 2]>,
    /// Of a service whose clients have no event thread: what a callback therefore cannot block, why, and what to do.
    pub no_event_thread: [&'static str; 3],
}

impl ServiceRow {
    /// Whether a trigger of this kind can happen here.
    pub fn happens(&self, trigger: TriggerKind) -> bool {
        self.never.iter().all(|(kind, _)| *kind != trigger)
    }

    /// One server that knows no other, and clients that ask one thing at a time.
    pub const fn plain(kind: ServiceKind) -> Self {
        Self {
            kind,
            most_locks: None,
            has_roles: false,
            has_quorum: false,
            replicates_asynchronously: false,
            shares: &[],
            never_through: &[],
            never: &[
                (
                    TriggerKind::Queued,
                    "the service keeps no queue of contenders",
                ),
                (
                    TriggerKind::Proposed,
                    "no server asks others before it does something",
                ),
                (TriggerKind::Streamed, "there are no replicas"),
                (TriggerKind::Applied, "no server follows another"),
                (TriggerKind::Told, "there are no channels"),
                (TriggerKind::SessionExpired, SESSIONS),
                (TriggerKind::Disconnected, SESSIONS),
                (TriggerKind::Reconnected, SESSIONS),
                (TriggerKind::SessionLost, SESSIONS),
                (TriggerKind::Elected, "there is one server"),
            ],
            unshared: |_| {
                Some([
                    "a client of this service asks one thing at a time",
                    "leave `share` out: tasks of one process have a client each",
                ])
            },
            no_event_thread: [
                "no client here has an event loop",
                "each task waits for its own answer",
                "take the fault away, or `pause` the process",
            ],
        }
    }
}
