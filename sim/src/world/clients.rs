//! The life of client handles in the world: connections, messages, and the waking of contenders.

use picklock_algorithms::clients::RequestKind;
use picklock_algorithms::clients::zookeeper::SessionState;
use picklock_checker::VirtualTime;

use super::timeline_lanes::WAKES;
use super::{ClientSlot, World};
use crate::choice_source::{Link, Message};
use crate::event::{ClientId, Event};
use crate::link_ids;
use crate::network::{ClientLink, Obstacle};
use crate::process::ProcessId;
use crate::world::triggers::{Moment, Occasion};
use crate::zookeeper::client::{Client, Input, Output, ZooKeeperClientConfig};
use crate::zookeeper::messages::{ConnectionId, ServerId};

impl World {
    /// Gives a process a new client handle, which begins to connect.
    pub fn add_client(&mut self, process: ProcessId) -> ClientId {
        let timeout = picklock_checker::time::whole_micros(self.ensemble.session_timeout);
        let request_timeout = self.ensemble.request_timeout;
        let settings = ZooKeeperClientConfig {
            request_timeout: request_timeout.map(picklock_checker::time::whole_micros),
            read_only: self.ensemble.read_only,
            jute_max_buffer: self.ensemble.jute_max_buffer,
            ..ZooKeeperClientConfig::new(timeout, self.ensemble.machines())
                .of(self.ensemble.library, self.ensemble.version)
        };
        let machine = Client::new(settings, &mut self.tape);
        let id = ClientId(self.clients.len() as u32);
        self.clients.push(ClientSlot {
            process,
            machine,
            alive: true,
            connection: None,
            wake: VirtualTime::NEVER,
            alarm: VirtualTime::NEVER,
            sent: Vec::new(),
            counted: 0,
            greeted: false,
            held: super::event_threads::Held::default(),
        });
        if let Some(contender) = self.contenders.get_mut(process.0 as usize) {
            contender.client = Some(id);
        }
        self.client_input(id, Input::Start);
        id
    }

    /// Lets a client handle an input, and does what it wants done.
    pub fn client_input(&mut self, id: ClientId, input: Input) {
        let Some(now) = self.clock_of(id) else {
            return;
        };
        let machine = &mut self.clients[id.0 as usize].machine;
        let earlier = machine.handle(now, input, &mut self.tape, &mut self.client_outputs);
        if self.client_outputs.is_empty() {
            self.count_requests(id);
        } else {
            self.carry_out(id);
        }
        if earlier {
            self.arm_client(id);
        }
    }

    /// What the clock of a client shows, if it lives.
    #[inline]
    pub(super) fn clock_of(&self, id: ClientId) -> Option<VirtualTime> {
        let slot = &self.clients[id.0 as usize];
        slot.alive.then(|| self.local_now(slot.process))
    }

    #[inline(never)]
    fn carry_out(&mut self, id: ClientId) {
        self.do_each(
            |world| &mut world.client_outputs,
            |world, output| world.carry_out_one(id, output),
        );
        self.count_requests(id);
    }

    /// Does everything that stands in one of our lists, and keeps the list's room. Mostly there is one thing or none.
    #[inline]
    pub(super) fn do_each<T>(
        &mut self,
        list: impl Fn(&mut Self) -> &mut Vec<T>,
        mut does: impl FnMut(&mut Self, T),
    ) {
        if list(self).len() > 1 {
            let mut things = std::mem::take(list(self));
            for thing in things.drain(..) {
                does(self, thing);
            }
            *list(self) = things;
        } else if let Some(thing) = list(self).pop() {
            does(self, thing);
        }
    }

