//! The life of Redis servers in the world.

use picklock_checker::service_event::MessageLoss;
use picklock_checker::{Ended, ServerChange, VirtualTime};
use picklock_clients::redis::{Command, Value};
use picklock_machines::Chance;
use picklock_redis::{Input, Now, Output, ProcessEnd};

use super::command_text::CommandText;
use super::event::RedisEvent;
use super::operator::OPERATOR;
use super::{SimulatedRedis, Unanswered, is_message, sentinel_links};
use crate::event::Event;
use crate::network::{ConnectionId, RequestId, ServerId};
use crate::ownership::Actor;
use crate::trace::CONNECTION_GONE;
use crate::trace::MessageDirection::{ToClient, ToServer};
use crate::trace::MessageStep::{Closed, Lost, Received, Sent};
use crate::world::triggers::{Moment, Occasion};
use crate::world::{MessageFate, NO_CONTENDER, World};

impl World<SimulatedRedis> {
    fn server_now(&self, server: ServerId) -> Now {
        let clock = &self.service.servers[server.0 as usize].clock;
        Now {
            monotonic: clock.monotonic(self.now),
            wall_micros: clock.wall(self.now),
        }
    }

    /// Lets a server handle an input. [`apply_server_outputs`](Self::apply_server_outputs) does what it wants done.
    pub(super) fn server_input(&mut self, server: ServerId, input: Input) {
        let now = self.server_now(server);
        let publisher = self.publisher(&input);
        let redis = &mut self.service;
        let machine = &mut redis.servers[server.0 as usize].machine;
        let tape = &mut self.tape;
        let mut choose = |options| tape.choose(options);
        machine.handle(now, input, &mut choose, &mut redis.server_outputs);
        self.record_publications(server, publisher);
        self.keys_may_change(server);
        self.follow_role(server);
    }

    /// Does what a server wants done. A fault that waits for one of these may make it want more: that comes after them.
    pub(super) fn apply_server_outputs(&mut self, server: ServerId) {
        let SimulatedRedis {
            saying,
            server_outputs,
            to_be_said,
            ..
        } = &mut self.service;
        if saying.contains(&server) {
            to_be_said.extend(server_outputs.drain(..).map(|output| (server, output)));
            return;
        }
        saying.push(server);
        self.do_each(
            |world| &mut world.service.server_outputs,
            |world, output| world.apply_server_output(server, output),
        );
        let of_this = |(of, _): &(ServerId, Output)| *of == server;
        while let Some(next) = self.service.to_be_said.iter().position(of_this) {
            let (_, output) = self.service.to_be_said.remove(next);
            self.apply_server_output(server, output);
        }
        self.service.saying.pop();
        self.arm_server(server);
    }

    fn apply_server_output(&mut self, server: ServerId, output: Output) {
        match output {
            Output::ToClient { connection, .. } if connection == OPERATOR => {}
            Output::ToClient { connection, value } if sentinel_links::is_call(connection) => {
                self.answer_call(server, sentinel_links::call(connection), value);
            }
            Output::ToClient { connection, value } => {
                self.send_to_client(server, connection, value);
            }
            Output::Close { connection } if sentinel_links::is_call(connection) => {
                self.close_call(server, sentinel_links::call(connection));
            }
            Output::Close { connection } => self.close_client(connection),
            Output::ReachPrimary { to } => self.reach_primary(server, &to),
            Output::ToPeer { link, message } => self.send_to_peer(server, link, message),
            Output::CloseLink { link } => self.close_link(server, link),
            Output::ToNode { to, message } => self.send_to_node(server, to, message),
            // What happens from here on proves nothing.
            Output::NotModelled { what } => self.not_modelled(what),
            Output::ScriptCut { script, line } => {
                self.not_modelled(format!(
                    "the script {script} goes on for ever in line {line}"
                ));
            }
        }
    }

    fn not_modelled(&mut self, what: String) {
        self.recorder.history.not_modelled.get_or_insert(what);
        self.ended = self.ended.or(Some(Ended::NotModelled));
    }

    pub(super) fn arm_server(&mut self, server: ServerId) {
        let slot = &mut self.service.servers[server.0 as usize];
        let wake = slot.clock.world_time(slot.machine.next_wake());
        if slot.life.runs() && wake < slot.wake {
            slot.wake = wake.max(self.now);
            let event = RedisEvent::ServerWake { server };
            self.timeline.add(slot.wake, Event::Service(event));
        }
    }

    pub(super) fn server_wake(&mut self, server: ServerId) {
        let slot = &mut self.service.servers[server.0 as usize];
        if slot.wake > self.now {
            return;
        }
        slot.wake = VirtualTime::NEVER;
        if slot.life.runs() {
            self.server_input(server, Input::Wake);
            self.apply_server_outputs(server);
        }
    }

