//! Clients: the machines by which contenders and bystanders ask, and when they are woken.

use picklock_checker::{ContenderId, VirtualTime};
use picklock_machines::{Alarm, Machine, Now};

use super::HostEvent;
use super::machines::HostedClient;
use super::service::SimulatedService;
use super::types::ClientInput;
use crate::event::{ClientId, Event};
use crate::network::{ConnectionId, ServerId};
use crate::process::{ProcessId, Thread};
use crate::world::World;
use crate::world::timeline_lanes::WAKES;

impl<S: SimulatedService> World<S> {
    /// A client for a thread: that of its process, if there is one to be shared.
    pub(crate) fn client_for(&mut self, thread: Thread) -> ClientId {
        let clients = &self.host.clients;
        let lives = |client: ClientId| {
            let slot = &clients[client.0 as usize];
            slot.alive && !S::is_over(&slot.machine)
        };
        let shared = self.shared_client(thread.process, lives);
        self.stands_on(thread, shared)
            .unwrap_or_else(|| self.add_client(thread))
    }

    /// Gives a thread a new client.
    pub(crate) fn add_client(&mut self, of: Thread) -> ClientId {
        let machine = S::new_client(self);
        let id = ClientId(self.host.clients.len() as u32);
        self.host.clients.push(HostedClient::of(of, machine));
        if let Some(contender) = self.contenders.get_mut(of.contender.0 as usize) {
            contender.client = Some(id);
        }
        S::client_added(self, id);
        id
    }

    /// The contenders that stand on a client: several tasks, if they share it.
    pub(crate) fn users(&self, client: ClientId) -> Vec<ContenderId> {
        let slot = &self.host.clients[client.0 as usize];
        match self.shares_clients() {
            true => self.users_of(slot.process, client).collect(),
            false => vec![slot.by],
        }
    }

    /// Lets a client handle an input, and does what it wants done.
    #[inline(never)]
    pub(crate) fn client_input(&mut self, id: ClientId, input: ClientInput<S>) {
        self.frequent_client_input(id, input);
    }

    /// The same where inputs of one kind come often: requests, and messages.
    #[inline(always)]
    pub(crate) fn frequent_client_input(&mut self, id: ClientId, input: ClientInput<S>) {
        let Some(now) = self.clock_of(id) else {
            return;
        };
        let machine = &mut self.host.clients[id.0 as usize].machine;
        let alarm = machine.handle(now, input, &mut self.tape, &mut self.host.client_outputs);
        if self.host.client_outputs.is_empty() {
            self.count_requests(id);
        } else {
            self.apply_client_outputs(id);
        }
        if alarm == Alarm::MayBeEarlier {
            self.arm_client(id);
        }
    }

    /// What the clocks of a client show, if it lives. No client looks at the wall clock, and to read it takes time.
    #[inline]
    fn clock_of(&self, id: ClientId) -> Option<Now> {
        let slot = &self.host.clients[id.0 as usize];
        slot.alive.then(|| Now {
            monotonic: self.local_now(slot.process),
            wall_micros: 0,
        })
    }

    #[inline(never)]
    fn apply_client_outputs(&mut self, id: ClientId) {
        self.do_each(
            |world| &mut world.host.client_outputs,
            |world, output| S::on_client_output(world, id, output),
        );
        self.count_requests(id);
    }

    /// Keeps the number of requests under way up to date.
    #[inline]
    pub(crate) fn count_requests(&mut self, id: ClientId) {
        let slot = &mut self.host.clients[id.0 as usize];
        if self.tasks.are_in(slot.process) {
            let count = match slot.alive {
                true => S::requests_in_flight(&slot.machine),
                false => 0,
            };
            self.busy.requests = self.busy.requests + count - slot.counted as usize;
            slot.counted = count as u32;
        }
    }

    /// Sees to it that a client is woken in time.
    #[inline(never)]
    fn arm_client(&mut self, id: ClientId) {
        let slot = &mut self.host.clients[id.0 as usize];
        let wake = slot.machine.next_wake();
        if slot.alive && wake < slot.wake {
            slot.wake = wake;
            let at = self.processes[slot.process.0 as usize].world_time(wake);
            slot.alarm = at;
            let wake = Event::Service(HostEvent::ClientWake { client: id });
            self.timeline.add_behind(WAKES, at, wake);
        }
        slot.machine.alarm_set(slot.wake);
    }

    /// The clock that the clients of a process go by has changed its pace.
    pub(in crate::world) fn rearm_clients(&mut self, process: ProcessId) {
        for id in 0..self.host.clients.len() {
            if self.host.clients[id].process == process {
                self.host.clients[id].wake = VirtualTime::NEVER;
                self.arm_client(ClientId(id as u32));
            }
        }
    }

    #[cold]
    pub(super) fn client_wake(&mut self, client: ClientId) {
        let process = self.host.clients[client.0 as usize].process;
        let now = self.local_now(process);
        let slot = &mut self.host.clients[client.0 as usize];
        if slot.alarm > self.now {
            return;
        }
        slot.wake = VirtualTime::NEVER;
        slot.alarm = VirtualTime::NEVER;
        if slot.alive && slot.machine.next_wake() <= now {
            self.client_input(client, S::Client::WAKE);
        } else {
            self.arm_client(client);
        }
    }

    /// The open connections of the clients of a process that live, in their order.
    fn connections_of(&self, process: ProcessId) -> Vec<ConnectionId> {
        let clients = self.host.clients.iter();
        let own = clients.filter(|slot| slot.alive && slot.process == process);
        own.flat_map(|slot| S::connections(slot)).collect()
    }

    /// Every connection of a process breaks.
    pub(crate) fn cut_connections_of(&mut self, process: ProcessId) {
        for connection in self.connections_of(process) {
            self.cut(connection);
        }
    }

    /// The clients of a process that has died die with it. Its kernel closes its connections.
    pub(in crate::world) fn clients_die(&mut self, process: ProcessId) {
        for connection in self.connections_of(process) {
            self.hang_up(connection);
        }
        for index in 0..self.host.clients.len() {
            let slot = &mut self.host.clients[index];
            if slot.process == process && slot.alive {
                slot.alive = false;
                self.busy.requests -= std::mem::take(&mut slot.counted) as usize;
                S::client_died(self, ClientId(index as u32));
            }
        }
    }

    /// A client asks a server for a connection.
    #[cold]
    pub(crate) fn connect(&mut self, client: ClientId, server: ServerId) -> ConnectionId {
        let process = self.host.clients[client.0 as usize].process;
        let connection = self.connections.open((process, client.0), server);
        let at = self.arrival_at_server(connection, 0);
        let request = HostEvent::ConnectRequest { connection };
        self.timeline.add(at, Event::Service(request));
        connection
    }
}
