//! The life of Redis clients in the world.

use picklock_checker::service_event::MessageLoss;
use picklock_checker::{ContenderId, EventKind, VirtualTime};
use picklock_clients::redis::{Command, Value};
use picklock_redis::client::{
    Client, Destination, End, Input, Output, RedisClientConfig, SwitchMaster,
};

use super::SimulatedRedis;
use super::command_text::CommandText;
use super::event::RedisEvent;
use super::{RedisClient, Traffic, Unanswered, is_message};
use crate::event::{ClientId, Event};
use crate::network::{ConnectionId, RequestId};
use crate::plan::Cluster;
use crate::process::{ProcessId, Thread};
use crate::trace::CONNECTION;
use crate::trace::MessageDirection::{ToClient, ToServer};
use crate::trace::MessageStep::{Lost, Opened, Received};
use crate::world::triggers::{Moment, Occasion};
use crate::world::{NO_CONTENDER, World};

impl World<SimulatedRedis> {
    /// Gives a thread a new client.
    pub fn add_client(&mut self, of: Thread) -> ClientId {
        let deployment = &self.service.deployment;
        let (sentinels, cluster) = (deployment.sentinels.as_ref(), deployment.cluster.as_ref());
        let settings = RedisClientConfig {
            nodes: self.service.nodes(),
            timeout: deployment.timeout,
            connect_timeout: deployment.connect_timeout,
            retries: deployment.retries,
            retry_pause: deployment.retry_pause,
            retry_pause_max: deployment.retry_pause_max,
            replay: deployment.replay,
            resend: deployment.resend,
            close_on_timeout: deployment.close_on_timeout,
            switch_master: sentinels.map_or(SwitchMaster::Nowhere, |it| it.switch_master),
            sentinels: sentinels.map_or(0, |it| it.number),
            poll: match cluster {
                Some(cluster) => cluster.poll,
                None => sentinels.and_then(|it| it.poll),
            },
            cluster: cluster.map_or(0, Cluster::nodes),
            connections: deployment.connections,
            replicas: deployment.replicas,
            read_from: deployment.read_from,
        };
        let id = ClientId(self.service.clients.len() as u32);
        self.service.clients.push(RedisClient {
            process: of.process,
            by: of.contender,
            machine: Client::new(settings),
            alive: true,
            wake: VirtualTime::NEVER,
            alarm: VirtualTime::NEVER,
            counted: 0,
            blocked: None,
        });
        if let Some(contender) = self.contenders.get_mut(of.contender.0 as usize) {
            contender.client = Some(id);
        }
        id
    }

    /// Lets a client handle an input, and does what it wants done.
    pub fn client_input(&mut self, id: ClientId, input: Input) {
        let slot = &mut self.service.clients[id.0 as usize];
        if !slot.alive {
            return;
        }
        if let Some(blocked) = &mut slot.blocked {
            return blocked.call(input);
        }
        let process = slot.process;
        let now = self.local_now(process);
        let redis = &mut self.service;
        let machine = &mut redis.clients[id.0 as usize].machine;
        machine.handle(now, input, &mut redis.client_outputs);
        self.do_each(
            |world| &mut world.service.client_outputs,
            |world, output| world.apply_client_output(id, output),
        );
        self.update_client(id);
    }

    fn apply_client_output(&mut self, id: ClientId, output: Output) {
        match output {
            Output::Connect { end, to } => self.connect(id, end, &to),
            Output::Send {
                connection,
                command,
                again,
                caller,
            } => {
                let by = caller.unwrap_or(self.service.clients[id.0 as usize].by);
                if again {
                    self.resent(by, connection, &command);
                }
                self.send_to_server(connection, command, by);
            }
            Output::Disconnect { connection } => self.hang_up(connection),
        }
    }

