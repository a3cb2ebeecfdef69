//! Whether what happens comes to somebody who runs. What comes to one that stands still is put aside; what comes to a
//! dead one is gone.

use super::World;
use crate::event::Event;
use crate::process::{ProcessId, ProcessState};
use crate::zookeeper::messages::{ConnectionId, ServerId, ServerMessage};

/// Whom an event comes to.
enum Recipient {
    Process(ProcessId),
    Server(ServerId),
    /// Nobody, or somebody who sees for himself.
    World,
}

impl World {
    /// Answers the event if its recipient runs.
    #[inline(never)]
    pub(super) fn deliver(&mut self, event: Event) -> Option<Event> {
        let event = match event {
            Event::Redis(event) => return self.deliver_redis(event),
            event => event,
        };
        match self.recipient(&event) {
            Recipient::World => Some(event),
            Recipient::Process(process) => self.deliver_to_process(process, event),
            Recipient::Server(server) => self.deliver_to_server(server, event),
        }
    }

    fn recipient(&self, event: &Event) -> Recipient {
        match event {
            Event::ToServer { connection, .. } | Event::ClientClosed { connection } => {
                Recipient::Server(self.connections.get(*connection).server)
            }
            Event::ToClient { connection, .. }
            | Event::ConnectionOpened { connection }
            | Event::ConnectionReset { connection } => {
                Recipient::Process(self.process_of(*connection))
            }
            Event::Peer { to, .. } => Recipient::Server(*to),
            Event::PeerLost { server, .. } => Recipient::Server(*server),
            Event::ClientWake { client } | Event::IsroReply { client, .. } => {
                Recipient::Process(self.clients[client.0 as usize].process)
            }
            Event::Timer { process, .. }
            | Event::Alarm { process }
            | Event::Answer { process, .. } => Recipient::Process(*process),
            Event::ConnectRequest { .. }
            | Event::IsroProbe { .. }
            | Event::ServerWake { .. }
            | Event::Redis(_)
            | Event::Resource { .. }
            | Event::Strike { .. }
            | Event::Heal { .. }
            | Event::QuiescenceCheck
            | Event::StormEnds
            | Event::StormMayEnd
            | Event::BoundReached
            | Event::Drained => Recipient::World,
        }
    }

    pub(super) fn deliver_to_process(&mut self, process: ProcessId, event: Event) -> Option<Event> {
        let recipient = &mut self.processes[process.0 as usize];
        match recipient.state {
            ProcessState::Running => return Some(event),
            ProcessState::Paused => recipient.backlog.push(event),
            ProcessState::Crashed => self.drop_for_dead_process(process, &event),
        }
        None
    }

    /// The dead get no answers and no notifications, and nobody need wait until they have them. What has come to one
    /// that stands still is under way until it runs again, or dies.
    pub(super) fn drop_for_dead_process(&mut self, process: ProcessId, event: &Event) {
        match event {
            Event::Answer { .. } => self.resource_in_flight -= 1,
            Event::ToClient { message, .. } => {
                if let ServerMessage::Notification { .. } = message {
                    self.notified(process, false);
                }
            }
            Event::Redis(event) => self.drop_redis_event(process, event),
            Event::ToServer { .. }
            | Event::ConnectRequest { .. }
            | Event::ConnectionOpened { .. }
            | Event::ConnectionReset { .. }
            | Event::ClientClosed { .. }
            | Event::Peer { .. }
            | Event::PeerLost { .. }
            | Event::ServerWake { .. }
            | Event::ClientWake { .. }
            | Event::IsroProbe { .. }
            | Event::IsroReply { .. }
            | Event::Timer { .. }
            | Event::Alarm { .. }
            | Event::Resource { .. }
            | Event::Strike { .. }
            | Event::Heal { .. }
            | Event::QuiescenceCheck
            | Event::StormEnds
            | Event::StormMayEnd
            | Event::BoundReached
            | Event::Drained => {}
        }
    }

    pub(super) fn deliver_to_server(&mut self, server: ServerId, event: Event) -> Option<Event> {
        let slot = &mut self.servers[server.0 as usize];
        if !slot.up {
            return None;
        }
        if slot.hung {
            slot.backlog.push(event);
            return None;
        }
        Some(event)
    }

    /// The process of the client that has a connection.
    pub(super) fn process_of(&self, connection: ConnectionId) -> ProcessId {
        self.connections.get(connection).process
    }

    /// Looks whether anybody does not run, after a fault has struck or healed.
    pub(super) fn update_all_run(&mut self) {
        let runs = |state| state == ProcessState::Running;
        self.all_run = self.processes.iter().all(|process| runs(process.state))
            && self.servers.iter().all(|slot| slot.up && !slot.hung)
            && self.redis.all_run();
    }
}
