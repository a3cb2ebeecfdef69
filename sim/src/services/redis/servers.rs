//! The life of Redis servers in the world.

use picklock_checker::service_event::MessageLoss;
use picklock_checker::time::whole_micros;
use picklock_checker::{Ended, ServerChange, VirtualTime};
use picklock_clients::redis::{Command, Value};
use picklock_machines::Machine;
use picklock_redis::{Input, Output, ProcessEnd};

use super::event::RedisEvent;
use super::operator::OPERATOR;
use super::{SimulatedRedis, Unanswered, is_message, sentinel_links};
use crate::event::Event;
use crate::network::{ConnectionId, RequestId, ServerId};
use crate::ownership::Actor;
use crate::world::moment::{Moment, MomentKind};
use crate::world::{HostEvent, MessageFate, ServerProcess, ServerSide, World};

impl World<SimulatedRedis> {
    /// Lets a server handle an input. Its keys and its role may be others afterwards.
    pub(super) fn handle_at(&mut self, server: ServerId, input: Input) {
        let now = self.server_now(server);
        let publisher = self.publisher(&input);
        let host = &mut self.host;
        let machine = &mut host.servers[server.0 as usize].machine;
        Machine::handle(
            machine,
            now,
            input,
            &mut self.tape,
            &mut host.server_outputs,
        );
        self.record_publications(server, publisher);
        self.keys_may_change(server);
        self.follow_role(server);
    }

    fn not_modelled(&mut self, what: String) {
        self.recorder.history.not_modelled.get_or_insert(what);
        self.ended = self.ended.or(Some(Ended::NotModelled));
    }

    #[inline(always)]
    fn fate_of_answer(&mut self, connection: ConnectionId) -> Option<MessageFate> {
        let traffic = &mut self.service.traffic[connection.0 as usize];
        let Unanswered { kind, by, .. } = traffic.unanswered.pop_front()?;
        traffic.answered += 1;
        let number = traffic.answered;
        let request = RequestId { connection, number };
        self.fate_of(by.0, MomentKind::Answered(kind), request)
    }

    /// The process of a server has died. Its kernel closes its connections.
    pub(super) fn server_died(&mut self, server: ServerId) {
        // By a server that is down no contender can own anything.
        self.update_owners(Actor::Service);
        self.close_links_of(server);
        self.close_calls_to(server);
        self.close_all_connections_to(server);
    }

    /// A server or a Sentinel has died: its kernel closes its connections to clients.
    pub(super) fn close_all_connections_to(&mut self, server: ServerId) {
        let all = 0..self.service.traffic.len() as u32;
        self.close_connections_to(server, all.map(ConnectionId));
    }

    /// A dead server has come back with what it had on its disk.
    pub(super) fn server_restarted(&mut self, server: ServerId) {
        let power_lost = self.host.servers[server.0 as usize].state.power_lost.take();
        let end = if power_lost.is_some() {
            ProcessEnd::PowerLoss
        } else {
            ProcessEnd::Kill
        };
        self.record_restart(server, end);
        self.record_server_change(server, ServerChange::Restarted);
        let now = self.server_now(server);
        let host = &mut self.host;
        let machine = &mut host.servers[server.0 as usize].machine;
        machine.restart(now, end, &mut host.server_outputs);
        self.follow_keys(server);
        self.follow_role(server);
        self.update_owners(Actor::Service);
        self.apply_server_outputs(server);
        if let Some(power_lost) = power_lost {
            self.restore_power(server, power_lost);
        }
        if !self.struck.servers.is_empty() {
            self.fill_again(server);
        }
    }

    /// A server that stood still goes on: it reads what has queued up.
    pub(super) fn server_resumed(
        &mut self,
        server: ServerId,
        backlog: Vec<HostEvent<SimulatedRedis>>,
    ) {
        for event in backlog {
            match event {
                // Its machine has had it all the time: its sender may be dead by now.
                HostEvent::Own(RedisEvent::ToPeer { to, link, message }) => {
                    self.read_from_peer(to, link, *message);
                }
                event => self.dispatch_from_backlog(Event::Service(event)),
            }
        }
        self.arm_server(server);
    }

    /// The wall clock of a server jumps.
    pub(super) fn jump_clock_of(&mut self, server: ServerId, by_millis: i64) {
        if let Some(slot) = self.service.sentinel_slot(server) {
            slot.clock.jump(by_millis.saturating_mul(1_000));
            return;
        }
        let slot = &mut self.host.servers[server.0 as usize];
        slot.clock.jump(by_millis.saturating_mul(1_000));
        slot.state.lease_check = VirtualTime::NEVER;
        self.follow_keys(server);
    }
}

impl ServerSide for SimulatedRedis {
    #[inline(always)]
    fn handle(world: &mut World<Self>, server: ServerId, input: Input) {
        world.handle_at(server, input);
    }

