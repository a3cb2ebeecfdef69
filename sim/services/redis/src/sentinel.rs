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

/// Chance: chooses a number below the one that is given. Zero is the boring choice.
pub type Choose<'a> = &'a mut dyn FnMut(u32) -> u32;

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
    /// For whom this Sentinel has voted, and in which epoch.
    leader: Option<Rc<str>>,
    leader_epoch: u64,
    failover: Failover,
    replicas: Vec<Replica>,
    sentinels: Vec<OtherSentinel>,
    /// Clients that want to be told of a new primary.
    listeners: Vec<ConnectionId>,
    /// Since when it does not trust its clock.
    tilt: Option<Stamp>,
    looked: Option<Stamp>,
    desk: SentinelContext,
    wake: VirtualTime,
}

/// Whom a call goes to.
#[derive(Clone, Copy)]
enum Whom {
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
            desk: SentinelContext {
                now: stamp,
                out: Vec::new(),
                next_call: 0,
            },
            wake: now.monotonic,
            settings,
        }
    }

    /// Its process ends, and starts again with what it had written into its configuration: who is there, the epochs,
    /// and that it has voted.
    pub fn restart(&mut self, now: Now) {
        let mut new = Self::new(Rc::clone(&self.settings), now);
        let stamp = new.desk.now;
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
        new.desk.next_call = self.desk.next_call;
        *self = new;
    }

    /// Lets something happen, and says what the Sentinel wants done about it.
    pub fn handle(&mut self, now: Now, input: Input, choose: Choose, out: &mut Vec<Output>) {
        std::mem::swap(&mut self.desk.out, out);
        self.desk.now = Stamp::of(now.wall_micros);
        match input {
            Input::Answered { call, value } => self.answered(call, &value),
            Input::Closed { call } => self.closed(call),
            Input::Received {
                connection,
                command,
            } => self.received(connection, &command, choose),
            Input::Gone { connection } => self.listeners.retain(|other| *other != connection),
            Input::Wake => {}
        }
        if self.wake <= now.monotonic {
            self.look(choose);
            // Not all are in step, so that not all want to be elected at the same time.
            let (least, more) = LOOKS_PER_SECOND;
            let looks = least + choose(more);
            self.wake = now.monotonic + Duration::from_millis((1_000 / looks).into());
        }
        std::mem::swap(&mut self.desk.out, out);
    }

    /// When, by its monotonic clock, it wants to look at the wall clock again.
    pub fn next_wake(&self) -> VirtualTime {
        self.wake
    }

    /// The newest epoch that it has heard of.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// What it calls the primary itself: in a failover, the old one.
    pub fn watched(&self) -> &Address {
        &self.primary.address
    }

    /// For whom it has voted last, and in which epoch.
    pub fn vote_given(&self) -> Option<(&str, u64)> {
        Some((self.leader.as_deref()?, self.leader_epoch))
    }

    /// Where it sends clients.
    pub fn primary(&self) -> &Address {
        self.current_primary()
    }

    fn note(&mut self, event: Event) {
        self.desk.note(event, &self.primary.address);
    }

    /// Looks at the clock, and at everybody.
    fn look(&mut self, choose: Choose) {
        self.check_clock();
        let hello = self.hello();
        let down_after = self.settings.down_after;
        let hurried = self.objectively_down || self.failover.goes_on();
        let desk = &mut self.desk;
        self.primary.reconnect(desk);
        self.primary.ask(down_after, false, &hello, desk);
        let trusted = !self.is_tilted();
        if trusted {
            self.primary.check(down_after, true, &mut self.desk);
            self.check_quorum();
            self.begin_if_needed(choose);
            self.go_on(choose);
            self.ask_for_opinions(false, choose);
        }
        let hurried = hurried || self.objectively_down || self.failover.goes_on();
        let desk = &mut self.desk;
        for replica in &mut self.replicas {
            let hurried = hurried || !replica.link_down_for.is_zero();
            replica.own.reconnect(desk);
            replica.own.ask(down_after, hurried, &hello, desk);
            if trusted {
                replica.own.check(down_after, false, desk);
            }
        }
        for other in &mut self.sentinels {
            other.own.reconnect(desk);
            other.own.ask(down_after, false, &hello, desk);
            if trusted {
                other.own.check(down_after, false, desk);
            }
        }
        self.update();
    }

    /// A clock that jumps, or a process that stood still, makes everything that it knows worthless for a while.
    fn check_clock(&mut self) {
        let now = self.desk.now;
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
            && self.desk.now.since(since) >= TILT
        {
            self.tilt = None;
            self.note(Event::TiltEnd);
        }
        self.tilt.is_some()
    }

    fn whom(&self, call: CallId) -> Option<(Whom, bool)> {
        if let Some(of_messages) = self.primary.has(call) {
            return Some((Whom::Primary, of_messages));
        }
        for (place, replica) in self.replicas.iter().enumerate() {
            if let Some(of_messages) = replica.own.has(call) {
                return Some((Whom::Replica(place), of_messages));
            }
        }
        for (place, other) in self.sentinels.iter().enumerate() {
            if let Some(of_messages) = other.own.has(call) {
                return Some((Whom::Sentinel(place), of_messages));
            }
        }
        None
    }

    fn instance(&mut self, whom: Whom) -> &mut Instance {
        match whom {
            Whom::Primary => &mut self.primary,
            Whom::Replica(place) => &mut self.replicas[place].own,
            Whom::Sentinel(place) => &mut self.sentinels[place].own,
        }
    }

    fn heard_ping(&mut self, whom: Whom, value: &Value) {
        let instance = match whom {
            Whom::Primary => &mut self.primary,
            Whom::Replica(place) => &mut self.replicas[place].own,
            Whom::Sentinel(place) => &mut self.sentinels[place].own,
        };
        instance.heard_ping(value, &mut self.desk);
    }

    fn closed(&mut self, call: CallId) {
        if let Some((whom, of_messages)) = self.whom(call) {
            self.instance(whom).closed(of_messages);
        }
    }

    fn answered(&mut self, call: CallId, value: &Value) {
        let Some((whom, of_messages)) = self.whom(call) else {
            return;
        };
        let now = self.desk.now;
        let instance = self.instance(whom);
        if of_messages {
            instance.heard_message(now);
            self.hear_message(value);
            return;
        }
        match (instance.settles(), whom) {
            (Some(Purpose::Ping), _) => self.heard_ping(whom, value),
            (Some(Purpose::Hello), _) if matches!(value, Value::Error(_)) => {}
            (Some(Purpose::Hello), _) => instance.was_told(now),
            (Some(Purpose::Info), Whom::Primary) => self.refresh_primary(value),
            (Some(Purpose::Info), Whom::Replica(place)) => self.refresh_replica(place, value),
            (Some(Purpose::Opinion), Whom::Sentinel(place)) => self.hear_opinion(place, value),
            (Some(Purpose::Info | Purpose::Opinion | Purpose::Order) | None, _) => {}
        }
    }
}