    /// The library of a contender's client sends a request again, and nobody has told it to.
    #[cold]
    fn resent(&mut self, by: ContenderId, connection: ConnectionId, command: &Command) {
        if by != NO_CONTENDER {
            self.record_resent(connection, by, command);
            self.record(EventKind::Resent { by });
        }
    }

    /// Counts what a client waits for, and sees to it that it is woken in time.
    fn update_client(&mut self, client: ClientId) {
        let slot = &mut self.service.clients[client.0 as usize];
        if self.tasks.are_in(slot.process) {
            let in_flight = slot.machine.requests_in_flight();
            self.busy.requests = self.busy.requests + in_flight - slot.counted;
            slot.counted = in_flight;
        }
        self.arm_client(client);
    }

    /// Sees to it that a client is woken in time.
    fn arm_client(&mut self, client: ClientId) {
        let slot = &mut self.service.clients[client.0 as usize];
        let wake = slot.machine.next_wake();
        if slot.alive && wake < slot.wake {
            slot.wake = wake;
            let at = self.processes[slot.process.0 as usize].world_time(wake);
            slot.alarm = at;
            let event = RedisEvent::ClientWake { client };
            self.timeline.add(at.max(self.now), Event::Service(event));
        }
    }

    /// The clock that the clients of a process go by has changed its pace.
    pub(super) fn rearm_clients(&mut self, process: ProcessId) {
        for id in 0..self.service.clients.len() {
            if self.service.clients[id].process == process {
                self.service.clients[id].wake = VirtualTime::NEVER;
                self.arm_client(ClientId(id as u32));
            }
        }
    }

    pub(super) fn client_wake(&mut self, client: ClientId) {
        let slot = &mut self.service.clients[client.0 as usize];
        if slot.alarm > self.now {
            return;
        }
        slot.wake = VirtualTime::NEVER;
        slot.alarm = VirtualTime::NEVER;
        self.client_input(client, Input::Wake);
    }

    fn connect(&mut self, client: ClientId, end: End, to: &Destination) {
        let server = match to {
            Destination::Node(node) => self.service.server_for(*node),
            Destination::Replica(nth) => self.service.replica_for(*nth),
            Destination::Sentinel(index) => self.service.sentinel(*index),
            Destination::Address(address) => {
                let known = self.server_at(address);
                known.expect("servers and Sentinels name servers that there are")
            }
        };
        let process = self.service.clients[client.0 as usize].process;
        let ends = (process, client.0);
        let connection = self.connections.open(ends, server);
        self.service.traffic.push(Traffic::default());
        let now = self.local_now(process);
        let slot = &mut self.service.clients[client.0 as usize];
        slot.machine.connecting(now, end, connection);
        let at = self.reaches_server(connection, 0);
        let event = RedisEvent::ConnectRequest { connection };
        self.timeline.add(at, Event::Service(event));
    }

    /// The client closes its end: what it has sent still arrives, what comes is not read.
    fn hang_up(&mut self, connection: ConnectionId) {
        self.connections.get_mut(connection).open_at_client = false;
        let at = self.reaches_server(connection, 0);
        self.timeline
            .add(at, Event::Service(RedisEvent::ClientClosed { connection }));
    }

    fn send_to_server(&mut self, connection: ConnectionId, command: Command, by: ContenderId) {
        if self.service.is_sentinel(self.server_of(connection)) {
            self.send_to_sentinel(connection, command);
            return;
        }
        let kind = command.kind();
        let traffic = &mut self.service.traffic[connection.0 as usize];
        traffic.sent += 1;
        let sent = self.now;
        traffic.unanswered.push_back(Unanswered { kind, sent, by });
        let number = traffic.sent;
        let request = RequestId { connection, number };
        self.moment(Moment::new(by.0, Occasion::Sent(kind)).about(request));
        self.record_script(&command);
        let Some(extra) = self.sends(connection, &CommandText(&command)) else {
            self.cut(connection);
            return;
        };
        if !self.connections.get(connection).open_at_client {
            return self.trace(connection, (ToServer, Lost), &CommandText(&command));
        }
        let at = self.reaches_server(connection, extra);
        if self.is_given_up(connection, at) {
            return;
        }
        let event = RedisEvent::ToServer {
            connection,
            command,
        };
        self.timeline.add(at, Event::Service(event));
    }

