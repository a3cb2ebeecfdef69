//! The calls of Sentinels: to servers, and to each other.

use picklock_clients::redis::{Command, Value};
use picklock_redis::sentinel::{CallId, Input as SentinelInput};
use picklock_redis::{Address, Input};

use super::event::{Call, RedisEvent, SentinelEvent};
use super::role_change::RoleChangeBy;
use super::{SimulatedRedis, is_message};
use crate::network::{ConnectionId, ServerId};
use crate::ownership::Actor;
use crate::trace::MessageStep::{self, Lost, Received, Sent};
use crate::world::World;

/// The connections of Sentinels have numbers from here on; those of clients never come so far.
const FIRST: u32 = 1 << 31;
/// A Sentinel has so many numbers for its calls, as a power of two.
const EACH: u32 = 24;

/// A call, as the Sentinel that has made it sees it.
pub(super) struct SentinelCall {
    to: ServerId,
    open: bool,
    /// The other end has taken it.
    taken: bool,
}

/// Whether a connection, as its server sees it, is a call of a Sentinel.
pub(super) fn is_call(connection: ConnectionId) -> bool {
    connection.0 >= FIRST
}

/// The call that a connection is: by which Sentinel, by its index, and which of its calls.
pub(super) fn call(connection: ConnectionId) -> (usize, CallId) {
    let number = connection.0 - FIRST;
    ((number >> EACH) as usize, CallId(number % (1 << EACH)))
}

/// Whether a Sentinel only asks whether a server is there, or says that it is there itself.
fn is_routine(command: &Command) -> bool {
    ["PING", "INFO", "PUBLISH", "SUBSCRIBE"]
        .iter()
        .any(|name| command.is(name))
}

/// Whether this is what answers to such a question say, or such a greeting.
fn is_routine_answer(value: &Value) -> bool {
    match value {
        Value::Status(text) => &**text == "PONG",
        Value::Bulk(_) | Value::Integer(_) => true,
        value => is_message(value),
    }
}

impl World<SimulatedRedis> {
    fn index_of(&self, call: Call) -> usize {
        usize::from(call.by.0) - self.host.servers.len()
    }

    fn connection_of_call(&self, call: Call) -> ConnectionId {
        ConnectionId(FIRST | (self.index_of(call) as u32) << EACH | call.id.0)
    }

    fn ends(&mut self, call: Call) -> &mut SentinelCall {
        let index = self.index_of(call);
        &mut self.service.sentinels[index].state[call.id.0 as usize]
    }

    fn send_news(&mut self, from: ServerId, to: ServerId, news: SentinelEvent) {
        let at = self.arrival_at_peer(from, to);
        let event = RedisEvent::Sentinel(Box::new(news));
        self.schedule(at, event);
    }

    /// A Sentinel wants to ask a server or another Sentinel, which refuses if its process is gone.
    pub(super) fn make_call(&mut self, by: ServerId, id: CallId, to: &Address) {
        let at = self.server_at(to).or_else(|| self.sentinel_at(to));
        let at = at.expect("Sentinels know servers and Sentinels that exist");
        let call = Call { by, id };
        let index = self.index_of(call);
        self.service.sentinels[index].state.push(SentinelCall {
            to: at,
            open: true,
            taken: false,
        });
        self.send_news(by, at, SentinelEvent::ConnectRequest { call, at });
    }

    fn sentinel_at(&self, address: &Address) -> Option<ServerId> {
        let number: u8 = address.host.strip_prefix("sentinel-")?.parse().ok()?;
        Some(self.service.sentinel(number.checked_sub(1)?))
    }

    pub(super) fn send_by_call(&mut self, by: ServerId, id: CallId, command: Command) {
        let call = Call { by, id };
        let ends = self.ends(call);
        if ends.open {
            let at = ends.to;
            self.trace_between((by, at), Sent, &command, is_routine);
            self.send_news(by, at, SentinelEvent::Asked { call, at, command });
        }
    }

    pub(super) fn hang_up_call(&mut self, by: ServerId, id: CallId) {
        let call = Call { by, id };
        let ends = self.ends(call);
        if std::mem::take(&mut ends.open) {
            let at = ends.to;
            self.send_news(by, at, SentinelEvent::HungUp { call, at });
        }
    }

    /// A server or a Sentinel answers a call, or sends a message of a subscription.
    pub(super) fn answer_call(&mut self, from: ServerId, call: (usize, CallId), value: Value) {
        let call = self.call_of(call);
        if self.ends(call).taken {
            self.trace_answer((from, call.by), Sent, &value);
            self.send_news(from, call.by, SentinelEvent::Answered { call, value });
        }
    }

    /// A server or a Sentinel closes a call, or refuses it.
    pub(super) fn close_call(&mut self, from: ServerId, call: (usize, CallId)) {
        let call = self.call_of(call);
        self.ends(call).taken = false;
        self.send_news(from, call.by, SentinelEvent::Closed { call });
    }

    fn trace_answer(&mut self, ends: (ServerId, ServerId), step: MessageStep, value: &Value) {
        self.trace_between(ends, step, value, is_routine_answer);
    }

    fn call_of(&self, (index, id): (usize, CallId)) -> Call {
        let by = self.service.sentinel(index as u8);
        Call { by, id }
    }

    /// A machine has died: its kernel closes all calls to it.
    pub(super) fn close_calls_to(&mut self, machine: ServerId) {
        for index in 0..self.service.sentinels.len() {
            for number in 0..self.service.sentinels[index].state.len() {
                let ends = &self.service.sentinels[index].state[number];
                if ends.open && ends.to == machine {
                    self.close_call(machine, (index, CallId(number as u32)));
                }
            }
        }
    }

