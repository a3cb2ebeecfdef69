//! The life of Sentinels in the world. They are machines like servers, and have the numbers that come after theirs.

use std::rc::Rc;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::redis::Command;
use picklock_machines::Machine;
use picklock_redis::sentinel::{Input, Output, SentinelConfig};
use picklock_redis::{Address, Sentinel};

use super::event::{RedisEvent, SentinelEvent};
use super::{SimulatedRedis, replication_links, sentinel_links};
use crate::clock::LocalClock;
use crate::event::Event;
use crate::network::{ConnectionId, ServerId};
use crate::plan::Deployment;
use crate::trace::MessageDirection::ToServer;
use crate::trace::MessageStep::Sent;
use crate::world::{HostEvent, HostedMachine, Wake, World};

/// They are not started all at the same time, so that not all look at the clock at the same time for ever.
const APART: Duration = Duration::from_millis(37);

/// A Sentinel, and its calls by their numbers.
pub(super) type SentinelSlot =
    HostedMachine<Sentinel, HostEvent<SimulatedRedis>, Vec<sentinel_links::SentinelCall>>;

/// Where a Sentinel is: its number, from one, and the usual port.
fn address(index: u8) -> Address {
    Address {
        host: format!("sentinel-{}", index + 1).into(),
        port: 26_379,
    }
}

/// The Sentinels of a deployment. They know each other and the servers.
pub(super) fn of(deployment: &Deployment) -> Vec<SentinelSlot> {
    let Some(sentinels) = &deployment.sentinels else {
        return Vec::new();
    };
    let settings = |index: u8| {
        let others = (0..sentinels.number).filter(|other| *other != index);
        let primary = replication_links::address(ServerId(0));
        let quorum = usize::from(sentinels.quorum);
        SentinelConfig {
            replicas: (1..=deployment.replicas)
                .map(|number| replication_links::address(ServerId(number)))
                .collect(),
            sentinels: others.map(|other| (other.into(), address(other))).collect(),
            down_after: sentinels.down_after,
            failover_timeout: sentinels.failover_timeout,
            parallel_syncs: sentinels.parallel_syncs.into(),
            ..SentinelConfig::new(index.into(), address(index), primary, quorum)
        }
    };
    let slot = |index: u8| {
        let started = LocalClock::default().read(VirtualTime::ZERO + APART * index.into());
        SentinelSlot::of(Sentinel::new(Rc::new(settings(index)), started), Vec::new())
    };
    (0..sentinels.number).map(slot).collect()
}

impl SimulatedRedis {
    /// The machine of a Sentinel.
    pub(super) fn sentinel(&self, index: u8) -> ServerId {
        ServerId(self.servers + index)
    }

    /// Whether a machine is that of a Sentinel.
    #[inline]
    pub(super) fn is_sentinel(&self, machine: ServerId) -> bool {
        machine.0 >= self.servers
    }

    /// The Sentinel of a machine, if it is one's.
    pub(super) fn sentinel_slot(&mut self, machine: ServerId) -> Option<&mut SentinelSlot> {
        let index = machine.0.checked_sub(self.servers)?;
        self.sentinels.get_mut(usize::from(index))
    }
}

impl World<SimulatedRedis> {
    /// Sentinels begin to look at the clock.
    pub(super) fn arm_sentinels(&mut self) {
        for index in 0..self.service.sentinels.len() {
            self.arm_sentinel(self.service.sentinel(index as u8));
        }
    }

    fn arm_sentinel(&mut self, sentinel: ServerId) {
        let now = self.now;
        let slot = self.service.sentinel_slot(sentinel);
        if let Some(at) = slot.and_then(|slot| slot.arm(now)) {
            let news = Box::new(SentinelEvent::Wake { sentinel });
            self.schedule(at, RedisEvent::Sentinel(news));
        }
    }

    pub(super) fn sentinel_wake(&mut self, machine: ServerId) {
        let now = self.now;
        match { self.service.sentinel_slot(machine) }.map(|slot| slot.wakes(now)) {
            None | Some(Wake::Replaced) => {}
            Some(Wake::Due) => self.sentinel_input(machine, Input::Wake),
            Some(Wake::Later) => self.arm_sentinel(machine),
        }
    }

    /// Lets a Sentinel handle an input, and does what it wants done.
    pub(super) fn sentinel_input(&mut self, machine: ServerId, input: Input) {
        let now = self.now;
        let index = usize::from(machine.0) - self.host.servers.len();
        let mut out = std::mem::take(&mut self.service.sentinel_outputs);
        let records_service_events = self.records_service_events();
        let slot = &mut self.service.sentinels[index];
        let watched = records_service_events.then(|| slot.machine.watched().clone());
        let now = slot.clock.read(now);
        Machine::handle(&mut slot.machine, now, input, &mut self.tape, &mut out);
        for output in out.drain(..) {
            match output {
                Output::Call { call, to } => self.make_call(machine, call, &to),
                Output::Send { call, command } => self.send_by_call(machine, call, command),
                Output::HangUp { call } => self.hang_up_call(machine, call),
                Output::ToClient { connection, value } if sentinel_links::is_call(connection) => {
                    self.answer_call(machine, sentinel_links::call(connection), value);
                }
                Output::ToClient { connection, value } => {
                    self.send_to_client(machine, connection, value, false);
                }
                Output::Noted { event, about } => {
                    if let Some(watched) = &watched {
                        self.record_log_line(machine, event, &about, watched);
                    }
                }
            }
        }
        self.service.sentinel_outputs = out;
        self.arm_sentinel(machine);
    }

    /// A client asks a Sentinel. Faults that strike requests have nothing to do with it.
    pub(super) fn send_to_sentinel(&mut self, connection: ConnectionId, command: Command) {
        if self.connections.get(connection).open_at_client {
            self.trace(connection, (ToServer, Sent), &command);
            self.transmit_to_server(connection, command, 0);
        }
    }

    pub(super) fn deliver_to_sentinel(
        &mut self,
        machine: ServerId,
        by: ConnectionId,
        command: Command,
    ) {
        let input = Input::Received {
            connection: by,
            command,
        };
        self.sentinel_input(machine, input);
    }

    pub(super) fn sentinel_is_left(&mut self, machine: ServerId, by: ConnectionId) {
        self.sentinel_input(machine, Input::Gone { connection: by });
    }

    /// The process of a Sentinel has died. Its kernel closes its connections.
    pub(super) fn sentinel_died(&mut self, machine: ServerId) {
        self.close_calls_of(machine, usize::from(machine.0 - self.service.servers));
        self.close_calls_to(machine);
        self.close_all_connections_to(machine);
    }

    /// It comes back with what was in its configuration.
    pub(super) fn sentinel_restarted(&mut self, machine: ServerId) {
        let now = self.now;
        if let Some(slot) = self.service.sentinel_slot(machine) {
            slot.forget_wake();
            slot.machine.restart(slot.clock.read(now));
            self.arm_sentinel(machine);
        }
    }

    /// A Sentinel that stood still goes on: it reads what has queued up.
    pub(super) fn sentinel_resumed(
        &mut self,
        machine: ServerId,
        backlog: Vec<HostEvent<SimulatedRedis>>,
    ) {
        if let Some(slot) = self.service.sentinel_slot(machine) {
            slot.forget_wake();
        }
        for event in backlog {
            self.dispatch_from_backlog(Event::Service(event));
        }
        self.arm_sentinel(machine);
    }
}
