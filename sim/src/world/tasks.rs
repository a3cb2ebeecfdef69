//! Which contenders are tasks of one process, and what they share.

use std::ops::Range;

use picklock_checker::ContenderId;

use super::{SimulatedService, World};
use crate::event::ClientId;
use crate::plan::{ContenderName, Workload};
use crate::process::{ProcessId, Thread};

/// Stands for the contender of a client that is no contender's: a bystander's, or an operator's.
pub(crate) const NO_CONTENDER: ContenderId = ContenderId(u32::MAX);

/// How contenders are spread over processes: the first so many are tasks of the first process, and so on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tasks {
    contenders: u32,
    /// Of each process.
    each: u32,
}

impl Tasks {
    /// Those of a workload.
    pub fn of_workload(workload: &Workload) -> Self {
        Self {
            contenders: workload.contenders,
            each: workload.tasks_per_process.max(1),
        }
    }

    /// How many processes have contenders. Those of bystanders come after them, and last the operator's.
    pub fn processes(self) -> u32 {
        self.contenders.div_ceil(self.each)
    }

    /// Whether each is a process of its own.
    #[inline]
    pub fn are_alone(self) -> bool {
        self.each == 1
    }

    /// The process of a contender.
    #[inline]
    pub fn process_of(self, by: ContenderId) -> ProcessId {
        match self.each {
            1 => ProcessId(by.0),
            each => ProcessId(by.0 / each),
        }
    }

    /// The contenders that are tasks of a process, by number. None of a bystander's, or of the operator's.
    #[inline]
    pub fn of(self, process: ProcessId) -> Range<u32> {
        let first = process.0.saturating_mul(self.each).min(self.contenders);
        first..first.saturating_add(self.each).min(self.contenders)
    }

    /// The number of a task in its process, from one: what a thread's id is.
    pub fn number_of(self, by: ContenderId) -> u32 {
        match by {
            NO_CONTENDER => 1,
            _ => by.0 % self.each + 1,
        }
    }

    /// Whether contenders run in a process.
    #[inline]
    pub fn are_in(self, process: ProcessId) -> bool {
        match self.each {
            1 => process.0 < self.contenders,
            _ => process.0 < self.processes(),
        }
    }
}

impl<S: SimulatedService> World<S> {
    /// The process of a contender that a plan names.
    #[inline]
    pub(crate) fn process_named(&self, name: ContenderName) -> ProcessId {
        self.tasks.process_of(ContenderId(name.0))
    }

    /// A contender and its process.
    pub(crate) fn thread_of(&self, contender: ContenderId) -> Thread {
        let process = self.tasks.process_of(contender);
        Thread { process, contender }
    }

    /// The contenders that are tasks of a process.
    #[inline]
    pub(crate) fn tasks_of(
        &self,
        process: ProcessId,
    ) -> impl Iterator<Item = ContenderId> + use<S> {
        self.tasks.of(process).map(ContenderId)
    }

    /// The contenders whose handles stand on a client of a process: one, or several that share it.
    #[inline]
    pub(crate) fn users_of(
        &self,
        process: ProcessId,
        client: ClientId,
    ) -> impl Iterator<Item = ContenderId> + '_ {
        let users = self.tasks_of(process);
        users.filter(move |by| self.contenders[by.0 as usize].client == Some(client))
    }

    /// Whether the tasks of a process have one client.
    #[inline]
    pub(crate) fn shares_clients(&self) -> bool {
        self.plan.workload.share.is_of_client()
    }

    /// The client of a process that is there to be shared: the latest of its tasks' that lives.
    pub(crate) fn shared_client(
        &self,
        process: ProcessId,
        lives: impl Fn(ClientId) -> bool,
    ) -> Option<ClientId> {
        if !self.shares_clients() {
            return None;
        }
        let tasks = self.tasks_of(process);
        let clients = tasks.filter_map(|by| self.contenders[by.0 as usize].client);
        clients.filter(|client| lives(*client)).max()
    }

    /// A thread stands on this client of its process from now on, if there is one.
    pub(crate) fn stands_on(
        &mut self,
        thread: Thread,
        client: Option<ClientId>,
    ) -> Option<ClientId> {
        if client.is_some() {
            self.contenders[thread.contender.0 as usize].client = client;
        }
        client
    }

    /// Writes an event of each task of a process down.
    pub(crate) fn record_of_each(
        &mut self,
        process: ProcessId,
        what: impl Fn(ContenderId) -> picklock_checker::EventKind,
    ) {
        for by in self.tasks_of(process) {
            self.record(what(by));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(contenders: u32, each: u32) -> Tasks {
        Tasks { contenders, each }
    }

    #[test]
    fn contenders_are_tasks_of_processes_in_their_order() {
        let two_each = tasks(4, 2);
        assert_eq!(two_each.processes(), 2);
        let processes = [0, 1, 2, 3].map(|by| two_each.process_of(ContenderId(by)).0);
        assert_eq!(processes, [0, 0, 1, 1]);
        assert_eq!(
            [0, 1, 2].map(|process| two_each.of(ProcessId(process))),
            [0..2, 2..4, 4..4]
        );
        assert_eq!(
            [0, 1, 2].map(|process| two_each.are_in(ProcessId(process))),
            [true, true, false]
        );
        let numbers = [0, 1, 2].map(|by| two_each.number_of(ContenderId(by)));
        assert_eq!(numbers, [1, 2, 1]);
    }

    #[test]
    fn a_contender_alone_is_a_process() {
        let alone = tasks(3, 1);
        assert_eq!(alone.processes(), 3);
        assert_eq!(alone.of(ProcessId(2)), 2..3);
        assert!(alone.of(ProcessId(3)).is_empty() && !alone.are_in(ProcessId(3)));
    }
}
