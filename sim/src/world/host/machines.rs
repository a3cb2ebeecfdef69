//! The machines that a host runs, and what it keeps of each.

use picklock_checker::{ContenderId, VirtualTime};

use super::event::HostEvent;
use super::server_process::ServerProcess;
use super::types::ServiceTypes;
use crate::clock::LocalClock;
use crate::event::ClientId;
use crate::network::ServerId;
use crate::process::{ProcessId, Thread};

/// A client and the process that it is in. What every message touches comes first; it lies in few lines of the cache.
#[repr(C, align(64))]
pub(crate) struct HostedClient<S: ServiceTypes> {
    pub process: ProcessId,
    /// The contender that it belongs to, or [`NO_CONTENDER`](crate::world::NO_CONTENDER); of several tasks that share
    /// it, the one that began it.
    pub by: ContenderId,
    pub(super) counted: u32,
    pub alive: bool,
    pub machine: S::Client,
    /// What the service keeps of it.
    pub state: S::ClientState,
    /// When it is woken by its own clock, and when that is in the world's time. An event that comes earlier is of an
    /// alarm that another has replaced.
    pub(super) wake: VirtualTime,
    pub(super) alarm: VirtualTime,
}

impl<S: ServiceTypes> HostedClient<S> {
    /// A client of a thread that has asked for nothing yet.
    pub fn of(thread: Thread, machine: S::Client) -> Self {
        Self {
            process: thread.process,
            by: thread.contender,
            counted: 0,
            alive: true,
            machine,
            state: S::ClientState::default(),
            wake: VirtualTime::NEVER,
            alarm: VirtualTime::NEVER,
        }
    }
}

/// A server and what it does at the moment.
pub(crate) struct HostedServer<S: ServiceTypes> {
    pub machine: S::Server,
    pub clock: LocalClock,
    pub process: ServerProcess<HostEvent<S>>,
    /// When it is woken. An event that comes earlier is of an alarm that another has replaced.
    pub(super) wake: VirtualTime,
    pub busy_until: VirtualTime,
    /// What the service keeps of it.
    pub state: S::ServerState,
}

impl<S: ServiceTypes> HostedServer<S> {
    /// A server that runs.
    pub fn of(machine: S::Server, state: S::ServerState) -> Self {
        Self {
            machine,
            clock: LocalClock::default(),
            process: ServerProcess::begun(),
            wake: VirtualTime::NEVER,
            busy_until: VirtualTime::ZERO,
            state,
        }
    }

    /// It does one thing after the other: from now on one that takes so many microseconds. Answers when that is done.
    #[inline]
    pub fn occupy(&mut self, now: VirtualTime, micros: u64) -> VirtualTime {
        let begins = self.busy_until.max(now).micros();
        self.busy_until = VirtualTime::from_micros(begins.saturating_add(micros));
        self.busy_until
    }
}

/// The machine that an event comes to.
pub(crate) enum Recipient {
    Client(ClientId),
    Server(ServerId),
    /// Its handler looks at the machines itself.
    World,
    /// It was lost on its way.
    Lost,
}