    /// A client knocks: taken if the server runs, refused otherwise.
    pub(super) fn connect_request(&mut self, connection: ConnectionId) {
        let server = self.server_of(connection);
        if self.retries_connect_without_power(connection) {
            return;
        }
        if !self.service.life(server).is_up() {
            self.record_refused_connection(server, connection);
            self.notify_connection_reset(connection);
            return;
        }
        let at = self.reaches_client(connection, self.now, 0);
        let ends = self.connections.get_mut(connection);
        (ends.open_at_server, ends.was_opened) = (true, true);
        let slot = self.service.servers.get(usize::from(server.0));
        // One that stands still has a kernel that takes it, and learns of it by what comes first.
        if slot.is_some_and(|slot| !slot.life.is_hung()) {
            let connected = Input::Connected { connection };
            self.server_input(server, connected);
            self.apply_server_outputs(server);
        }
        let event = RedisEvent::ConnectionOpened { connection };
        self.timeline.add(at, Event::Service(event));
    }

    pub(super) fn gone(&mut self, connection: ConnectionId) {
        let server = self.server_of(connection);
        let ends = self.connections.get_mut(connection);
        if !std::mem::take(&mut ends.open_at_server) {
            return;
        }
        self.trace(connection, (ToServer, Closed), &CONNECTION_GONE);
        if self.service.is_sentinel(server) {
            self.sentinel_is_left(server, connection);
        } else {
            let gone = Input::Gone { connection };
            self.server_input(server, gone);
            self.apply_server_outputs(server);
        }
    }

    /// A command arrives.
    pub(super) fn at_server(&mut self, connection: ConnectionId, command: Command) {
        let ends = *self.connections.get(connection);
        if !ends.open_at_server || ends.broken {
            self.trace(connection, (ToServer, Lost), &CommandText(&command));
            return;
        }
        self.trace(connection, (ToServer, Received), &CommandText(&command));
        if self.service.is_sentinel(ends.server) {
            self.deliver_to_sentinel(ends.server, connection, command);
            return;
        }
        let by = self.arrived_at(connection);
        if self.draining && by != NO_CONTENDER {
            self.recorder.counts.requests += 1;
            self.recorder.counts.bytes += command.wire_bytes();
        }
        let kind = self.watches_moments().then(|| command.kind());
        let before = self.service.stream_of(ends.server);
        self.service.look = self.lock_request_of(by, connection, &command);
        let received = Input::Received {
            connection,
            command,
        };
        self.server_input(ends.server, received);
        if let Some(kind) = kind {
            let traffic = &self.service.traffic[connection.0 as usize];
            let number = traffic.answered + 1;
            let request = RequestId { connection, number };
            self.moment(Moment::new(by.0, Occasion::Committed(kind)).about(request));
        }
        let after = self.service.stream_of(ends.server);
        let replicated = kind.filter(|_| after > before);
        if let Some(kind) = replicated {
            self.await_replication(ends.server, Some(ends.server), (by.0, kind), after);
        }
        self.apply_server_outputs(ends.server);
        self.service.look = None;
        if let Some(kind) = replicated {
            self.moment(Moment::new(by.0, Occasion::Streamed(kind)));
        }
    }

    fn send_to_client(&mut self, server: ServerId, connection: ConnectionId, value: Value) {
        let ends = *self.connections.get(connection);
        if !ends.open_at_server || ends.broken {
            self.record_lost_message(connection, &value, MessageLoss::ConnectionGone);
            return;
        }
        let process = self.process_of(connection);
        self.trace(connection, (ToClient, Sent), &value);
        self.record_subscription(server, connection, &value);
        self.record_error(server, connection, &value);
        let mut extra = 0;
        if is_message(&value) {
            self.count_message(process, false);
            // Nobody is told that it is lost.
            let number = 0;
            let message = RequestId { connection, number };
            let is_lost = self.users_at(connection).into_iter().any(|by| {
                let fate = self.fate_of(by.0, Occasion::Told, message);
                fate == Some(MessageFate::Lost)
            });
            if is_lost {
                self.unheard(process);
                self.trace(connection, (ToClient, Lost), &value);
                self.record_lost_message(connection, &value, MessageLoss::OnItsWay);
                return;
            }
        } else {
            self.note_refusal(self.answered_at(connection), connection, &value);
            match self.fate_of_answer(connection) {
                None => {}
                Some(MessageFate::Late(by)) => extra = by,
                // No fault swallows an answer of Redis.
                Some(MessageFate::Lost | MessageFate::Swallowed) => {
                    self.trace(connection, (ToClient, Lost), &value);
                    self.cut(connection);
                    return;
                }
            }
        }
        let takes = self.service.deployment.command_time;
        let slot = &mut self.service.servers[server.0 as usize];
        slot.busy_until = slot.busy_until.max(self.now) + takes;
        let departs = slot.busy_until;
        let at = self.reaches_client(connection, departs, extra);
        if self.is_answer_given_up(connection, (departs, at)) {
            return;
        }
        let event = RedisEvent::ToClient { connection, value };
        self.timeline.add(at, Event::Service(event));
    }

