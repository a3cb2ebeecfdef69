//! A Sentinel as a state machine: it watches a primary and its replicas, agrees with others of its kind that the
//! primary is down, and puts a replica in its place.
//!
//! It follows `sentinel.c` of Redis 7.0.15, with one primary, and without scripts, passwords, and `SENTINEL FAILOVER`.
//! Like the real one it knows no clock but that on the wall, looks at it some ten times a second, and decides nothing
//! in between.

mod commands;
mod context;
mod failover;
mod hello;
mod info;
mod instance;
mod io;
mod odown_and_election;
mod replica;
mod settings;
mod wall_time;

use std::rc::Rc;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::redis::Value;
use picklock_machines::{Alarm, Chance, Machine};

pub use io::{CallId, Event, Input, Output};
pub use settings::SentinelConfig;

use crate::replication_protocol::Address;
use crate::scripts::sha_of;
use crate::{ConnectionId, Now};
use context::SentinelContext;
use failover::Failover;
use instance::{Instance, Purpose, Role};
use odown_and_election::OtherSentinel;
use replica::Replica;
use settings::{TILT, TILT_TRIGGER};
use wall_time::Stamp;

/// How often it looks at the clock at least, and by how much more often at most.
const LOOKS_PER_SECOND: (u32, u32) = (10, 10);

/// A Sentinel and what it knows.
#[derive(Clone, Debug)]
pub struct Sentinel {
    settings: Rc<SentinelConfig>,
    /// Its name.
    id: Rc<str>,
    /// The newest epoch that it has heard of.
    epoch: u64,
    primary: Instance,
    /// Enough Sentinels find the primary down.
    objectively_down: bool,
    /// In which epoch the primary was made one.
    config_epoch: u64,
    /// The leader that this Sentinel has voted for, and in which epoch.
    leader: Option<Rc<str>>,
    leader_epoch: u64,
    failover: Failover,
    replicas: Vec<Replica>,
    sentinels: Vec<OtherSentinel>,
    /// Clients that are subscribed to `+switch-master`.
    listeners: Vec<ConnectionId>,
    /// Since when it does not trust its clock.
    tilt: Option<Stamp>,
    looked: Option<Stamp>,
    context: SentinelContext,
    wake: VirtualTime,
}

/// The instance that a call goes to.
#[derive(Clone, Copy)]
enum CallTarget {
    Primary,
    Replica(usize),
    Sentinel(usize),
}

/// The id of the Sentinel of this number: forty hexadecimal digits.
fn id_of(number: u32) -> Rc<str> {
    let digits = sha_of(format!("sentinel {number}").as_bytes());
    digits.to_string().into()
}

fn watched_primary(address: Address, now: Stamp) -> Instance {
    Instance::new(address, Role::Primary, true, now)
}

impl Machine for Sentinel {
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
        std::mem::swap(&mut self.context.out, out);
        self.context.now = Stamp::of(now.wall_micros);
        match input {
            Input::Answered { call, value } => self.answered(call, &value),
            Input::Closed { call } => self.closed(call),
            Input::Received {
                connection,
                command,
            } => self.received(connection, &command, chance),
            Input::Gone { connection } => self.listeners.retain(|other| *other != connection),
            Input::Wake => {}
        }
        if self.wake <= now.monotonic {
            self.run_timer(chance);
            // Not all are in step, so that not all want to be elected at the same time.
            let (least, more) = LOOKS_PER_SECOND;
            let looks = least + chance.choose(more);
            self.wake = now.monotonic + Duration::from_millis((1_000 / looks).into());
        }
        std::mem::swap(&mut self.context.out, out);
        Alarm::MayBeEarlier
    }

    fn next_wake(&self) -> VirtualTime {
        self.wake
    }
}

impl Sentinel {
    /// A Sentinel that is started at this time.
    pub fn new(settings: Rc<SentinelConfig>, now: Now) -> Self {
        let stamp = Stamp::of(now.wall_micros);
        let replicas = settings.replicas.iter();
        let sentinels = settings.sentinels.iter();
        Self {
            id: id_of(settings.number),
            epoch: 0,
            primary: watched_primary(settings.primary.clone(), stamp),
            objectively_down: false,
            config_epoch: 0,
            leader: None,
            leader_epoch: 0,
            failover: Failover::none(),
            replicas: replicas
                .map(|address| Replica::new(address.clone(), stamp))
                .collect(),
            sentinels: sentinels
                .map(|(number, address)| OtherSentinel::new(address.clone(), id_of(*number), stamp))
                .collect(),
            listeners: Vec::new(),
            tilt: None,
            looked: None,
            context: SentinelContext {
                now: stamp,
                out: Vec::new(),
                next_call: 0,
            },
            wake: now.monotonic,
            settings,
        }
    }

    /// Its process ends, and starts again with what it had written into its configuration: the servers and Sentinels,
    /// the epochs, and that it has voted.
    pub fn restart(&mut self, now: Now) {
        let mut new = Self::new(Rc::clone(&self.settings), now);
        let stamp = new.context.now;
        new.epoch = self.epoch;
        new.config_epoch = self.config_epoch;
        new.leader_epoch = self.leader_epoch;
        new.primary = watched_primary(self.primary.address.clone(), stamp);
        let replicas = self.replicas.iter();
        new.replicas = replicas
            .map(|replica| Replica::new(replica.own.address.clone(), stamp))
            .collect();
        let sentinels = self.sentinels.iter();
        new.sentinels = sentinels
            .filter_map(|other| {
                let id = other.own.id.clone()?;
                Some(OtherSentinel::new(other.own.address.clone(), id, stamp))
            })
            .collect();
        new.context.next_call = self.context.next_call;
        *self = new;
    }