    #[inline]
    fn carry_out_one(&mut self, id: ClientId, output: Output) {
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
            Output::AskForWriter { server } => self.ask_for_writer(id, server),
            Output::StateChanged(state) => self.client_state(id, state),
        }
    }

    /// Keeps the number of requests under way up to date.
    #[inline]
    pub(super) fn count_requests(&mut self, id: ClientId) {
        let slot = &mut self.clients[id.0 as usize];
        if (slot.process.0 as usize) < self.contenders.len() {
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
        let slot = &mut self.clients[id.0 as usize];
        let wake = slot.machine.next_wake();
        if slot.alive && wake < slot.wake {
            slot.wake = wake;
            let at = self.processes[slot.process.0 as usize].world_time(wake);
            slot.alarm = at;
            let wake = Event::ClientWake { client: id };
            self.timeline.add_behind(WAKES, at, wake);
        }
        slot.machine.set_alarm(slot.wake);
    }

    /// The clock that a client goes by has changed its pace.
    pub(super) fn set_alarm_again(&mut self, id: ClientId) {
        self.clients[id.0 as usize].wake = VirtualTime::NEVER;
        self.arm_client(id);
    }

    #[cold]
    pub(super) fn client_wake(&mut self, client: ClientId) {
        let process = self.clients[client.0 as usize].process;
        let now = self.local_now(process);
        let slot = &mut self.clients[client.0 as usize];
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

    /// When a message that leaves at `departs` by the link of this number gets through.
    #[inline]
    pub(super) fn travels(
        &mut self,
        link: Link,
        obstacle: Option<Obstacle>,
        departs: VirtualTime,
        extra: u64,
    ) -> VirtualTime {
        let latency = self
            .client_latency
            .draw_of(Message { link, departs }, &mut self.tape)
            + extra;
        match obstacle {
            None => VirtualTime::from_micros(departs.micros() + latency),
            Some(obstacle) => obstacle.arrival(departs, latency),
        }
    }

    /// What the clock of a process shows.
    #[inline]
    pub(super) fn local_now(&self, process: ProcessId) -> VirtualTime {
        if self.clocks_agree {
            self.now
        } else {
            self.processes[process.0 as usize].monotonic(self.now)
        }
    }

    /// What is in the way of the messages of a connection, one way.
    fn in_the_way_of(
        &self,
        connection: ConnectionId,
        way: impl Fn(&ClientLink) -> Obstacle,
    ) -> Option<Obstacle> {
        let ends = self.connections.get(connection);
        self.in_the_way((ends.process, ends.server), way)
    }

    #[cold]
    fn connect(&mut self, client: ClientId, server: ServerId) {
        let slot = &mut self.clients[client.0 as usize];
        let connection = self.connections.open((slot.process, client.0), server);
        let earlier = slot.connection.replace(connection);
        if let Some(earlier) = earlier {
            self.connections.get_mut(earlier).open_at_client = false;
        }
        let at = self.reaches_server(connection);
        self.timeline.add(at, Event::ConnectRequest { connection });
    }

    /// When a message that a client sends now reaches its server.
    fn reaches_server(&mut self, connection: ConnectionId) -> VirtualTime {
        self.reaches_server_later(connection, 0)
    }

    pub(super) fn reaches_server_later(
        &mut self,
        connection: ConnectionId,
        extra: u64,
    ) -> VirtualTime {
        let link = link_ids::to_server(self.connections.get(connection).client);
        let obstacle = self.in_the_way_of(connection, |link| link.to_server);
        let at = self.travels(link, obstacle, self.now, extra);
        self.connections.get_mut(connection).reaches_server(at)
    }

    /// When a message that a server sends at `departs` reaches its client.
    pub(super) fn reaches_client(
        &mut self,
        connection: ConnectionId,
        departs: VirtualTime,
        extra: u64,
    ) -> VirtualTime {
        let link = link_ids::to_client(self.connections.get(connection).client);
        let obstacle = self.in_the_way_of(connection, |link| link.to_client);
        let at = self.travels(link, obstacle, departs, extra);
        self.connections.get_mut(connection).reaches_client(at)
    }

    /// The client closes its end: what it has sent still arrives, what comes is not read.
    #[cold]
    pub(super) fn hang_up(&mut self, connection: ConnectionId) {
        self.connections.get_mut(connection).open_at_client = false;
        let at = self.reaches_server(connection);
        self.timeline.add(at, Event::ClientClosed { connection });
    }

    /// The connection breaks, and both sides learn of it.
    #[cold]
    pub(super) fn cut(&mut self, connection: ConnectionId) {
        let ends = self.connections.get_mut(connection);
        if ends.open_at_client {
            self.timeline
                .add(self.now, Event::ConnectionReset { connection });
        }
        let ends = self.connections.get(connection);
        if ends.open_at_server {
            self.timeline
                .add(self.now, Event::ClientClosed { connection });
        }
        // What is under way is lost with it.
        let ends = self.connections.get_mut(connection);
        ends.broken = true;
    }

    #[cold]
    pub(super) fn opened(&mut self, connection: ConnectionId) {
        let ends = *self.connections.get(connection);
        let client = ClientId(ends.client);
        if ends.open_at_client && self.clients[ends.client as usize].connection == Some(connection)
        {
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
        if self.clients[ends.client as usize].connection == Some(connection) {
            let input = if ends.was_opened {
                Input::Broken { connection }
            } else {
                Input::Refused
            };
            self.client_input(ClientId(ends.client), input);
        }
    }

    /// Looks, after a contender's code has run, whether it has come to wait for somebody.
    pub fn look_at(&mut self, process: ProcessId) {
        let Some(contender) = self.contenders.get_mut(process.0 as usize) else {
            return;
        };
        if !contender.acquiring || contender.waiting || contender.pauses > 0 {
            return;
        }
        let idle = match contender.client {
            Some(client) => {
                let machine = &self.clients[client.0 as usize].machine;
                machine.requests_in_flight() == 0 && machine.state() == SessionState::Connected
            }
            None => self.redis.is_idle(process),
        };
        if !idle {
            return;
        }
        contender.waiting = true;
        self.busy.waiting += 1;
        if contender.woken && self.draining {
            self.recorder.counts.wasted_wakeups += 1;
        }
        contender.woken = false;
        self.moment(Moment {
            by: process.0,
            occasion: Occasion::Waiting,
            request: None,
        });
        self.start_next(process);
    }

    /// Whether a contender's recipe has tasks of its own.
    pub fn has_helpers(&self, process: ProcessId) -> bool {
        let contender = self.contenders.get(process.0 as usize);
        contender.is_some_and(|contender| contender.has_helpers)
    }

    /// Stops counting a contender as one that waits.
    pub fn stops_waiting(&mut self, process: ProcessId) {
        let contender = &mut self.contenders[process.0 as usize];
        contender.woken = false;
        if contender.waiting {
            contender.waiting = false;
            self.busy.waiting -= 1;
        }
    }

    /// The kind of a request that is not answered yet.
    pub(super) fn kind_of(
        &mut self,
        client: usize,
        xid: crate::zookeeper::messages::Xid,
    ) -> Option<RequestKind> {
        let sent = &mut self.clients[client].sent;
        let place = sent.iter().position(|(known, _)| *known == xid)?;
        Some(sent.remove(place).1)
    }

    /// Bytes and requests of contenders, from the first release on.
    pub(super) fn count_bytes(&mut self, process: ProcessId, bytes: u64) {
        if self.draining && (process.0 as usize) < self.contenders.len() {
            self.recorder.counts.bytes += bytes;
        }
    }
}
