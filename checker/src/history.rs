//! What happened in a run: the vocabulary that every other part of picklock speaks.
//!
//! A history is a list of [`Event`]s in the order in which they happened. It keeps three truths apart:
//!
//! - **belief**: what the contender thinks, from [`EventKind::Acquired`] until it calls release or is told of the loss;
//! - **ownership**: what the service says, from [`EventKind::Owned`] until [`EventKind::Disowned`];
//! - **effect**: what the protected resource accepted, [`EventKind::Effect`].

mod event_subject;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::conversion::ConversionStep;
pub use crate::disowned::Disowned;
use crate::ended::Ended;
use crate::entry_step::EntryStep;
pub use crate::ids::{ContenderId, LockId, ServerId};
use crate::list_too_long::ListTooLong;
use crate::server_change::ServerChange;
use crate::service_event::ServiceEvent;
use crate::vocabulary::Vocabulary;
use crate::{Broken, Failure, Knowledge, Mode, VirtualTime};

/// A fault of the plan, by its place in [`History::faults`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultId(pub u32);

/// The name of a znode, a key, or a row, by its place in [`History::names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NameId(pub u32);

/// A fencing token: a number that a later holder must have a greater one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Token(pub u64);

/// One event of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Event {
    /// When it happened.
    pub at: VirtualTime,
    /// What happened.
    pub what: EventKind,
}

/// What can happen in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[expect(
    missing_docs,
    reason = "fields mean the same in every variant, and the variants are documented"
)]
pub enum EventKind {
    // Belief: the contender's own view.
    /// The contender calls `acquire`.
    AcquireStarted {
        by: ContenderId,
        lock: LockId,
        #[serde(default, skip_serializing_if = "Mode::is_exclusive")]
        mode: Mode,
    },
    /// `acquire` has returned the lock: from here on the contender believes that it holds it.
    Acquired {
        by: ContenderId,
        lock: LockId,
        token: Option<Token>,
        #[serde(default, skip_serializing_if = "Mode::is_exclusive")]
        mode: Mode,
    },
    /// `acquire` has failed. `definite`: the contender surely left nothing behind at the service.
    AcquireFailed {
        by: ContenderId,
        lock: LockId,
        why: Failure,
        definite: bool,
    },
    /// The contender, which holds the lock, enters it again, or leaves such a further entry.
    Reentry {
        by: ContenderId,
        lock: LockId,
        step: EntryStep,
    },
    /// The contender, which holds the lock, changes the mode in which it holds it to this one (`conversion`).
    Conversion {
        by: ContenderId,
        lock: LockId,
        mode: Mode,
        step: ConversionStep,
    },
    /// The contender calls `release`: it no longer believes that it holds the lock.
    ReleaseStarted { by: ContenderId, lock: LockId },
    /// `release` has returned without an error.
    Released { by: ContenderId, lock: LockId },
    /// `release` has failed.
    ReleaseFailed {
        by: ContenderId,
        lock: LockId,
        why: Failure,
    },
    /// The contender was told, while it held the lock, that it may not hold it any more, and stopped.
    Lost {
        by: ContenderId,
        lock: LockId,
        why: Failure,
    },
    /// The contender, which holds the lock, was asked to give it back, and ends its section (fault `revoke`).
    Revoked { by: ContenderId, lock: LockId },
    /// A pending `acquire` was dropped at an await point (fault `cancel`).
    Cancelled { by: ContenderId, lock: LockId },
    /// A pending `release` was dropped at an await point (fault `cancel`): it may have been done, or be done later.
    ReleaseCancelled { by: ContenderId, lock: LockId },
    /// The contender has done all that it came for, or gave up for good. Its process and its session live on.
    Finished { by: ContenderId },

