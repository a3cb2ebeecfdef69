//! Event loops that a callback holds up: until it returns, the client sends nothing, reads nothing, and looks at no
//! clock. The tasks of its process go on.

use std::collections::VecDeque;

use picklock_checker::VirtualTime;
use picklock_redis::client::Input;

use super::SimulatedRedis;
use crate::event::{ClientId, Event};
use crate::plan::ContenderName;
use crate::process::{ProcessId, ProcessState};
use crate::world::{HostEvent, World};

/// An event loop in which a callback does not return.
#[derive(Default)]
pub(super) struct BlockedLoop {
    until: VirtualTime,
    /// What waits for its turn, in the order in which it came.
    backlog: VecDeque<Delayed>,
}

/// What waits for its turn in an event loop.
enum Delayed {
    /// It has come to the client.
    Event(HostEvent<SimulatedRedis>),
    /// A task of the process asks for it.
    Call(Input),
}

impl World<SimulatedRedis> {
    /// A callback in the event loop of the contender's present client does not return until then.
    pub(super) fn block_event_loop(&mut self, target: ContenderName, until: VirtualTime) {
        let Some(client) = self.contenders[target.0 as usize].client else {
            return;
        };
        let slot = &mut self.host.clients[client.0 as usize];
        if slot.alive {
            let blocked = slot.state.blocked.get_or_insert_default();
            blocked.until = blocked.until.max(until);
        }
    }

    /// Callbacks of a process that are over return, if it runs.
    pub(super) fn unblock_event_loops(&mut self, process: ProcessId) {
        for index in 0..self.host.clients.len() {
            let slot = &mut self.host.clients[index];
            let runs = self.processes[process.0 as usize].state == ProcessState::Running;
            if runs
                && slot.process == process
                && let Some(blocked) = slot.state.blocked.take_if(|stall| stall.until <= self.now)
            {
                self.hand_over(ClientId(index as u32), blocked.backlog);
            }
        }
    }

    /// The event loop of a client comes to what has waited. If another fault stops it in the middle, the rest waits on.
    fn hand_over(&mut self, client: ClientId, mut backlog: VecDeque<Delayed>) {
        let process = self.host.clients[client.0 as usize].process;
        while let Some(next) = backlog.pop_front() {
            match next {
                Delayed::Event(event) => self.dispatch_from_backlog(Event::Service(event)),
                Delayed::Call(input) => self.call_client(client, input),
            }
            let state = self.processes[process.0 as usize].state;
            let slot = &mut self.host.clients[client.0 as usize];
            if state == ProcessState::Running && slot.state.blocked.is_none() {
                continue;
            }
            let blocked = slot.state.blocked.get_or_insert_default();
            backlog.append(&mut blocked.backlog);
            blocked.backlog = backlog;
            if state == ProcessState::Crashed {
                self.drop_backlog(client);
            }
            return;
        }
    }

    /// Answers an event that comes to a client unless a callback holds up its event loop.
    pub(super) fn read_by_event_loop(
        &mut self,
        client: ClientId,
        event: HostEvent<SimulatedRedis>,
    ) -> Option<HostEvent<SimulatedRedis>> {
        match &mut self.host.clients[client.0 as usize].state.blocked {
            Some(blocked) => {
                blocked.backlog.push_back(Delayed::Event(event));
                None
            }
            None => Some(event),
        }
    }

    /// What has waited for its turn in the event loop of a client that is dead is lost.
    pub(super) fn drop_backlog(&mut self, client: ClientId) {
        let slot = &mut self.host.clients[client.0 as usize];
        let process = slot.process;
        let blocked = slot.state.blocked.take();
        for delayed in blocked.into_iter().flat_map(|blocked| blocked.backlog) {
            match delayed {
                Delayed::Event(event) => self.drop_for_dead_client(process, &event),
                // Its caller is dead, too.
                Delayed::Call(_) => {}
            }
        }
    }
}

impl BlockedLoop {
    /// A task asks for something: it waits for its turn.
    pub(super) fn call(&mut self, input: Input) {
        self.backlog.push_back(Delayed::Call(input));
    }
}
