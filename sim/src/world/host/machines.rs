//! The machines that a host runs, and what it keeps of each.

use picklock_checker::{ContenderId, VirtualTime};
use picklock_machines::{Machine, Now};

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

/// A server of a service.
pub(crate) type HostedServer<S> =
    HostedMachine<<S as ServiceTypes>::Server, HostEvent<S>, <S as ServiceTypes>::ServerState>;

/// A machine with a process of its own, as servers have it, and what it does at the moment.
pub(crate) struct HostedMachine<M, E, T> {
    pub machine: M,
    pub clock: LocalClock,
    pub process: ServerProcess<E>,
    /// When it is woken. An event that comes earlier is of an alarm that another has replaced.
    pub(super) wake: VirtualTime,
    pub busy_until: VirtualTime,
    /// What the service keeps of it.
    pub state: T,
}

impl<M: Machine, E, T> HostedMachine<M, E, T> {
    /// A machine that runs.
    pub fn of(machine: M, state: T) -> Self {
        Self {
            machine,
            clock: LocalClock::default(),
            process: ServerProcess::begun(),
            wake: VirtualTime::NEVER,
            busy_until: VirtualTime::ZERO,
            state,
        }
    }

    /// What its clocks show. Its monotonic clock keeps the world's pace; its wall clock may jump.
    #[inline]
    pub fn read_clocks(&self, now: VirtualTime) -> Now {
        Now {
            monotonic: now,
            wall_micros: self.clock.wall(now),
        }
    }

    /// When an event has to wake it, if none does in time. Mostly one does.
    #[inline(always)]
    pub fn arm(&mut self, now: VirtualTime) -> Option<VirtualTime> {
        match self.machine.next_wake() < self.wake && self.process.runs() {
            true => {
                self.wake = self.machine.next_wake().max(now);
                Some(self.wake)
            }
            false => None,
        }
    }

    /// An event comes that is to wake it. Answers whether that is its alarm, and it wants to be woken.
    pub fn wakes(&mut self, now: VirtualTime) -> Wake {
        if self.wake > now {
            return Wake::Replaced;
        }
        self.wake = VirtualTime::NEVER;
        match self.process.runs() && self.machine.next_wake() <= now {
            true => Wake::Due,
            false => Wake::Later,
        }
    }

    /// It has no alarm any more.
    pub fn forget_wake(&mut self) {
        self.wake = VirtualTime::NEVER;
    }

    /// It does one thing after the other: from now on one that takes so many microseconds. Answers when that is done.
    #[inline]
    pub fn occupy(&mut self, now: VirtualTime, micros: u64) -> VirtualTime {
        let begins = self.busy_until.max(now).micros();
        self.busy_until = VirtualTime::from_micros(begins.saturating_add(micros));
        self.busy_until
    }
}

/// What an event means that comes to wake a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// Another alarm has replaced it.
    Replaced,
    /// The machine is to be woken.
    Due,
    /// The machine wants to be woken later, or does not run.
    Later,
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
