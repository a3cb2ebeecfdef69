//! A client as a machine.

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_machines::{Alarm, Chance, ConnectionId, Machine, Now, ServerId};

use super::state::{Call, CallState, Client, Input, Output, Turn};
use crate::rpc::{ServerBody, ServerMessage};

/// How long it waits before it connects once more: a second at first, and at most two minutes.
fn dial_backoff(failures: u32) -> Duration {
    let longer = Duration::from_secs(1).mul_f64(1.6_f64.powi(failures.min(12) as i32));
    longer.min(Duration::from_secs(120))
}

impl Client {
    fn refused(&mut self, now: VirtualTime, member: ServerId, failures: u32) {
        let at = now + dial_backoff(failures);
        self.dials.insert(member, (at, failures + 1));
    }

    fn broken(&mut self, turn: &mut Turn, connection: ConnectionId, member: ServerId) {
        if self.connections.get(&member) != Some(&connection) {
            // It broke before it was open.
            let dial = self.dials.get(&member).copied();
            if let Some((VirtualTime::NEVER, failures)) = dial {
                self.refused(turn.now, member, failures);
            }
            return;
        }
        self.connections.remove(&member);
        self.dials.insert(member, (turn.now, 0));
        if self.keep_alives.stream.is_at(connection) {
            self.keep_alive_stream_broken(turn.now);
        }
        if self.watches.stream.is_at(connection) {
            self.watch_stream_broken(turn.now);
        }
        self.calls_broken(turn, connection);
    }

    fn received(&mut self, turn: &mut Turn, connection: ConnectionId, message: ServerMessage) {
        let ServerMessage { call, body } = message;
        let of_watches = self.watches.stream.is(connection, call);
        let of_leases = self.keep_alives.stream.is(connection, call);
        match body {
            ServerBody::Unary(header, response) => {
                self.call_answered(turn, (connection, call), Ok((header, response)));
            }
            ServerBody::Error(status) if of_watches => self.watch_stream_failed(turn, status),
            ServerBody::Error(_) if of_leases => self.keep_alive_stream_broken(turn.now),
            ServerBody::Error(status) => self.call_answered(turn, (connection, call), Err(status)),
            ServerBody::Watch(response) if of_watches => self.watch_told(turn, response),
            ServerBody::LeaseKeepAlive(_, lease, ttl) if of_leases => {
                self.kept_alive(turn, lease, ttl);
            }
            // Of a stream that it has given up.
            ServerBody::Watch(_) | ServerBody::LeaseKeepAlive(..) => {}
        }
    }

    fn dial_due(&mut self, turn: &mut Turn) {
        for (member, (at, _)) in &mut self.dials {
            if *at <= turn.now {
                *at = VirtualTime::NEVER;
                turn.out.push(Output::Connect(*member));
            }
        }
    }
}

impl Machine for Client {
    type Input = Input;
    type Output = Output;
    const WAKE: Input = Input::Wake;

    fn handle(
        &mut self,
        now: Now,
        input: Input,
        chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) -> Alarm {
        let now = now.monotonic;
        let turn = &mut Turn { now, chance, out };
        match input {
            Input::Opened(connection, member) => {
                self.dials.remove(&member);
                self.connections.insert(member, connection);
            }
            Input::Refused(member) => {
                let failures = self.dials.get(&member).map_or(0, |(_, failures)| *failures);
                self.refused(now, member, failures);
            }
            Input::Broken(connection, member) => self.broken(turn, connection, member),
            Input::Received(connection, message) => self.received(turn, connection, message),
            Input::Call(id, request, deadline) => {
                let call = Call {
                    request,
                    deadline,
                    attempt: 0,
                    state: CallState::Waits(now),
                };
                self.try_call(turn, id, call);
            }
            Input::Cancel(id) => self.cancel_call(turn, id),
            Input::KeepAlive(lease) => self.keep_alive(turn, lease),
            Input::StopKeepAlive(lease) => {
                self.keep_alives.leases.remove(&lease);
            }
            Input::Watch(key, request) => self.watch(turn, key, request),
            Input::CancelWatch(key) => self.cancel_watch(turn, key),
            Input::Wake => {}
        }
        self.dial_due(turn);
        self.calls_due(turn);
        self.keep_alives_due(turn);
        self.watches_due(turn);
        Alarm::MayBeEarlier
    }

    fn next_wake(&self) -> VirtualTime {
        let calls = self.calls.values().map(|call| match call.state {
            CallState::Waits(at) => at.min(call.deadline),
            CallState::Sent(..) => call.deadline,
        });
        let dials = self.dials.values().map(|(at, _)| *at);
        let leases = match self.keep_alives.leases.is_empty() {
            true => VirtualTime::NEVER,
            false => self.keep_alives.next_send.min(self.keep_alives.next_check),
        };
        let watches = match self.watches.watches.is_empty() {
            true => VirtualTime::NEVER,
            false => self.watches.stream.opens_at(),
        };
        let soonest = calls.chain(dials).chain([leases, watches]).min();
        soonest.unwrap_or(VirtualTime::NEVER)
    }
}