    // The contender's process.
    /// The process stops running (a GC pause, SIGSTOP).
    Paused { by: ContenderId },
    /// The process runs again.
    Resumed { by: ContenderId },
    /// The process dies with everything in its memory; its beliefs end here.
    Crashed { by: ContenderId },
    /// A new process takes the contender's place.
    Restarted { by: ContenderId },
    /// The contender's client has lost its connection to the service.
    Disconnected { by: ContenderId },
    /// The contender's client is connected again, in the same session.
    Reconnected { by: ContenderId },
    /// The contender's client is connected to a server that answers reads alone, in a session of that server's own.
    ConnectedReadOnly { by: ContenderId },
    /// The contender's client has learned that its session is gone.
    SessionLost { by: ContenderId },
    /// The contender's client library sends a request again that may have been executed: nobody has told it to.
    Resent { by: ContenderId },
    /// The contender went on believing although it could have known since `since` that the lock is not its own any
    /// more. Recorded when the belief ends.
    CouldHaveKnown {
        by: ContenderId,
        lock: LockId,
        since: VirtualTime,
        how: Knowledge,
    },

    // Ownership: the service's view.
    /// A contender's request for the lock is recorded at the service, at this place in its order of arrival.
    Queued {
        by: ContenderId,
        lock: LockId,
        place: u64,
        name: NameId,
        #[serde(default, skip_serializing_if = "Mode::is_exclusive")]
        mode: Mode,
    },
    /// That place has been given up, or was taken away, before or after it came to own the lock.
    Unqueued {
        by: ContenderId,
        lock: LockId,
        place: u64,
        name: NameId,
    },
    /// The service makes `by` the owner. `token` grows with each grant, whatever the recipe makes of it.
    Owned {
        by: ContenderId,
        lock: LockId,
        token: Token,
        name: NameId,
        #[serde(default, skip_serializing_if = "Mode::is_exclusive")]
        mode: Mode,
    },
    /// `by` owns the lock no longer.
    Disowned {
        by: ContenderId,
        lock: LockId,
        token: Token,
        how: Disowned,
    },
    /// The service has answered `by` about a hold, and nobody came to own the lock by that, or ceased to.
    Answered {
        by: ContenderId,
        lock: LockId,
        answer: ServiceAnswer,
    },
    /// The service has ended the session that `by` used.
    SessionExpired { by: ContenderId },

    // The life of the service.
    /// A server has become another to the others.
    ServerChanged { server: ServerId, to: ServerChange },

    // Effect: the protected resource's view.
    /// The contender is about to send a write to the resource.
    Writing {
        by: ContenderId,
        lock: LockId,
        token: Option<Token>,
    },
    /// The resource was read.
    Read {
        by: ContenderId,
        lock: LockId,
        value: i64,
    },
    /// A write has reached the resource, which held `before` and now holds `after`. A rejected write changes
    /// nothing. `based_on` is the value that the writer had read first, if it had.
    Effect {
        by: ContenderId,
        lock: LockId,
        token: Option<Token>,
        before: i64,
        after: i64,
        based_on: Option<i64>,
        accepted: bool,
    },
    /// The writer has the resource's answer.
    Written {
        by: ContenderId,
        lock: LockId,
        accepted: bool,
    },

    // The plan.
    /// A fault was injected.
    FaultFired { fault: FaultId },
    /// A fault has been undone.
    FaultHealed { fault: FaultId },
    /// The storm is over: what heals has healed, and nothing new breaks.
    CalmBegan,

    // What is left when the run ends, in this order.
    /// The run ends.
    Ended { why: Ended },
    /// A contender still waits for the lock. `behind` is the node or key it waits for, if it waits for one, and
    /// `owner` who made that.
    StillWaiting {
        by: ContenderId,
        lock: LockId,
        behind: Option<NameId>,
        owner: Option<ContenderId>,
    },
    /// A node or key of the lock that is still there after everybody has left.
    Leftover {
        lock: LockId,
        name: NameId,
        owner: Option<ContenderId>,
    },
    /// What the resource holds at the end.
    Final { lock: LockId, value: i64 },
}

/// What a service has truly answered, and its owners do not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ServiceAnswer {
    /// A majority of its servers has granted the lock, one after the other, and at no moment did a majority have it:
    /// some had lost it before the last one said yes.
    GrantedApart,
    /// A server that answers for all does not have the owner's hold, and another such server has it: after a failover
    /// there may be two. Or it has been made a replica since, and its clock has ended the lease before the primary's.
    DeniedAtOne,
    /// The owner's hold counts so many entries now: it entered again, or gave one entry back.
    Counts(u64),
    /// A release began when the lock was its contender's no more, and one of its requests had no answer in time: it may
    /// have released the lock, for all that the contender knows.
    Missing,
}

