//! Faults that only Redis can have.

use std::time::Duration;

use picklock_redis::Input;

use super::SimulatedRedis;
use crate::network::ServerId;
use crate::plan::Fault;
use crate::world::World;

impl World<SimulatedRedis> {
    /// Breaks something that only Redis has; answers how long it lasts, if it has to be healed.
    pub(super) fn inject_at_deployment(&mut self, fault: &Fault) -> Option<Duration> {
        if let Fault::PowerLoss {
            target,
            restart_after,
        } = *fault
        {
            let server = self.server(target)?;
            self.dies_by_fault(server, restart_after);
            self.lose_power(server);
            return restart_after;
        }
        if let Fault::DeleteStale { think, .. } = *fault {
            self.look_for_stale();
            return Some(think);
        }
        if let Fault::BlockEvents { target, length } = *fault {
            self.block_event_loop(target, self.until(length));
            return length.duration();
        }
        if let Fault::FullMemory { target, length } | Fault::FullDisk { target, length } = *fault {
            let server = self.server(target)?;
            self.strikes_server(server, length);
            self.fill(fault, server, true);
            return length.duration();
        }
        if let Fault::SlowScript { target, length } = *fault {
            let server = self.server(target)?;
            let runs = self.machine_process(server).runs();
            if runs {
                self.server_input(server, Input::SlowScript { lasts: length });
            }
            return runs.then_some(length);
        }
        if let Fault::MoveSlot { to, length } = *fault {
            let to = self.server(to)?;
            return self.begin_to_move_slot(to, length).then_some(length);
        }
        if let Fault::ServerClockJump { target, by_millis } = *fault
            && let Some(server) = self.server(target)
        {
            self.jump_clock_of(server, by_millis);
        }
        if let Fault::Promote { target } = *fault
            && let Some(server) = self.server(target)
        {
            self.promote(server);
        }
        if let Fault::EvictKey { target } = *fault
            && let Some(server) = self.server(target)
        {
            self.evict_key_from(server);
        }
        None
    }

    /// A fault is over: memory and disks are empty again, and a moving slot comes to its new primary.
    pub(super) fn heal_at_deployment(&mut self, number: usize, fault: &Fault) {
        if let Fault::DeleteStale { compare, .. } = *fault {
            self.delete_stale(number, compare);
        }
        if let Fault::BlockEvents { target, .. } = fault {
            self.unblock_event_loops(self.process_named(*target));
        }
        self.finish_moving_slot(number);
        for server in self.servers_healed_of(number) {
            self.fill(fault, server, false);
        }
    }

    pub(super) fn fill(&mut self, fault: &Fault, server: ServerId, is_full: bool) {
        // No CONFIG SET: a server that runs a script refuses that, and would be full for ever.
        let input = match fault {
            Fault::FullMemory { .. } => Input::Memory { is_full },
            _ => Input::Disk { is_full },
        };
        self.server_input(server, input);
    }
}
