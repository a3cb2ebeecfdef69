//! A run as the checks see it: the history, what the scenario promised about it, and what was counted.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{ContenderId, ForGood, History, LockId, PermitsLeft, Rendezvous, VirtualTime};

/// Everything that a check may look at.
#[derive(Clone, Debug)]
pub struct Run {
    /// What happened.
    pub history: History,
    /// What the scenario fixed beforehand.
    pub facts: Facts,
    /// What was counted on the way.
    pub counts: Counts,
    /// When the service gave every session its full time again, in order: whenever a new leader began.
    pub lease_resets: Vec<VirtualTime>,
    /// Leases that were extended for contenders that did not believe in the lock any more, in order.
    pub late_extensions: Vec<LateExtension>,
    /// What the plan has taken for good.
    pub for_good: ForGood,
    /// Where each fault of the plan is in the end.
    pub awaited: Vec<AwaitedFault>,
    /// What the service counts of the permits of each lock in the end, where it does.
    pub permits_left: Vec<Option<PermitsLeft>>,
}

/// How far a fault had come when the run ended: what says why it never fired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AwaitedFault {
    /// How often what it waits for has happened.
    pub seen: u32,
    /// When it was to strike, if its trigger has come.
    pub due: Option<VirtualTime>,
}

/// A server has extended the lease of an owner that did not believe in the lock any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateExtension {
    /// The owner.
    pub by: ContenderId,
    /// The lock.
    pub lock: LockId,
    /// When it asked for the extension: before it left, if its request was on its way for so long.
    pub sent: VirtualTime,
    /// When the server extended the lease.
    pub at: VirtualTime,
}

/// What the scenario and the algorithm fix before a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// How long a session or lease outlives its last sign of life at most: longer than that, an owner without a
    /// live believer is an orphan.
    pub lease: Duration,
    /// How long a session or lease outlives its last sign of life at least.
    pub lease_least: Duration,
    /// How long a contender that could know of a loss may take to act on it.
    pub reaction: Duration,
    /// How long after the storm every waiter must have had the lock.
    pub progress_bound: Duration,
    /// How often a request that waits may be overtaken. None: no file says.
    pub bypass_bound: Option<u32>,
    /// How often others may be let in while a contender asks in vain. None: no file says.
    pub starvation_bound: Option<u32>,
    /// What the resource held at first.
    pub initial_value: i64,
    /// What one section does to the value of the resource: `after = before + step`. None: sections only write.
    pub step: Option<i64>,
    /// No section may take the value below this (the stock of a shop). None: no bound.
    pub floor: Option<i64>,
    /// How many may hold the lock at once, each with a permit: one of a mutex, and of a semaphore as many as it has.
    pub permits: u32,
    /// How many permits each contender takes by one call, by its number: one, of those that are not in the list.
    pub permits_per_acquire: Vec<u32>,
    /// The faults of the plan that must have fired for the run to mean anything.
    pub faults_planned: u32,
    /// Whether a contender must have waited for the lock for the run to mean anything.
    pub must_contend: bool,
    /// What contenders wait for, if the locks are barriers of any kind. None: they are none.
    pub rendezvous: Option<Rendezvous>,
    /// Whether several servers each say who owns the lock, as those of Redis do: what one of them has lost, the others
    /// may not know.
    pub servers_decide_alone: bool,
    /// Whether a hold goes with the session of its contender, which is told when that ends.
    pub held_by_session: bool,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(10),
            lease_least: Duration::from_secs(6),
            reaction: Duration::from_millis(500),
            progress_bound: Duration::from_secs(60),
            bypass_bound: None,
            starvation_bound: None,
            initial_value: 0,
            step: None,
            floor: None,
            permits: 1,
            permits_per_acquire: Vec::new(),
            faults_planned: 0,
            must_contend: false,
            rendezvous: None,
            servers_decide_alone: false,
            held_by_session: false,
        }
    }
}

/// What was counted at the servers and at the clients during a run. "Drain" is from the first release on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct Counts {
    /// Times that the lock was granted.
    pub grants: u64,
    /// Departures from the queue during the drain: releases, and deaths of holders and waiters.
    pub departures: u64,
    /// Notifications that servers sent while contenders were still arriving.
    pub notifications_arriving: u64,
    /// Notifications that servers sent during the drain to contenders that wait.
    pub notifications_to_waiters: u64,
    /// Notifications that servers sent during the drain to the contender whose departure caused them.
    pub notifications_to_releaser: u64,
    /// Wake-ups of waiters during the drain.
    pub wakeups: u64,
    /// Wake-ups during the drain after which the waiter had to wait again.
    pub wasted_wakeups: u64,
    /// Requests that reached servers during the drain, keep-alives apart.
    pub requests: u64,
    /// Bytes to and from clients during the drain, keep-alives apart.
    pub bytes: u64,
    /// Events that the engine dispatched in the whole run.
    pub engine_events: u64,
    /// Virtual time that the run took.
    pub virtual_time_micros: u64,
}

impl Counts {
    /// Adds what another run counted.
    pub fn add(&mut self, other: &Self) {
        let Self {
            grants,
            departures,
            notifications_arriving,
            notifications_to_waiters,
            notifications_to_releaser,
            wakeups,
            wasted_wakeups,
            requests,
            bytes,
            engine_events,
            virtual_time_micros,
        } = other;
        self.grants += grants;
        self.departures += departures;
        self.notifications_arriving += notifications_arriving;
        self.notifications_to_waiters += notifications_to_waiters;
        self.notifications_to_releaser += notifications_to_releaser;
        self.wakeups += wakeups;
        self.wasted_wakeups += wasted_wakeups;
        self.requests += requests;
        self.bytes += bytes;
        self.engine_events += engine_events;
        self.virtual_time_micros += virtual_time_micros;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_field_by_field() {
        let counts = Counts {
            grants: 1,
            departures: 2,
            notifications_arriving: 3,
            notifications_to_waiters: 4,
            notifications_to_releaser: 5,
            wakeups: 6,
            wasted_wakeups: 7,
            requests: 8,
            bytes: 9,
            engine_events: 10,
            virtual_time_micros: 11,
        };
        let mut twice = counts;
        twice.add(&counts);
        assert_eq!((twice.grants, twice.departures), (2, 4));
        assert_eq!((twice.requests, twice.bytes), (16, 18));
        assert_eq!(twice.virtual_time_micros, 22);
    }
}
