//! Callbacks that do not return, or not at once: what they hold up, and what comes of it when they do.

use picklock_checker::VirtualTime;
use picklock_zookeeper::messages::ServerMessage;

use super::SimulatedZooKeeper;
use crate::event::ClientId;
use crate::plan::ContenderName;
use crate::process::{ProcessId, ProcessState};
use crate::world::World;

/// What becomes of the event thread of a client handle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventThreadDelay {
    /// Until when a callback does not return.
    until: VirtualTime,
    /// How many callbacks of a recipe have not returned.
    callbacks: u32,
    /// How many notifications have come to the handle without being delivered.
    notifications: u32,
}

impl World<SimulatedZooKeeper> {
    /// A callback on the event thread of the contender's present handle does not return until then.
    pub(super) fn block_events(&mut self, target: ContenderName, until: VirtualTime) {
        let Some(client) = self.contenders[target.0 as usize].client else {
            return;
        };
        let slot = &mut self.host.clients[client.0 as usize];
        if slot.alive {
            slot.state.held.until = slot.state.held.until.max(until);
            slot.machine.block_events();
        }
    }

    /// Callbacks of a process that are over return, if it runs.
    pub(super) fn unblock_events(&mut self, process: ProcessId) {
        if self.processes[process.0 as usize].state != ProcessState::Running {
            return;
        }
        for client in 0..self.host.clients.len() {
            let slot = &mut self.host.clients[client];
            if slot.process == process
                && slot.machine.events_are_blocked()
                && slot.state.held.until <= self.now
                && slot.state.held.callbacks == 0
            {
                slot.machine.unblock_events();
                let client = ClientId(client as u32);
                self.no_longer_held(client, true);
                for by in self.users(client) {
                    self.resume_event_thread(by);
                }
            }
        }
    }

    /// A recipe begins to run a callback on the event thread of a handle.
    pub(super) fn callback_begins(&mut self, client: ClientId) {
        let slot = &mut self.host.clients[client.0 as usize];
        slot.state.held.callbacks += 1;
        if slot.alive {
            slot.machine.block_events();
        }
    }

    /// A callback of a recipe has returned.
    pub(super) fn callback_ends(&mut self, client: ClientId) {
        let slot = &mut self.host.clients[client.0 as usize];
        slot.state.held.callbacks -= 1;
        let (process, alive) = (slot.process, slot.alive);
        if alive {
            self.unblock_events(process);
        }
    }

    /// A message has come to a client. A notification that waits until a callback returns is still under way; any other
    /// was delivered, if the message was heard.
    pub(super) fn arrived(&mut self, client: ClientId, message: &ServerMessage, heard: bool) {
        let ServerMessage::Notification { .. } = message else {
            return;
        };
        let slot = &mut self.host.clients[client.0 as usize];
        if heard && slot.machine.events_are_blocked() {
            slot.state.held.notifications += 1;
        } else {
            let process = slot.process;
            self.no_longer_under_way((process, client), heard);
        }
    }

    /// Notifications that were held up at a client are delivered, or will never be.
    pub(super) fn no_longer_held(&mut self, client: ClientId, heard: bool) {
        let slot = &mut self.host.clients[client.0 as usize];
        let (process, held) = (
            slot.process,
            std::mem::take(&mut slot.state.held.notifications),
        );
        for _ in 0..held {
            self.no_longer_under_way((process, client), heard);
        }
    }

    fn no_longer_under_way(&mut self, (process, client): (ProcessId, ClientId), heard: bool) {
        match heard {
            true => self.notification_delivered(process, client),
            false => self.notification_lost(process),
        }
    }
}
