//! The life of client handles in the world: connections, messages, and the waking of contenders.

use picklock_checker::VirtualTime;
use picklock_clients::RequestKind;
use picklock_zookeeper::client::{Client, Input, Output, ZooKeeperClientConfig};
use picklock_zookeeper::messages::{ConnectionId, ServerId};

use super::{ClientSlot, SimulatedZooKeeper, ZooKeeperEvent};
use crate::event::{ClientId, Event};
use crate::process::{ProcessId, Thread};
use crate::trace::CONNECTION;
use crate::trace::MessageDirection::ToServer;
use crate::trace::MessageStep::Opened;
use crate::world::World;
use crate::world::timeline_lanes::WAKES;

impl World<SimulatedZooKeeper> {
    /// Gives a thread a new client handle, which begins to connect.
    pub fn add_client(&mut self, of: Thread) -> ClientId {
        let timeout = picklock_checker::time::whole_micros(self.service.ensemble.session_timeout);
        let request_timeout = self.service.ensemble.request_timeout;
        let settings = ZooKeeperClientConfig {
            request_timeout: request_timeout.map(picklock_checker::time::whole_micros),
            read_only: self.service.ensemble.read_only,
            jute_max_buffer: self.service.ensemble.jute_max_buffer,
            ..ZooKeeperClientConfig::new(timeout, self.service.ensemble.machines())
                .of(self.service.ensemble.library, self.service.ensemble.version)
        };
        let machine = Client::new(settings, &mut self.tape);
        let id = ClientId(self.service.clients.len() as u32);
        self.service.clients.push(ClientSlot {
            process: of.process,
            by: of.contender,
            machine,
            alive: true,
            connection: None,
            wake: VirtualTime::NEVER,
            alarm: VirtualTime::NEVER,
            sent: Vec::new(),
            counted: 0,
            greeted: false,
            held: super::event_threads::EventThreadDelay::default(),
        });
        if let Some(contender) = self.contenders.get_mut(of.contender.0 as usize) {
            contender.client = Some(id);
        }
        self.client_input(id, Input::Start);
        id
    }

    /// Lets a client handle an input, and does what it wants done.
    #[inline(never)]
    pub fn client_input(&mut self, id: ClientId, input: Input) {
        self.frequent_client_input(id, input);
    }

    /// The same where inputs of one kind come often: requests, and messages.
    #[inline(always)]
    pub(super) fn frequent_client_input(&mut self, id: ClientId, input: Input) {
        let Some(now) = self.clock_of(id) else {
            return;
        };
        let machine = &mut self.service.clients[id.0 as usize].machine;
        let earlier = machine.handle(now, input, &mut self.tape, &mut self.service.client_outputs);
        if self.service.client_outputs.is_empty() {
            self.count_requests(id);
        } else {
            self.apply_client_outputs(id);
        }
        if earlier {
            self.arm_client(id);
        }
    }

    /// What the clock of a client shows, if it lives.
    #[inline]
    pub(super) fn clock_of(&self, id: ClientId) -> Option<VirtualTime> {
        let slot = &self.service.clients[id.0 as usize];
        slot.alive.then(|| self.local_now(slot.process))
    }

    #[inline(never)]
    fn apply_client_outputs(&mut self, id: ClientId) {
        self.do_each(
            |world| &mut world.service.client_outputs,
            |world, output| world.apply_client_output(id, output),
        );
        self.count_requests(id);
    }

    #[inline]
    fn apply_client_output(&mut self, id: ClientId, output: Output) {
        match output {
            Output::Connect { server } => self.connect(id, server),
            Output::Disconnect { connection } => {
                self.hang_up(connection);
                self.check_list_too_long(id);
            }
            Output::Send {
                connection,
                message,
            } => self.send_to_server(connection, message),
            Output::ProbeIsro { server } => self.send_isro_probe(id, server),
            Output::StateChanged(state) => self.client_state(id, state),
        }
    }

    /// Keeps the number of requests under way up to date.
    #[inline]
    pub(super) fn count_requests(&mut self, id: ClientId) {
        let slot = &mut self.service.clients[id.0 as usize];
        if self.tasks.are_in(slot.process) {
            let count = if slot.alive {
                slot.machine.requests_in_flight()
            } else {
                0
            };
            self.busy.requests = self.busy.requests + count - slot.counted as usize;
            slot.counted = count as u32;
        }
    }

