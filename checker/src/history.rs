//! What happened in a run: the vocabulary that every other part of picklock speaks.
//!
//! A history is a list of [`Event`]s in the order in which they happened. It keeps three truths apart:
//!
//! - **belief**: what the contender thinks, from [`EventKind::Acquired`] until it calls release or hears that it has
//!   lost the lock;
//! - **ownership**: what the service says, from [`EventKind::Owned`] until [`EventKind::Disowned`];
//! - **effect**: what the protected resource accepted, [`EventKind::Effect`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use crate::disowned::Disowned;
pub use crate::event_kind::{EventKind, EventRow};
pub use crate::ids::{ContenderId, FaultId, LockId, NameId, ServerId, Token};
use crate::list_too_long::ListTooLong;
pub use crate::service_answer::ServiceAnswer;
use crate::service_event::ServiceEvent;
use crate::vocabulary::Vocabulary;
use crate::{Broken, VirtualTime};

/// One event of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Event {
    /// When it happened.
    pub at: VirtualTime,
    /// What happened.
    pub what: EventKind,
}

/// A whole run: the contenders, and all that happened.
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
    /// The list of the queue that no client could read, if that kept all contenders from the lock in the end.
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
            .map_or("another contender", String::as_str)
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

    /// An event in words: `contender-2 acquires`.
    pub fn describe(&self, what: &EventKind) -> String {
        let words = what.words();
        if let Some(by) = what.by() {
            return format!("{} {words}", self.contender(by));
        }
        if let EventKind::Leftover { name, .. } = *what {
            return format!("{} {words}", self.name(name));
        }
        if let EventKind::FaultFired { fault } = *what {
            return format!("{words}: {}", self.fault_with_request(fault));
        }
        if let EventKind::FaultHealed { fault } = *what {
            return format!("{words}: {}", self.fault(fault));
        }
        words
    }

    /// The name of a znode, key, or row.
    pub fn name(&self, id: NameId) -> &str {
        self.names
            .get(id.0 as usize)
            .map_or("a node", String::as_str)
    }
}
