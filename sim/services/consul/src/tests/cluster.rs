//! A cluster: messages take a millisecond, links can be cut, and servers can be dead.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::consul::{
    ClientMessage, Consistency, ConsulError, ConsulResult, KvPair, PutIf, QueryOptions, Request,
    Response, SessionEntry, SessionId,
};
use picklock_machines::{Boring, ConnectionId, Machine, Now, ServerId};

use super::{entry, put};
use crate::{Input, Output, Server, Settings};

const LATENCY: Duration = Duration::from_millis(1);

/// A cluster whose last server leads.
pub(super) struct Cluster {
    pub(super) now: VirtualTime,
    pub(super) servers: Vec<Server>,
    dead: BTreeSet<u8>,
    cut: BTreeSet<(u8, u8)>,
    under_way: BTreeMap<(VirtualTime, u32), (u8, Input)>,
    numbers: u32,
    answers: BTreeMap<u32, (VirtualTime, ConsulResult<Response>)>,
}

impl Cluster {
    pub(super) fn of(servers: u8) -> Self {
        let settings = Settings {
            servers,
            raft_multiplier: 1,
        };
        let leader = ServerId(servers - 1);
        let formed = |id| Server::formed(ServerId(id), leader, settings);
        Self {
            now: VirtualTime::ZERO,
            servers: (0..servers).map(formed).collect(),
            dead: BTreeSet::new(),
            cut: BTreeSet::new(),
            under_way: BTreeMap::new(),
            numbers: 0,
            answers: BTreeMap::new(),
        }
    }

    fn handle(&mut self, server: u8, input: Input) {
        let now = Now {
            monotonic: self.now,
            wall_micros: 0,
        };
        let mut out = Vec::new();
        self.servers[usize::from(server)].handle(now, input, &mut Boring, &mut out);
        for output in out {
            match output {
                Output::ToClient(_, message) => {
                    self.answers
                        .insert(message.number, (self.now, message.result));
                }
                Output::ToPeer(to, message) if !self.cut.contains(&(server, to.0)) => {
                    self.numbers += 1;
                    let at = (self.now + LATENCY, self.numbers);
                    let input = Input::Peer(ServerId(server), message);
                    self.under_way.insert(at, (to.0, input));
                }
                _ => {}
            }
        }
    }

    /// Lets so much time pass.
    pub(super) fn run(&mut self, time: Duration) {
        let until = self.now + time;
        loop {
            let live = (0..self.servers.len() as u8).filter(|id| !self.dead.contains(id));
            let wakes = live.map(|id| (self.servers[usize::from(id)].next_wake(), id));
            let wake = wakes.min().filter(|(at, _)| *at <= until);
            let message = self.under_way.first_key_value().map(|(at, _)| *at);
            let message = message.filter(|(at, _)| *at <= until);
            match (wake, message) {
                (Some((at, id)), message) if message.is_none_or(|(other, _)| at <= other) => {
                    self.now = at.max(self.now);
                    self.handle(id, Input::Wake);
                }
                (_, Some(at)) => {
                    self.now = at.0;
                    if let Some((to, input)) = self.under_way.remove(&at)
                        && !self.dead.contains(&to)
                    {
                        self.handle(to, input);
                    }
                }
                _ => break,
            }
        }
        self.now = until;
    }

    /// Makes a call at a server; answers its number.
    pub(super) fn send(&mut self, server: u8, request: Request) -> u32 {
        self.numbers += 1;
        let number = self.numbers;
        let message = ClientMessage { number, request };
        self.handle(server, Input::Client(ConnectionId(0), message));
        number
    }

    /// The answer to a call, and when it came.
    pub(super) fn answer(&self, number: u32) -> Option<&(VirtualTime, ConsulResult<Response>)> {
        self.answers.get(&number)
    }

    /// Makes a call at a server, and waits for the answer for a tenth of a second.
    pub(super) fn call(&mut self, server: u8, request: Request) -> ConsulResult<Response> {
        let number = self.send(server, request);
        self.run(Duration::from_millis(100));
        let answer = self.answers.remove(&number);
        answer.map_or(Err(ConsulError::DeadlineReached), |(_, result)| result)
    }

    pub(super) fn session_of(&mut self, entry: SessionEntry) -> SessionId {
        match self.call(0, Request::SessionCreate(entry)) {
            Ok(Response::Created(session)) => session,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn session(&mut self, ttl: u64, lock_delay: u64) -> SessionId {
        self.session_of(entry(ttl, lock_delay))
    }

    /// Whether a put was done.
    pub(super) fn puts(&mut self, if_: PutIf, value: &str, session: Option<SessionId>) -> bool {
        self.call(0, put(if_, "key", value, session)) == Ok(Response::Done(true))
    }

    pub(super) fn acquires(&mut self, session: SessionId) -> bool {
        self.puts(PutIf::Acquire, "", Some(session))
    }

    /// The key, as a server reads it.
    pub(super) fn read_at(
        &mut self,
        server: u8,
        consistency: Consistency,
    ) -> ConsulResult<Option<KvPair>> {
        let options = QueryOptions {
            consistency,
            ..QueryOptions::default()
        };
        match self.call(server, Request::Get("key".into(), options))? {
            Response::Pairs(mut pairs, _) => Ok(pairs.pop()),
            other => panic!("{other:?}"),
        }
    }

    /// The key.
    pub(super) fn key(&mut self) -> Option<KvPair> {
        self.read_at(0, Consistency::Default).unwrap_or_default()
    }

    /// Who holds the key.
    pub(super) fn holder(&mut self) -> Option<SessionId> {
        self.key().and_then(|pair| pair.session)
    }

    pub(super) fn kill(&mut self, server: u8) {
        self.dead.insert(server);
        for other in (0..self.servers.len() as u8).filter(|other| *other != server) {
            if !self.dead.contains(&other) {
                self.handle(other, Input::PeerLost(ServerId(server)));
            }
        }
    }

    pub(super) fn restart(&mut self, server: u8) {
        self.dead.remove(&server);
        self.handle(server, Input::Restart);
    }

    /// Cuts a server off from all others, or ends that.
    pub(super) fn isolate(&mut self, server: u8, isolated: bool) {
        for other in (0..self.servers.len() as u8).filter(|other| *other != server) {
            for link in [(server, other), (other, server)] {
                match isolated {
                    true => self.cut.insert(link),
                    false => self.cut.remove(&link),
                };
            }
        }
    }

    pub(super) fn leaders(&self) -> Vec<u8> {
        let servers = (0..).zip(&self.servers);
        let leaders = servers.filter(|(id, server)| !self.dead.contains(id) && server.is_leader());
        leaders.map(|(id, _)| id).collect()
    }
}