    /// Sees to it that the client is woken in time.
    #[inline(never)]
    fn arm_client(&mut self, id: ClientId) {
        let slot = &mut self.service.clients[id.0 as usize];
        let wake = slot.machine.next_wake();
        if slot.alive && wake < slot.wake {
            slot.wake = wake;
            let at = self.processes[slot.process.0 as usize].world_time(wake);
            slot.alarm = at;
            let wake = Event::Service(ZooKeeperEvent::ClientWake { client: id });
            self.timeline.add_behind(WAKES, at, wake);
        }
        slot.machine.set_alarm(slot.wake);
    }

    /// The clock that a client goes by has changed its pace.
    pub(super) fn rearm_client(&mut self, id: ClientId) {
        self.service.clients[id.0 as usize].wake = VirtualTime::NEVER;
        self.arm_client(id);
    }

    #[cold]
    pub(super) fn client_wake(&mut self, client: ClientId) {
        let process = self.service.clients[client.0 as usize].process;
        let now = self.local_now(process);
        let slot = &mut self.service.clients[client.0 as usize];
        if slot.alarm > self.now {
            return;
        }
        slot.wake = VirtualTime::NEVER;
        slot.alarm = VirtualTime::NEVER;
        if slot.alive && slot.machine.next_wake() <= now {
            self.client_input(client, Input::Wake);
        } else {
            self.arm_client(client);
        }
    }

    #[cold]
    fn connect(&mut self, client: ClientId, server: ServerId) {
        let slot = &mut self.service.clients[client.0 as usize];
        let connection = self.connections.open((slot.process, client.0), server);
        let earlier = slot.connection.replace(connection);
        if let Some(earlier) = earlier {
            self.connections.get_mut(earlier).open_at_client = false;
        }
        let at = self.reaches_server(connection, 0);
        self.timeline.add(
            at,
            Event::Service(ZooKeeperEvent::ConnectRequest { connection }),
        );
    }

    /// The client closes its end: what it has sent still arrives, what comes is not read.
    #[cold]
    pub(super) fn hang_up(&mut self, connection: ConnectionId) {
        self.connections.get_mut(connection).open_at_client = false;
        let at = self.reaches_server(connection, 0);
        self.timeline.add(
            at,
            Event::Service(ZooKeeperEvent::ClientClosed { connection }),
        );
    }

    /// The connection breaks, and both sides learn of it.
    #[cold]
    pub(super) fn cut(&mut self, connection: ConnectionId) {
        let ends = self.connections.get_mut(connection);
        if ends.open_at_client {
            self.timeline.add(
                self.now,
                Event::Service(ZooKeeperEvent::ConnectionReset { connection }),
            );
        }
        let ends = self.connections.get(connection);
        if ends.open_at_server {
            self.timeline.add(
                self.now,
                Event::Service(ZooKeeperEvent::ClientClosed { connection }),
            );
        }
        // What is under way is lost with it.
        let ends = self.connections.get_mut(connection);
        ends.broken = true;
    }

    #[cold]
    pub(super) fn opened(&mut self, connection: ConnectionId) {
        let ends = *self.connections.get(connection);
        let client = ClientId(ends.client);
        if ends.open_at_client
            && self.service.clients[ends.client as usize].connection == Some(connection)
        {
            self.trace(connection, (ToServer, Opened), &CONNECTION);
            self.client_input(client, Input::Opened { connection });
        } else {
            // It has given up waiting.
            self.hang_up(connection);
        }
    }

    #[cold]
    pub(super) fn broken(&mut self, connection: ConnectionId) {
        let ends = *self.connections.get(connection);
        self.connections.get_mut(connection).open_at_client = false;
        if self.service.clients[ends.client as usize].connection == Some(connection) {
            self.trace_end_of_connection(connection, !ends.was_opened && !ends.broken);
            let input = if ends.was_opened {
                Input::Broken { connection }
            } else {
                Input::Refused
            };
            self.client_input(ClientId(ends.client), input);
        }
    }

    /// The kind of a request that is not answered yet.
    pub(super) fn kind_of(
        &mut self,
        client: usize,
        xid: picklock_zookeeper::messages::Xid,
    ) -> Option<RequestKind> {
        let sent = &mut self.service.clients[client].sent;
        let index = sent.iter().position(|(known, _)| *known == xid)?;
        Some(sent.remove(index).1)
    }

    /// The clients of a process that has died die with it. Its kernel closes its connections.
    pub(super) fn clients_die(&mut self, target: ProcessId) {
        for client in 0..self.service.clients.len() {
            let slot = &mut self.service.clients[client];
            if slot.process == target && slot.alive {
                slot.alive = false;
                self.busy.requests -= std::mem::take(&mut slot.counted) as usize;
                if let Some(connection) = slot.connection {
                    self.hang_up(connection);
                }
                self.no_longer_held(ClientId(client as u32), false);
            }
        }
    }
}
