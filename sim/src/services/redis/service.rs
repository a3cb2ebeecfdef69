//! What Redis brings into the world: the hooks of the host, in the order of [`SimulatedService`].

use super::redis_server::{RedisServer, ServerState};
use super::{ClientState, RedisEvent, SimulatedRedis, handle, is_message, setup};
use crate::engine::Tape;
use crate::event::ClientId;
use crate::network::{ConnectionId, ServerId, Side};
use crate::plan::{Fault, LockName, Plan, ServerName};
use crate::process::{ProcessId, Thread};
use crate::world::moment::Moment;
use crate::world::{
    HostEvent, HostedClient, MessageFate, Read, Recipient, ServerProcess, ServiceTypes, Shared,
    SimulatedService, World,
};
use picklock_algorithms::Lock;
use picklock_checker::service_event::MessageLoss;
use picklock_checker::{ContenderId, LockId, VirtualTime};
use picklock_clients::env::Env;
use picklock_clients::redis::{Command, Value};
use picklock_clients::zookeeper::Path;
use picklock_redis::client::{Client, Input as ClientInput, Output as ClientOutput};
use picklock_redis::{Input as ServerInput, Output as ServerOutput, Server};
use std::rc::Rc;
use std::time::Duration;

impl ServiceTypes for SimulatedRedis {
    type Server = Server;
    type Client = Client;
    type ServerState = ServerState;
    type ClientState = ClientState;
    type Request = Command;
    type Reply = Value;
    type OwnEvent = RedisEvent;
    const EVENT_NUMBERS: [u64; 8] = [20, 21, 22, 23, 24, 25, 26, 27];
}

impl SimulatedService for SimulatedRedis {
    const WAITERS_ASK_AGAIN: bool = true;

    fn new(plan: &Plan, tape: &mut Tape) -> (Self, Vec<RedisServer>) {
        setup::deployed(plan, tape)
    }

    fn lock_names(plan: &Plan) -> Vec<Path> {
        let names = (0..plan.workload.locks).map(LockName);
        names
            .map(|lock| format!("lock:{}", lock.letter()).into())
            .collect()
    }

    fn start(world: &mut World<Self>) {
        world.arm_sentinels();
    }