    fn fate_of_answer(&mut self, connection: ConnectionId) -> Option<MessageFate> {
        let traffic = &mut self.service.traffic[connection.0 as usize];
        let Unanswered { kind, by, .. } = traffic.unanswered.pop_front()?;
        traffic.answered += 1;
        let number = traffic.answered;
        let request = RequestId { connection, number };
        self.fate_of(by.0, Occasion::Answered(kind), request)
    }

    /// The server closes its end; the client learns of it when the news has travelled.
    pub(super) fn close_client(&mut self, connection: ConnectionId) {
        let ends = self.connections.get_mut(connection);
        if std::mem::take(&mut ends.open_at_server) {
            self.notify_connection_reset(connection);
        }
    }

    /// A client learns that its connection is gone, or is none, when the news has travelled.
    pub(super) fn notify_connection_reset(&mut self, connection: ConnectionId) {
        let at = self.reaches_client(connection, self.now, 0);
        let event = RedisEvent::ConnectionReset { connection };
        self.timeline.add(at, Event::Service(event));
    }

    /// The server's process dies. Its kernel closes its connections.
    pub(super) fn crash_server(&mut self, server: ServerId) {
        if self.service.is_sentinel(server) {
            self.crash_sentinel(server);
            return;
        }
        let Some(unread) = self.service.life(server).end() else {
            return;
        };
        unread.iter().for_each(|event| self.trace_lost(event));
        // Of a server that is down nobody can own anything.
        self.update_owners(Actor::Service);
        self.close_links_of(server);
        self.close_calls_to(server);
        self.close_connections_to(server);
    }

    /// A server or a Sentinel has died: its kernel closes its connections to clients.
    pub(super) fn close_connections_to(&mut self, server: ServerId) {
        for number in 0..self.service.traffic.len() {
            let connection = ConnectionId(number as u32);
            if self.server_of(connection) == server {
                self.close_client(connection);
            }
        }
    }

    /// A dead server comes back with what it had on its disk.
    pub(super) fn restart_server(&mut self, server: ServerId) {
        if self.service.is_sentinel(server) {
            self.restart_sentinel(server);
            return;
        }
        let slot = &mut self.service.servers[server.0 as usize];
        if !slot.life.start() {
            return;
        }
        slot.wake = VirtualTime::NEVER;
        let dark = slot.dark.take();
        let end = if dark.is_some() {
            ProcessEnd::PowerLoss
        } else {
            ProcessEnd::Kill
        };
        self.record_restart(server, end);
        self.server_changed(server, ServerChange::Restarted);
        let now = self.server_now(server);
        let redis = &mut self.service;
        let machine = &mut redis.servers[server.0 as usize].machine;
        machine.restart(now, end, &mut redis.server_outputs);
        self.follow_keys(server);
        self.follow_role(server);
        self.update_owners(Actor::Service);
        self.apply_server_outputs(server);
        if let Some(dark) = dark {
            self.restore_power(server, dark);
        }
        if !self.struck.servers.is_empty() {
            self.fill_again(server);
        }
    }

    /// A server stands still; its kernel goes on.
    pub(super) fn hang_server(&mut self, server: ServerId) {
        self.service.life(server).hang();
    }

    /// A server that stood still goes on: it reads what has queued up.
    pub(super) fn resume_server(&mut self, server: ServerId) {
        if self.service.is_sentinel(server) {
            self.resume_sentinel(server);
            return;
        }
        let slot = &mut self.service.servers[server.0 as usize];
        let Some(backlog) = slot.life.resume() else {
            return;
        };
        slot.wake = VirtualTime::NEVER;
        for event in backlog {
            match event {
                // Its machine has had it all the time: whoever sent it may be dead by now.
                RedisEvent::ToPeer { to, link, message } => {
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
        let slot = &mut self.service.servers[server.0 as usize];
        slot.clock.jump(by_millis.saturating_mul(1_000));
        slot.lease_check = VirtualTime::NEVER;
        self.follow_keys(server);
    }
}