/// A whole run: who took part, and all that happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct History {
    /// Names of the contenders, as in `contender-1`.
    pub contenders: Vec<String>,
    /// How many contenders are tasks of one process, the first so many of the first; zero if each has its own.
    #[serde(default, skip_serializing_if = "no_tasks")]
    pub tasks_per_process: u32,
    /// Names of the locks.
    pub locks: Vec<String>,
    /// In which words it is told.
    #[serde(default, skip_serializing_if = "Vocabulary::is_usual")]
    pub vocabulary: Vocabulary,
    /// What the faults of the plan do, as a person would say it: `pause contender-1 for 20s`.
    pub faults: Vec<String>,
    /// Of each fault at which request it strikes, if that was asked for: `when contender-1's script is answered`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fault_requests: Vec<Option<String>>,
    /// Names of znodes, keys, and rows that events mention.
    pub names: Vec<String>,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// What the servers did and found, in order, if that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub service: Vec<ServiceEvent>,
    /// The Lua scripts that contenders had servers run, by their SHA1, if that was asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scripts: BTreeMap<String, String>,
    /// What the service was asked for that is not modelled, if that ended the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_modelled: Option<String>,
    /// Why the run broke off, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<Broken>,
    /// The list of the queue that no client could read, if that kept everybody from the lock in the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub too_long: Option<ListTooLong>,
}

/// Whether each contender is a process of its own.
fn no_tasks(tasks: &u32) -> bool {
    *tasks == 0
}

impl History {
    /// The number of the process of a contender, from one, if processes have several.
    pub fn process(&self, id: ContenderId) -> Option<u32> {
        Some(id.0.checked_div(self.tasks_per_process)? + 1)
    }

    /// The name of a contender.
    pub fn contender(&self, id: ContenderId) -> &str {
        self.contenders
            .get(id.0 as usize)
            .map_or("somebody", String::as_str)
    }

    /// The name of a lock, if there are several to be told apart.
    pub fn lock_among_several(&self, id: LockId) -> Option<&str> {
        (self.locks.len() > 1).then(|| self.lock(id))
    }

    /// The name of a lock.
    pub fn lock(&self, id: LockId) -> &str {
        self.locks
            .get(id.0 as usize)
            .map_or("the lock", String::as_str)
    }

    /// The call that a contender's code was in at the end, as far as the history tells.
    pub fn call(&self, of: ContenderId) -> &'static str {
        let calls = self.events.iter().rev().find_map(|event| match event.what {
            EventKind::AcquireStarted { by, .. } if by == of => Some("acquire"),
            EventKind::Acquired { by, .. } if by == of => Some("lost"),
            EventKind::ReleaseStarted { by, .. } | EventKind::Lost { by, .. } if by == of => {
                Some("release")
            }
            EventKind::AcquireFailed { by, .. }
            | EventKind::Cancelled { by, .. }
            | EventKind::ReleaseCancelled { by, .. }
            | EventKind::Released { by, .. }
            | EventKind::ReleaseFailed { by, .. }
            | EventKind::Finished { by }
            | EventKind::Restarted { by }
                if by == of =>
            {
                Some("code")
            }
            _ => None,
        });
        calls.unwrap_or("code")
    }

    /// What a fault does.
    pub fn fault(&self, id: FaultId) -> &str {
        self.faults
            .get(id.0 as usize)
            .map_or("a fault", String::as_str)
    }

    /// What a fault does when it strikes, with the request at which it does, if there is one.
    pub fn fault_with_request(&self, id: FaultId) -> String {
        let request = self.fault_requests.get(id.0 as usize);
        match request.and_then(Option::as_deref) {
            Some(request) => format!("{}, {request}", self.fault(id)),
            None => self.fault(id).to_owned(),
        }
    }

    /// The name of a znode, key, or row.
    pub fn name(&self, id: NameId) -> &str {
        self.names
            .get(id.0 as usize)
            .map_or("a node", String::as_str)
    }
}