    /// The newest epoch that it has heard of.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// What it calls the primary itself: in a failover, the old one.
    pub fn watched(&self) -> &Address {
        &self.primary.address
    }

    /// The Sentinel that it has voted for last, and in which epoch.
    pub fn vote_given(&self) -> Option<(&str, u64)> {
        Some((self.leader.as_deref()?, self.leader_epoch))
    }

    /// How many Sentinels find the primary down, itself included, and how many must to agree on it.
    pub fn quorum(&self) -> (usize, usize) {
        (self.finding_it_down(), self.settings.quorum)
    }

    /// The run id of another Sentinel that it knows.
    pub fn run_id_at(&self, address: &Address) -> Option<&str> {
        let mut known = self.sentinels.iter();
        let known = known.find(|other| other.own.address == *address)?;
        known.own.id.as_deref()
    }

    /// Where it sends clients.
    pub fn primary(&self) -> &Address {
        self.current_primary()
    }

    fn note(&mut self, event: Event) {
        self.context.note(event, &self.primary.address);
    }

    /// Looks at the clock, and at all servers and Sentinels.
    fn run_timer(&mut self, chance: &mut dyn Chance) {
        self.check_clock();
        let hello = self.hello();
        let down_after = self.settings.down_after;
        let hurried = self.objectively_down || self.failover.is_in_progress();
        let context = &mut self.context;
        self.primary.reconnect(context);
        self.primary
            .send_periodic_commands(down_after, false, &hello, context);
        let trusted = !self.is_tilted();
        if trusted {
            self.primary.check(down_after, true, &mut self.context);
            self.check_quorum();
            self.begin_if_needed(chance);
            self.go_on(chance);
            self.ask_other_sentinels(false, chance);
        }
        let hurried = hurried || self.objectively_down || self.failover.is_in_progress();
        let context = &mut self.context;
        for replica in &mut self.replicas {
            let hurried = hurried || !replica.link_down_for.is_zero();
            replica.own.reconnect(context);
            replica
                .own
                .send_periodic_commands(down_after, hurried, &hello, context);
            if trusted {
                replica.own.check(down_after, false, context);
            }
        }
        for other in &mut self.sentinels {
            other.own.reconnect(context);
            other
                .own
                .send_periodic_commands(down_after, false, &hello, context);
            if trusted {
                other.own.check(down_after, false, context);
            }
        }
        self.update();
    }

    /// A clock that jumps, or a process that stood still, makes everything that it knows worthless for a while.
    fn check_clock(&mut self) {
        let now = self.context.now;
        let jumped = self
            .looked
            .is_some_and(|before| now < before || now.since(before) > TILT_TRIGGER);
        if jumped {
            self.tilt = Some(now);
            self.note(Event::Tilt);
        }
        self.looked = Some(now);
    }

    fn is_tilted(&mut self) -> bool {
        if let Some(since) = self.tilt
            && self.context.now.since(since) >= TILT
        {
            self.tilt = None;
            self.note(Event::TiltEnd);
        }
        self.tilt.is_some()
    }

    fn find_call(&self, call: CallId) -> Option<(CallTarget, bool)> {
        if let Some(of_messages) = self.primary.has(call) {
            return Some((CallTarget::Primary, of_messages));
        }
        for (index, replica) in self.replicas.iter().enumerate() {
            if let Some(of_messages) = replica.own.has(call) {
                return Some((CallTarget::Replica(index), of_messages));
            }
        }
        for (index, other) in self.sentinels.iter().enumerate() {
            if let Some(of_messages) = other.own.has(call) {
                return Some((CallTarget::Sentinel(index), of_messages));
            }
        }
        None
    }

    fn instance(&mut self, target: CallTarget) -> &mut Instance {
        match target {
            CallTarget::Primary => &mut self.primary,
            CallTarget::Replica(index) => &mut self.replicas[index].own,
            CallTarget::Sentinel(index) => &mut self.sentinels[index].own,
        }
    }

    fn on_ping_reply(&mut self, target: CallTarget, value: &Value) {
        let instance = match target {
            CallTarget::Primary => &mut self.primary,
            CallTarget::Replica(index) => &mut self.replicas[index].own,
            CallTarget::Sentinel(index) => &mut self.sentinels[index].own,
        };
        instance.on_ping_reply(value, &mut self.context);
    }

    fn closed(&mut self, call: CallId) {
        if let Some((target, of_messages)) = self.find_call(call) {
            self.instance(target).closed(of_messages);
        }
    }

    fn answered(&mut self, call: CallId, value: &Value) {
        let Some((target, of_messages)) = self.find_call(call) else {
            return;
        };
        let now = self.context.now;
        let instance = self.instance(target);
        if of_messages {
            instance.message_received(now);
            self.receive_hello(value);
            return;
        }
        match (instance.settles(), target) {
            (Some(Purpose::Ping), _) => self.on_ping_reply(target, value),
            (Some(Purpose::Hello), _) if matches!(value, Value::Error(_)) => {}
            (Some(Purpose::Hello), _) => instance.hello_published(now),
            (Some(Purpose::Info), CallTarget::Primary) => self.refresh_primary(value),
            (Some(Purpose::Info), CallTarget::Replica(index)) => self.refresh_replica(index, value),
            (Some(Purpose::Opinion), CallTarget::Sentinel(index)) => {
                self.receive_is_master_down_reply(index, value)
            }
            (Some(Purpose::Info | Purpose::Opinion | Purpose::Order) | None, _) => {}
        }
    }
}