    fn on_server_output(world: &mut World<Self>, server: ServerId, output: Output) {
        match output {
            Output::ToClient { connection, .. } if connection == OPERATOR => {}
            Output::ToClient { connection, value } if sentinel_links::is_call(connection) => {
                world.answer_call(server, sentinel_links::call(connection), value);
            }
            Output::ToClient { connection, value } => {
                world.send_to_client(server, connection, value, false);
            }
            Output::Close { connection } if sentinel_links::is_call(connection) => {
                world.close_call(server, sentinel_links::call(connection));
            }
            Output::Close { connection } => world.close_client(connection),
            Output::ReachPrimary { to } => world.reach_primary(server, &to),
            Output::ToPeer { link, message } => world.send_to_peer(server, link, message),
            Output::CloseLink { link } => world.close_link(server, link),
            Output::ToNode { to, message } => world.send_to_node(server, to, message),
            // What happens from here on proves nothing.
            Output::NotModelled { what } => world.not_modelled(what),
            Output::ScriptCut { script, line } => {
                world.not_modelled(format!(
                    "the script {script} goes on for ever in line {line}"
                ));
            }
        }
    }

    fn process(world: &mut World<Self>, machine: ServerId) -> &mut ServerProcess<HostEvent<Self>> {
        world.machine_process(machine)
    }

    fn keeps_waiting(world: &mut World<Self>, connection: ConnectionId) -> bool {
        world.retries_connect_without_power(connection)
    }

    fn accepted(world: &mut World<Self>, server: ServerId, connection: ConnectionId) {
        let slot = world.host.servers.get(usize::from(server.0));
        // One that stands still has a kernel that takes it, and learns of it by what comes first.
        if slot.is_some_and(|slot| !slot.process.is_hung()) {
            world.server_input(server, Input::Connected { connection });
        }
    }

    fn refuses(world: &mut World<Self>, connection: ConnectionId) {
        world.record_refused_connection(connection);
    }

    fn client_gone(world: &mut World<Self>, server: ServerId, connection: ConnectionId) {
        match world.service.is_sentinel(server) {
            true => world.sentinel_is_left(server, connection),
            false => world.server_input(server, Input::Gone { connection }),
        }
    }

    /// A command has come to a server that runs.
    #[inline(always)]
    fn request_arrives(
        world: &mut World<Self>,
        server: ServerId,
        connection: ConnectionId,
        command: Command,
    ) {
        if world.service.is_sentinel(server) {
            return world.deliver_to_sentinel(server, connection, command);
        }
        let by = world.arrived_at(connection);
        world.count_request(connection, || command.wire_bytes());
        let kind = world.watches_moments().then(|| command.kind());
        let before = world.stream_of(server);
        world.service.refusal_probe = world.lock_request_of(by, connection, &command);
        let received = Input::Received {
            connection,
            command,
        };
        world.handle_at(server, received);
        if let Some(kind) = kind {
            let traffic = &world.service.traffic[connection.0 as usize];
            let number = traffic.answered + 1;
            let request = RequestId { connection, number };
            world.moment(Moment::new(by.0, MomentKind::Committed(kind)).about(request));
        }
        let after = world.stream_of(server);
        let replicated = kind.filter(|_| after > before);
        if let Some(kind) = replicated {
            world.await_replication(server, Some(server), (by.0, kind), after);
        }
        world.apply_server_outputs(server);
        world.service.refusal_probe = None;
        if let Some(kind) = replicated {
            world.moment(Moment::new(by.0, MomentKind::Streamed(kind)));
        }
    }

    /// What becomes of what a server sends to a client.
    #[inline(always)]
    fn fate_of_reply(
        world: &mut World<Self>,
        server: ServerId,
        (connection, _own): (ConnectionId, bool),
        value: &Value,
    ) -> Option<MessageFate> {
        if world.service.is_sentinel(server) {
            return None;
        }
        world.record_subscription(server, connection, value);
        world.record_error(connection, value);
        if !is_message(value) {
            world.note_refusal(world.answered_at(connection), connection, value);
            return world.fate_of_answer(connection);
        }
        let process = world.process_of(connection);
        world.count_message(process, false);
        // Neither end is told that it is lost.
        let number = 0;
        let message = RequestId { connection, number };
        let is_lost = world.users_at(connection).into_iter().any(|by| {
            let fate = world.fate_of(by.0, MomentKind::Told, message);
            fate == Some(MessageFate::Lost)
        });
        if !is_lost {
            return None;
        }
        world.notification_lost(process);
        world.record_lost_message(connection, value, MessageLoss::OnItsWay);
        Some(MessageFate::Swallowed)
    }

    /// When a server has sent what it sends now: it executes one command after the other.
    #[inline(always)]
    fn reply_departs(
        world: &mut World<Self>,
        server: ServerId,
        _connection: ConnectionId,
        _value: &Value,
    ) -> VirtualTime {
        let takes = whole_micros(world.service.deployment.command_time);
        match world.host.servers.get_mut(usize::from(server.0)) {
            Some(slot) => slot.occupy(world.now, takes),
            // Sentinels take no time.
            None => world.now,
        }
    }

    fn cannot_reply(world: &mut World<Self>, connection: ConnectionId, value: &Value) {
        world.record_lost_message(connection, value, MessageLoss::ConnectionGone);
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
}