    /// A Sentinel has died: its kernel closes all calls that it has made.
    pub(super) fn close_calls_of(&mut self, sentinel: ServerId, index: usize) {
        for number in 0..self.service.sentinels[index].state.len() {
            self.hang_up_call(sentinel, CallId(number as u32));
        }
    }

    /// Lets something happen on a call of a Sentinel.
    pub(super) fn dispatch_sentinel(&mut self, news: SentinelEvent) {
        match news {
            SentinelEvent::Wake { sentinel } => self.sentinel_wake(sentinel),
            SentinelEvent::ConnectRequest { call, at } => self.sentinel_connect_request(call, at),
            SentinelEvent::Asked { call, at, command } => {
                self.deliver_call_request(call, at, command)
            }
            SentinelEvent::HungUp { call, at } => self.left_by_call(call, at),
            SentinelEvent::Answered { call, value } => {
                let (id, from) = (call.id, self.ends(call).to);
                if !self.ends(call).open {
                    self.trace_answer((from, call.by), Lost, &value);
                } else {
                    self.trace_answer((from, call.by), Received, &value);
                    self.sentinel_input(call.by, SentinelInput::Answered { call: id, value });
                }
            }
            SentinelEvent::Closed { call } => {
                if std::mem::take(&mut self.ends(call).open) {
                    self.sentinel_input(call.by, SentinelInput::Closed { call: call.id });
                }
            }
        }
    }

    fn sentinel_connect_request(&mut self, call: Call, at: ServerId) {
        let server = self.host.servers.get(usize::from(at.0));
        if server.is_some_and(|slot| slot.state.power_lost.is_some()) {
            // A machine without power refuses no connection.
            return;
        }
        if self.machine_process(at).is_up() {
            self.ends(call).taken = true;
        } else {
            let index = self.index_of(call);
            self.close_call(at, (index, call.id));
        }
    }

    fn deliver_call_request(&mut self, call: Call, at: ServerId, command: Command) {
        if !self.ends(call).taken {
            return self.trace_between((call.by, at), Lost, &command, is_routine);
        }
        self.trace_between((call.by, at), Received, &command, is_routine);
        let connection = self.connection_of_call(call);
        if self.service.is_sentinel(at) {
            self.deliver_to_sentinel(at, connection, command);
            return;
        }
        let led = self.host.servers[at.0 as usize].machine.is_primary();
        let received = Input::Received {
            connection,
            command,
        };
        self.service.role_change_by = RoleChangeBy::Sentinel(call.by);
        self.handle_at(at, received);
        self.service.role_change_by = RoleChangeBy::Itself;
        if self.host.servers[at.0 as usize].machine.is_primary() != led {
            self.update_owners(Actor::Service);
        }
        self.apply_server_outputs(at);
    }

    /// Writes down that a command of a Sentinel, or its answer, has come to a dead process.
    pub(super) fn trace_lost_call(&mut self, news: &SentinelEvent) {
        match news {
            SentinelEvent::Asked { call, at, command } => {
                self.trace_between((call.by, *at), Lost, command, is_routine);
            }
            SentinelEvent::Answered { call, value } => {
                let from = self.ends(*call).to;
                self.trace_answer((from, call.by), Lost, value);
            }
            SentinelEvent::Wake { .. }
            | SentinelEvent::ConnectRequest { .. }
            | SentinelEvent::HungUp { .. }
            | SentinelEvent::Closed { .. } => {}
        }
    }

    fn left_by_call(&mut self, call: Call, at: ServerId) {
        if !std::mem::take(&mut self.ends(call).taken) {
            return;
        }
        let connection = self.connection_of_call(call);
        if self.service.is_sentinel(at) {
            self.sentinel_is_left(at, connection);
        } else {
            self.server_input(at, Input::Gone { connection });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use picklock_algorithms::registry;

    use crate::plan::{
        Deployment, Fault, Hold, Network, Plan, PlannedFault, Resource, Sentinels, ServerName,
        Service, Trigger, Workload,
    };
    use crate::services::redis::SimulatedRedis;
    use crate::simulation::world_after;
    use crate::world::World;

    /// Whether the first connections of the first Sentinel, to the primary, still stand when the run is over: as it
    /// sees them, and as the primary does.
    fn first_calls_stand(faults: Vec<PlannedFault>) -> (bool, bool) {
        let plan = Plan {
            recipe: *registry::find("redis-compare-and-delete").expect("a recipe"),
            service: Service::Redis(Deployment {
                replicas: 1,
                sentinels: Some(Sentinels::of(3)),
                ..Deployment::default()
            }),
            network: Network::default(),
            workload: Workload {
                hold: Hold::For(Duration::from_secs(1)),
                ..Workload::default()
            },
            resource: Resource { fenced: false },
            faults,
            event_budget: 1_000_000,
        };
        world_after(&plan, 1, |world: &World<SimulatedRedis>| {
            let calls = &world.service.sentinels[0].state;
            // To the primary: one to ask by, and one to listen.
            let first = calls.first().expect("it has made a call");
            (first.open, first.taken)
        })
    }

    #[test]
    fn a_sentinel_that_dies_closes_the_connections_that_it_has_made() {
        assert_eq!(first_calls_stand(Vec::new()), (true, true));
        let inject = Fault::CrashServer {
            target: ServerName::Sentinel(0),
            restart_after: Some(Duration::from_millis(500)),
        };
        let dies = PlannedFault {
            when: Trigger::At(Duration::from_millis(200)),
            after: Duration::ZERO,
            repeat: None,
            text: format!("{inject:?}"),
            inject,
        };
        assert_eq!(first_calls_stand(vec![dies]), (false, false));
    }
}
