//! Delivers events. A paused process keeps its events for later; a dead one loses them.

use super::World;
use super::{HostEvent, SimulatedService};
use crate::event::Event;
use crate::process::{ProcessId, ProcessState};

impl<S: SimulatedService> World<S> {
    /// Answers the event if its recipient runs.
    #[inline(never)]
    pub(crate) fn deliver(&mut self, event: Event<HostEvent<S>>) -> Option<Event<HostEvent<S>>> {
        match event {
            Event::Service(event) => self.deliver_to_machine(event),
            Event::Timer { process, .. }
            | Event::LocalTimer { process }
            | Event::Processed { process, .. }
            | Event::Answer { process, .. } => self.deliver_to_process(process, event),
            // These have no recipient, or their handler looks at the recipient itself.
            Event::Resource { .. }
            | Event::Strike { .. }
            | Event::StrikeAgain { .. }
            | Event::LinkDown { .. }
            | Event::Heal { .. }
            | Event::QuiescenceCheck
            | Event::StormEnds
            | Event::StormMayEnd
            | Event::BoundReached
            | Event::Drained => Some(event),
        }
    }

    /// Answers the event if the process runs that it comes to. One that stands still reads it when it goes on.
    pub(crate) fn deliver_to_process(
        &mut self,
        process: ProcessId,
        event: Event<HostEvent<S>>,
    ) -> Option<Event<HostEvent<S>>> {
        let recipient = &mut self.processes[process.0 as usize];
        match recipient.state {
            ProcessState::Running => return Some(event),
            ProcessState::Paused => recipient.backlog.push(event),
            ProcessState::Crashed => self.drop_for_dead_process(process, &event),
        }
        None
    }

    /// Dead processes get no answers and no notifications, which are under way no longer. An event for a process that
    /// stands still is under way until it runs again, or dies.
    pub(crate) fn drop_for_dead_process(
        &mut self,
        process: ProcessId,
        event: &Event<HostEvent<S>>,
    ) {
        match event {
            Event::Answer { .. } => self.resource_in_flight -= 1,
            Event::Service(event) => self.drop_for_dead_client(process, event),
            Event::Timer { .. }
            | Event::LocalTimer { .. }
            | Event::Processed { .. }
            | Event::Resource { .. }
            | Event::Strike { .. }
            | Event::StrikeAgain { .. }
            | Event::LinkDown { .. }
            | Event::Heal { .. }
            | Event::QuiescenceCheck
            | Event::StormEnds
            | Event::StormMayEnd
            | Event::BoundReached
            | Event::Drained => {}
        }
    }

    /// Looks whether all processes run, after a fault has struck or healed.
    pub(crate) fn update_all_run(&mut self) {
        let runs = |state| state == ProcessState::Running;
        self.all_run = self.processes.iter().all(|process| runs(process.state))
            && self.servers_run()
            && S::others_run(self);
    }
}
