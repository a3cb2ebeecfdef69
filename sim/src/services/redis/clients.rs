//! The life of Redis clients in the world.

use picklock_checker::VirtualTime;
use picklock_checker::service_event::MessageLoss;
use picklock_checker::{ContenderId, EventKind};
use picklock_clients::redis::{Command, Value};
use picklock_redis::client::{Client, Destination, End, Input, Output, RedisClientConfig};

use super::SimulatedRedis;
use super::{Traffic, Unanswered, is_message};
use crate::event::ClientId;
use crate::network::{ConnectionId, RequestId, ServerId};
use crate::plan::Cluster;
use crate::process::ProcessId;
use crate::world::moment::{Moment, MomentKind};
use crate::world::{Arrival, ClientSide, HostEvent, HostedClient, NO_CONTENDER, World};

impl World<SimulatedRedis> {
    /// A task asks a client for something: it waits for its turn if a callback holds up the event loop.
    pub(super) fn call_client(&mut self, id: ClientId, input: Input) {
        match &mut self.host.clients[id.0 as usize].state.blocked {
            Some(blocked) => blocked.call(input),
            None => self.client_input(id, input),
        }
    }

    /// The library of a contender's client sends a request again, and its caller has not asked for that.
    #[cold]
    fn resent(&mut self, by: ContenderId, connection: ConnectionId, command: &Command) {
        if by != NO_CONTENDER {
            self.record_resent(connection, by, command);
            self.record(EventKind::Resent { by });
        }
    }

    fn connect_to(&mut self, client: ClientId, end: End, to: &Destination) {
        let server = match to {
            Destination::Node(node) => self.service.server_for(*node),
            Destination::Replica(nth) => self.service.replica_for(*nth),
            Destination::Sentinel(index) => self.service.sentinel(*index),
            Destination::Address(address) => {
                let known = self.server_at(address);
                known.expect("servers and Sentinels name servers that there are")
            }
        };
        let connection = self.connect(client, server);
        self.service.traffic.push(Traffic::default());
        let now = self.local_now(self.process_of(connection));
        let slot = &mut self.host.clients[client.0 as usize];
        slot.machine.connecting(now, end, connection);
    }

    fn send_command(&mut self, connection: ConnectionId, command: Command, by: ContenderId) {
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
        self.moment(Moment::new(by.0, MomentKind::Sent(kind)).about(request));
        self.record_script(&command);
        self.send_to_server(connection, command);
    }
}

impl ClientSide for SimulatedRedis {
    /// The machine of a new client.
    fn new_client(world: &mut World<Self>) -> Client {
        let deployment = &world.service.deployment;
        let (sentinels, cluster) = (deployment.sentinels.as_ref(), deployment.cluster.as_ref());
        let settings = RedisClientConfig {
            nodes: world.service.nodes(),
            timeout: deployment.timeout,
            connect_timeout: deployment.connect_timeout,
            retries: deployment.retries,
            retry_pause: deployment.retry_pause,
            retry_pause_max: deployment.retry_pause_max,
            replay: deployment.replay,
            resend: deployment.resend,
            close_on_timeout: deployment.close_on_timeout,
            switch_master: deployment.switch_master,
            sentinels: sentinels.map_or(0, |sentinels| sentinels.number),
            poll: deployment.poll,
            cluster: cluster.map_or(0, Cluster::nodes),
            connections: deployment.connections,
            replicas: deployment.replicas,
            read_from: deployment.read_from,
        };
        Client::new(settings)
    }

    fn client_died(world: &mut World<Self>, client: ClientId) {
        world.drop_backlog(client);
    }

    fn requests_in_flight(client: &Client) -> usize {
        client.requests_in_flight()
    }

    fn connections(slot: &HostedClient<Self>) -> impl Iterator<Item = ConnectionId> {
        slot.machine.connections()
    }

    #[inline(always)]
    fn client_input((connection, _): (ConnectionId, ServerId), arrival: Arrival<Value>) -> Input {
        match arrival {
            Arrival::Opened => Input::Opened { connection },
            Arrival::Closed { .. } => Input::Broken { connection },
            Arrival::Message(value) => Input::Received { connection, value },
        }
    }

    #[inline(always)]
    fn on_client_output(world: &mut World<Self>, client: ClientId, output: Output) {
        match output {
            Output::Connect { end, to } => world.connect_to(client, end, &to),
            Output::Send {
                connection,
                command,
                again,
                caller,
            } => {
                let by = caller.unwrap_or(world.host.clients[client.0 as usize].by);
                if again {
                    world.resent(by, connection, &command);
                }
                world.send_command(connection, command, by);
            }
            Output::Disconnect { connection } => world.hang_up(connection),
        }
    }

    /// An answer, or a message, has come to a client. Answers the moment of an answer that faults may wait for.
    #[inline(always)]
    fn reply_arrives(
        world: &mut World<Self>,
        client: ClientId,
        (connection, heard): (ConnectionId, bool),
        value: &Value,
    ) -> Option<Moment> {
        if world.service.is_sentinel(world.server_of(connection)) {
            // It is for the library alone.
            return None;
        }
        if is_message(value) {
            let process = world.process_of(connection);
            match heard {
                true => world.notification_delivered(process, client),
                false => {
                    world.record_lost_message(connection, value, MessageLoss::ConnectionGone);
                    world.notification_lost(process);
                }
            }
            return None;
        }
        world.on_refusal(connection, heard);
        match heard && world.watches_requests() {
            true => world.answer_arrives(|answer| answer.connection == connection),
            false => None,
        }
    }

    fn reply_died(
        world: &mut World<Self>,
        process: ProcessId,
        connection: ConnectionId,
        value: &Value,
    ) {
        if is_message(value) && !world.service.is_sentinel(world.server_of(connection)) {
            world.record_lost_message(connection, value, MessageLoss::ConnectionGone);
            world.notification_lost(process);
        }
    }

    #[inline]
    fn gives_up_request(world: &mut World<Self>, by: ConnectionId, at: VirtualTime) -> bool {
        world.is_given_up(by, at)
    }

    fn reads(
        world: &mut World<Self>,
        client: ClientId,
        event: HostEvent<Self>,
    ) -> Option<HostEvent<Self>> {
        world.read_by_event_loop(client, event)
    }
}