    fn new_client(world: &mut World<Self>) -> Client {
        world.new_client()
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

    fn opened(connection: ConnectionId) -> ClientInput {
        ClientInput::Opened { connection }
    }

    fn broken(connection: ConnectionId, _was_opened: bool) -> ClientInput {
        ClientInput::Broken { connection }
    }

    #[inline(always)]
    fn received(connection: ConnectionId, value: Value) -> ClientInput {
        ClientInput::Received { connection, value }
    }

    #[inline(always)]
    fn on_client_output(world: &mut World<Self>, client: ClientId, output: ClientOutput) {
        world.apply_client_output(client, output);
    }

    #[inline(always)]
    fn handle(world: &mut World<Self>, server: ServerId, input: ServerInput) {
        world.handle_at(server, input);
    }

    fn on_server_output(world: &mut World<Self>, server: ServerId, output: ServerOutput) {
        world.apply_server_output(server, output);
    }

    fn process(world: &mut World<Self>, machine: ServerId) -> &mut ServerProcess<HostEvent<Self>> {
        world.machine_process(machine)
    }

    fn keeps_waiting(world: &mut World<Self>, connection: ConnectionId) -> bool {
        world.retries_connect_without_power(connection)
    }

    fn refuses(world: &mut World<Self>, server: ServerId, connection: ConnectionId) {
        world.record_refused_connection(server, connection);
    }

    fn accepted(world: &mut World<Self>, server: ServerId, connection: ConnectionId) {
        let slot = world.host.servers.get(usize::from(server.0));
        // One that stands still has a kernel that takes it, and learns of it by what comes first.
        if slot.is_some_and(|slot| !slot.process.is_hung()) {
            world.server_input(server, ServerInput::Connected { connection });
        }
    }

    fn client_gone(world: &mut World<Self>, server: ServerId, connection: ConnectionId) {
        match world.service.is_sentinel(server) {
            true => world.sentinel_is_left(server, connection),
            false => world.server_input(server, ServerInput::Gone { connection }),
        }
    }

    #[inline(always)]
    fn request_arrives(
        world: &mut World<Self>,
        server: ServerId,
        connection: ConnectionId,
        command: Command,
    ) {
        world.command_arrives(server, connection, command);
    }

    #[inline(always)]
    fn fate_of_reply(
        world: &mut World<Self>,
        server: ServerId,
        by: (ConnectionId, bool),
        value: &Value,
    ) -> Option<MessageFate> {
        world.fate_of_value(server, by.0, value)
    }

    #[inline(always)]
    fn reply_departs(
        world: &mut World<Self>,
        server: ServerId,
        _connection: ConnectionId,
        _value: &Value,
    ) -> VirtualTime {
        world.departs(server)
    }

    fn cannot_reply(world: &mut World<Self>, connection: ConnectionId, value: &Value) {
        world.record_lost_message(connection, value, MessageLoss::ConnectionGone);
    }

    #[inline(always)]
    fn reply_arrives(
        world: &mut World<Self>,
        client: ClientId,
        by: (ConnectionId, bool),
        value: &Value,
    ) -> Option<Moment> {
        world.value_arrives(client, by, value)
    }

    fn reply_died(
        world: &mut World<Self>,
        process: ProcessId,
        connection: ConnectionId,
        value: &Value,
    ) {
        if is_message(value) && !world.service.is_sentinel(world.server_of(connection)) {
            world.record_lost_message(connection, value, MessageLoss::ConnectionGone);
            world.unheard(process);
        }
    }

    #[inline]
    fn gives_up_request(world: &mut World<Self>, by: ConnectionId, at: VirtualTime) -> bool {
        world.is_given_up(by, at)
    }

    #[inline]
    fn gives_up_reply(
        world: &mut World<Self>,
        by: ConnectionId,
        departs_and_at: (VirtualTime, VirtualTime),
    ) -> bool {
        world.is_answer_given_up(by, departs_and_at)
    }

    fn undelivered(world: &mut World<Self>, server: ServerId, connection: ConnectionId) {
        world.is_not_acknowledged(server, connection);
    }

    fn reads(
        world: &mut World<Self>,
        client: ClientId,
        event: HostEvent<Self>,
    ) -> Option<HostEvent<Self>> {
        world.read_by_event_loop(client, event)
    }

    fn on_own_event(world: &mut World<Self>, event: RedisEvent) {
        world.on_redis_event(event);
    }

    fn recipient(world: &World<Self>, event: &RedisEvent) -> Recipient {
        world.recipient_of(event)
    }

    fn trace_lost(world: &mut World<Self>, event: &RedisEvent) {
        world.trace_lost_between(event);
    }

    fn others_run(world: &World<Self>) -> bool {
        let mut sentinels = world.service.sentinels.iter();
        let mut clients = world.host.clients.iter();
        sentinels.all(|slot| slot.process.runs())
            && clients.all(|slot| slot.state.blocked.is_none())
    }

    fn connect(
        shared: &Rc<Shared<Self>>,
        by: ContenderId,
        env: &Env,
        locks: &[LockId],
    ) -> Vec<Box<dyn Lock>> {
        handle::connect(shared, by, env, locks)
    }

    fn bystander(shared: &Rc<Shared<Self>>, thread: Thread, index: u32) -> Read {
        handle::bystander(shared, thread, index)
    }

    fn is_idle(world: &World<Self>, by: ContenderId) -> bool {
        let client = world.contenders[by.0 as usize].client;
        client.is_some_and(|client| {
            let slot = &world.host.clients[client.0 as usize];
            slot.machine.requests_in_flight() == 0 && slot.state.blocked.is_none()
        })
    }

    fn unanswered(world: &World<Self>, by: ContenderId) -> Option<u64> {
        Some(world.unanswered_of(by))
    }

    fn process_resumed(world: &mut World<Self>, process: ProcessId) {
        world.unblock_event_loops(process);
    }

    fn server(world: &World<Self>, name: ServerName) -> Option<ServerId> {
        world.server(name)
    }

    fn died(world: &mut World<Self>, machine: ServerId) {
        match world.service.is_sentinel(machine) {
            true => world.sentinel_died(machine),
            false => world.server_died(machine),
        }
    }

    fn restarted(world: &mut World<Self>, machine: ServerId) {
        match world.service.is_sentinel(machine) {
            true => world.sentinel_restarted(machine),
            false => world.server_restarted(machine),
        }
    }

    fn resumed(world: &mut World<Self>, machine: ServerId, backlog: Vec<HostEvent<Self>>) {
        match world.service.is_sentinel(machine) {
            true => world.sentinel_resumed(machine, backlog),
            false => world.server_resumed(machine, backlog),
        }
    }

    fn inject(world: &mut World<Self>, fault: &Fault) -> Option<Duration> {
        world.inject_at_deployment(fault)
    }

    fn heal(world: &mut World<Self>, number: usize, fault: &Fault) {
        world.heal_at_deployment(number, fault);
    }

    fn struck_until(world: &World<Self>) -> Option<VirtualTime> {
        // A server that hung, or ran another script, has begun with this one later.
        let slots = world.host.servers.iter();
        let ends =
            slots.filter_map(|slot| Some(slot.clock.world_time(slot.machine.script_ends()?)));
        ends.filter(|ends| *ends != VirtualTime::NEVER).max()
    }

    fn can_serve(world: &World<Self>, side: &Side) -> Result<(), &'static str> {
        world.side_can_serve(side)
    }

    fn serves_client_reaching(world: &World<Self>, reached: &Side) -> bool {
        world.side_serves_client_reaching(reached)
    }
}
