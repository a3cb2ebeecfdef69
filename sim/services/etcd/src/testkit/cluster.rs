//! Members on a network that takes a millisecond, in virtual time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_machines::{Boring, ConnectionId, Machine, Now, ServerId};

use crate::rpc::{ClientBody, ClientMessage, ServerBody};
use crate::{Input, Member, Output, PeerMessage, Settings};

const LATENCY: Duration = Duration::from_millis(1);

/// What is on its way.
enum Travelling {
    ToMember(ServerId, Input),
    ToClient(ConnectionId, u32, ServerBody),
}

/// The members.
pub struct Cluster {
    /// What all clocks show.
    pub now: VirtualTime,
    members: Vec<Member>,
    travelling: BTreeMap<(VirtualTime, u64), Travelling>,
    sent: u64,
    paused: BTreeSet<ServerId>,
    /// What has come for members that are paused.
    held: Vec<(ServerId, Input)>,
    /// Members that cannot reach each other.
    pub cut: BTreeSet<(ServerId, ServerId)>,
    /// What clients have been told, in order.
    pub told: Vec<(ConnectionId, u32, ServerBody)>,
    /// What members have done besides.
    pub outputs: Vec<(ServerId, Output)>,
}

impl Cluster {
    /// A fresh cluster, which member 0 leads.
    pub fn new(settings: Settings) -> Self {
        let ids = (0..settings.members).map(ServerId);
        let members = ids.map(|id| Member::formed(id, ServerId(0), settings));
        Self {
            now: VirtualTime::ZERO,
            members: members.collect(),
            travelling: BTreeMap::new(),
            sent: 0,
            paused: BTreeSet::new(),
            held: Vec::new(),
            cut: BTreeSet::new(),
            told: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// A member.
    pub fn member(&self, id: u8) -> &Member {
        &self.members[usize::from(id)]
    }

    /// The member that leads, if a quorum says so.
    pub fn leader(&self) -> Option<u8> {
        let believers = |id| {
            self.members
                .iter()
                .filter(move |m| m.leader() == Some(ServerId(id)))
        };
        let mut ids = 0..self.members.len() as u8;
        ids.find(|id| believers(*id).count() > self.members.len() / 2)
    }

    fn send(&mut self, what: Travelling) {
        self.sent += 1;
        self.travelling
            .insert((self.now + LATENCY, self.sent), what);
    }

    /// A client calls a member.
    pub fn call(&mut self, member: u8, connection: u32, call: u32, body: ClientBody) {
        self.call_requiring(member, connection, (call, false), body);
    }

    /// The same; the call may require that the member knows a leader (`hasleader`).
    pub fn call_requiring(
        &mut self,
        member: u8,
        connection: u32,
        (call, require_leader): (u32, bool),
        body: ClientBody,
    ) {
        let message = ClientMessage {
            call,
            require_leader,
            body,
        };
        let input = Input::Client(ConnectionId(connection), message);
        self.send(Travelling::ToMember(ServerId(member), input));
    }

    /// The process of a member stands still.
    pub fn pause(&mut self, member: u8) {
        self.paused.insert(ServerId(member));
    }

    /// It goes on, with what has come meanwhile.
    pub fn resume(&mut self, member: u8) {
        let member = ServerId(member);
        self.paused.remove(&member);
        for input in self.take_held(member) {
            self.handle(member, input);
        }
    }

    fn take_held(&mut self, member: ServerId) -> Vec<Input> {
        let (held, others) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|(to, _)| *to == member);
        self.held = others;
        held.into_iter().map(|(_, input)| input).collect()
    }

    /// The process of a member is killed.
    pub fn kill(&mut self, member: u8) {
        self.pause(member);
        for other in (0..self.members.len() as u8).filter(|other| *other != member) {
            self.handle(ServerId(other), Input::PeerLost(ServerId(member)));
        }
    }

    /// It starts again.
    pub fn start(&mut self, member: u8) {
        let id = ServerId(member);
        self.take_held(id);
        self.paused.remove(&id);
        self.restart(member);
    }

    /// The process of a member is killed, and starts again at once.
    pub fn restart(&mut self, member: u8) {
        self.handle(ServerId(member), Input::Restart);
    }

    /// The raft loop of a member hangs, or goes on.
    pub fn stall_raft(&mut self, member: u8, hangs: bool) {
        let input = if hangs {
            Input::RaftStalls
        } else {
            Input::RaftGoesOn
        };
        self.handle(ServerId(member), input);
    }

    /// A member can reach no other, and none can reach it.
    pub fn cut_off(&mut self, member: u8) {
        for other in (0..self.members.len() as u8).filter(|other| *other != member) {
            self.cut.insert((ServerId(member), ServerId(other)));
            self.cut.insert((ServerId(other), ServerId(member)));
        }
    }

    /// A member handles something.
    pub fn handle(&mut self, id: ServerId, input: Input) {
        if self.paused.contains(&id) {
            self.held.push((id, input));
            return;
        }
        let mut out = Vec::new();
        let now = Now {
            monotonic: self.now,
            wall_micros: 0,
        };
        self.members[usize::from(id.0)].handle(now, input, &mut Boring, &mut out);
        for output in out {
            match &output {
                Output::ToPeer(to, message) => self.tell_peer(id, *to, message.clone()),
                Output::ToClient(connection, message) => {
                    let body = message.body.clone();
                    self.send(Travelling::ToClient(*connection, message.call, body));
                }
                Output::Committed(..) | Output::BecameLeader(_) | Output::SteppedDown => {
                    self.outputs.push((id, output))
                }
            }
        }
    }

    fn tell_peer(&mut self, from: ServerId, to: ServerId, message: PeerMessage) {
        if !self.cut.contains(&(from, to)) {
            self.send(Travelling::ToMember(to, Input::Peer(from, message)));
        }
    }

    /// Does what is due next, if it is due until then; answers whether anything was.
    fn step(&mut self, until: VirtualTime) -> bool {
        let awake = |member: &Member| !self.paused.contains(&member_id(&self.members, member));
        let wakes = self.members.iter().filter(|member| awake(member));
        let wake = wakes.map(|member| member.next_wake()).min();
        let wake = wake.unwrap_or(VirtualTime::NEVER).max(self.now);
        let arrival = self.travelling.first_key_value().map(|((at, _), _)| *at);
        let due = arrival.unwrap_or(VirtualTime::NEVER).min(wake);
        if due > until {
            self.now = until;
            return false;
        }
        self.now = due;
        if arrival == Some(due) {
            match self.travelling.pop_first() {
                Some((_, Travelling::ToMember(to, input))) => self.handle(to, input),
                Some((_, Travelling::ToClient(connection, call, body))) => {
                    self.told.push((connection, call, body));
                }
                None => {}
            }
            return true;
        }
        for id in (0..self.members.len() as u8).map(ServerId) {
            let member = &self.members[usize::from(id.0)];
            if !self.paused.contains(&id) && member.next_wake() <= due {
                self.handle(id, Input::Wake);
            }
        }
        true
    }

    /// Runs for so long.
    pub fn run(&mut self, time: Duration) {
        let until = self.now + time;
        while self.step(until) {}
    }

    /// Runs until a call is answered, at most so long; answers what was told meanwhile of this call.
    pub fn wait(&mut self, connection: u32, call: u32, time: Duration) -> Option<ServerBody> {
        let until = self.now + time;
        loop {
            let is_answer = |(of, number, _): &(ConnectionId, u32, ServerBody)| {
                *of == ConnectionId(connection) && *number == call
            };
            if let Some(place) = self.told.iter().position(is_answer) {
                return Some(self.told.remove(place).2);
            }
            if !self.step(until) {
                return None;
            }
        }
    }
}

fn member_id(members: &[Member], member: &Member) -> ServerId {
    let place = members.iter().position(|other| std::ptr::eq(other, member));
    ServerId(place.unwrap_or_default() as u8)
}