    /// The connection breaks, and both sides learn of it. What is under way is lost with it.
    pub(super) fn cut(&mut self, connection: ConnectionId) {
        let ends = self.connections.get_mut(connection);
        ends.broken = true;
        let (at_client, at_server) = (ends.open_at_client, ends.open_at_server);
        if at_client {
            let event = RedisEvent::ConnectionReset { connection };
            self.timeline.add(self.now, Event::Service(event));
        }
        if at_server {
            let event = RedisEvent::ClientClosed { connection };
            self.timeline.add(self.now, Event::Service(event));
        }
    }

    /// Every connection of a process breaks.
    pub(super) fn cut_connections_of(&mut self, process: ProcessId) {
        for connection in self.connections_of(process) {
            self.cut(connection);
        }
    }

    fn connections_of(&self, process: ProcessId) -> Vec<ConnectionId> {
        let clients = self.service.clients.iter();
        let own = clients.filter(|slot| slot.alive && slot.process == process);
        own.flat_map(|slot| slot.machine.connections()).collect()
    }

    /// A process has died. Its kernel closes its connections.
    pub(super) fn clients_die(&mut self, process: ProcessId) {
        for connection in self.connections_of(process) {
            self.hang_up(connection);
        }
        for index in 0..self.service.clients.len() {
            let slot = &mut self.service.clients[index];
            if slot.process == process && slot.alive {
                slot.alive = false;
                self.busy.requests -= std::mem::take(&mut slot.counted);
                self.drop_backlog(ClientId(index as u32));
            }
        }
    }

    pub(super) fn opened(&mut self, connection: ConnectionId) {
        let ends = *self.connections.get(connection);
        let slot = &self.service.clients[ends.client as usize];
        let wanted = slot.alive && slot.machine.connections().any(|it| it == connection);
        if ends.open_at_client && wanted {
            self.trace(connection, (ToServer, Opened), &CONNECTION);
            let client = ClientId(ends.client);
            self.client_input(client, Input::Opened { connection });
        } else {
            // It has given up waiting.
            self.hang_up(connection);
        }
    }

    pub(super) fn broken(&mut self, connection: ConnectionId) {
        let ends = self.connections.get_mut(connection);
        ends.open_at_client = false;
        let client = ClientId(ends.client);
        let is_refused = !ends.was_opened && !ends.broken;
        self.trace_end_of_connection(connection, is_refused);
        self.client_input(client, Input::Broken { connection });
    }

    pub(super) fn at_client(&mut self, connection: ConnectionId, value: Value) {
        let ends = *self.connections.get(connection);
        let process = self.process_of(connection);
        let heard = ends.open_at_client && !ends.broken;
        let step = if heard { Received } else { Lost };
        self.trace(connection, (ToClient, step), &value);
        if self.service.is_sentinel(ends.server) {
            // It is for the library alone.
            if heard {
                let client = ClientId(ends.client);
                self.client_input(client, Input::Received { connection, value });
            }
            return;
        }
        if is_message(&value) {
            if !heard {
                self.record_lost_message(connection, &value, MessageLoss::ConnectionGone);
            }
            match heard {
                true => self.notified(process, ClientId(ends.client)),
                false => self.unheard(process),
            }
        } else {
            self.on_refusal(connection, heard);
        }
        if heard {
            let client = ClientId(ends.client);
            let received = match self.watches_requests() && !is_message(&value) {
                true => self.answer_arrives(|answer| answer.connection == connection),
                false => None,
            };
            self.client_input(client, Input::Received { connection, value });
            if let Some(received) = received {
                self.moment(received);
            }
        }
    }
}
