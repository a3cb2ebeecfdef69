//! Which contenders cannot get the lock any more, whatever the service does.

use std::time::Duration;

use picklock_checker::{ContenderId, Stranded, VirtualTime};

use crate::network::{ServerId, Side};
use crate::plan::Fault;
use crate::process::{ProcessId, ProcessState};
use crate::world::SimulatedService;
use crate::world::World;

impl<S: SimulatedService> World<S> {
    /// Contenders that owe no progress, if this side serves. Dead contenders are left out.
    pub(crate) fn contenders_gone(&self, serving: Option<&Side>) -> Vec<Stranded> {
        let contenders = (0..self.contenders.len() as u32).map(ContenderId);
        contenders
            .filter_map(|by| self.stranded(by, serving))
            .collect()
    }

    fn stranded(&self, by: ContenderId, serving: Option<&Side>) -> Option<Stranded> {
        let process = self.tasks.process_of(by);
        let number = by.0 + 1;
        let stays = |what: &str, is_heard| {
            Some(Stranded {
                by,
                why: format!("contender-{number} {what} for good"),
                is_heard,
            })
        };
        if self.is_process_gone_for_good(process) {
            let is_dead = self.processes[process.0 as usize].state == ProcessState::Crashed;
            return stays(if is_dead { "is dead" } else { "stands still" }, false);
        }
        let link = self.client_links.get(&process).copied().unwrap_or_default();
        match (link.to_server.is_dead(), link.to_client.is_dead()) {
            (true, _) => return stays("is cut off", false),
            (false, true) => return stays("hears nothing", true),
            (false, false) => {}
        }
        if serving.is_some_and(|side| !self.reaches(process, side)) {
            return stays("is cut off", false);
        }
        let late = link.to_server.slow_for_good() + link.to_client.slow_for_good();
        if Duration::from_micros(late) >= self.plan.service.tolerated_delay() {
            return stays("is slowed down too much", true);
        }
        self.is_blocked_for_good(by).then(|| Stranded {
            by,
            why: format!("a callback of contender-{number} never returns"),
            is_heard: true,
        })
    }

    /// Whether a client reaches the machines that it needs of a side: all of it, or at least one that can serve it.
    fn reaches(&self, process: ProcessId, side: &Side) -> bool {
        let reached: Side = { side.iter().copied() }
            .filter(|server| !self.is_parted_for_good(process, *server))
            .collect();
        if reached.len() == side.len() {
            return true;
        }
        S::serves_client_reaching(self, &reached)
    }

    fn is_parted_for_good(&self, process: ProcessId, server: ServerId) -> bool {
        let mut partitions = self.partitions.iter();
        partitions.any(|split| split.until == VirtualTime::NEVER && split.parts(process, server))
    }

    fn is_blocked_for_good(&self, by: ContenderId) -> bool {
        let client_of = |by: u32| self.contenders[by as usize].client;
        let blocks = |fault: &usize| {
            matches!(self.plan.faults[*fault].inject, Fault::BlockEvents { target, .. }
                if target.0 == by.0
                    || client_of(target.0).is_some_and(|client| client_of(by.0) == Some(client)))
        };
        self.struck.for_good.iter().any(blocks)
    }
}
