//! Cases and random rounds on both ensembles.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock_clients::zookeeper::{Acl, CreateMode, Request};

use crate::harness::comparison::Compared;
use crate::harness::error::{Result, unless_stopped};
use crate::harness::pair;
use crate::zookeeper::backend::{EnsembleBackend, ServerIndex};
use crate::zookeeper::cases::Case;
use crate::zookeeper::driver::{Driver, GRACE};
use crate::zookeeper::random::{LONG, OpenClient, Random};
use crate::zookeeper::step::{Client, Resume, Step};

/// Operations of a round: what goes wrong in one does not reach the next.
const ROUND: u64 = 250;

/// How long one waits without looking whether to go on.
const PIECE: Duration = Duration::from_millis(250);

/// What is counted of ZooKeeper alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Notifications, as the real server sent them.
    pub notifications: u64,
    /// Answers that the real servers gave late, after they were given something else to do.
    pub late_answers: u64,
}

/// Both ensembles.
pub(super) type Pair<R, M> = pair::Pair<Driver<R>, Driver<M>, Counters>;

impl<R: EnsembleBackend, M: EnsembleBackend> Pair<R, M> {
    /// Both, with so many servers each.
    pub(super) fn of(real: R, model: M, servers: usize) -> Self {
        Self::new(Driver::new(real, servers), Driver::new(model, servers))
    }

    /// Does the cases, and then random steps until there were so many operations. `progress` hears how many there were.
    pub(super) fn compare(
        mut self,
        cases: &[Case],
        seed: u64,
        operations: u64,
        stop: &AtomicBool,
        progress: &dyn Fn(u64),
    ) -> Result<Compared<Counters>> {
        let servers = self.real.servers;
        for (number, case) in cases.iter().enumerate() {
            if case.servers > servers {
                continue;
            }
            // Another node for each time, in case that one of them is set aside.
            let mut time = 0;
            while !self.attempt(|pair| pair.case(&format!("/s{number}-{time}"), case, stop))? {
                self.outlive_sessions()?;
                time += 1;
            }
            progress(self.compared.operations);
        }
        let mut round = 0;
        while self.compared.operations < operations {
            let end = operations.min(self.compared.operations + ROUND);
            if !self.attempt(|pair| pair.round((seed, round), end, stop, progress))? {
                self.outlive_sessions()?;
            }
            round += 1;
        }
        self.compared.counters.late_answers = self.real.backend.late_answers();
        Ok(self.compared)
    }

    /// Waits until the sessions are gone that a part which is set aside may have left on one side alone.
    fn outlive_sessions(&mut self) -> Result<()> {
        let mut left = LONG + GRACE;
        while !left.is_zero() {
            let piece = left.min(PIECE);
            self.real.backend.pass(piece)?;
            self.model.backend.pass(piece)?;
            left -= piece;
        }
        Ok(())
    }

    fn perform(&mut self, step: &Step) -> Result<()> {
        let observed = self.step(step)?;
        let lines = observed.values().flatten();
        let events = lines.filter(|line| line.text.starts_with("event "));
        self.compared.counters.notifications += events.count() as u64;
        Ok(())
    }

    /// Opens a connection to each server, and makes a node that all of this part is below.
    fn begin(&mut self, part: String, root: &str) -> Result<usize> {
        self.part = part;
        let first = self.real.clients.len();
        for place in (0..self.real.servers).map(ServerIndex) {
            self.perform(&Step::open(place, LONG))?;
        }
        self.real.normal.rebase();
        self.model.normal.rebase();
        let mode = CreateMode::Persistent;
        let request = Request::create(root.into(), b"", mode, Acl::OPEN, true);
        self.perform(&Step::Ask {
            client: Client(first),
            requests: vec![request],
        })?;
        Ok(first)
    }

    fn case(&mut self, root: &str, case: &Case, stop: &AtomicBool) -> Result<()> {
        let first = self.begin(format!("case {}", case.name), root)?;
        for step in (case.steps)(root, first, self.real.servers) {
            unless_stopped(stop)?;
            self.perform(&step)?;
        }
        self.end(first)
    }

    fn round(
        &mut self,
        (seed, round): (u64, u64),
        end: u64,
        stop: &AtomicBool,
        progress: &dyn Fn(u64),
    ) -> Result<()> {
        let root = format!("/r{round}");
        let first = self.begin(format!("round {round}"), &root)?;
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(round);
        let mut random = Random::new(seed, root, self.real.servers, first);
        while self.compared.operations < end {
            unless_stopped(stop)?;
            let step = random.step(&self.open_clients(first));
            self.perform(&step)?;
            random.learn(self.model.made());
            progress(self.compared.operations);
        }
        self.end(first)
    }

    /// The connections of this part that are open on both sides.
    fn open_clients(&self, first: usize) -> Vec<OpenClient> {
        let clients = self.model.clients.iter().zip(&self.real.clients);
        let of_part = clients.enumerate().skip(first);
        of_part
            .filter(|(_, (model, real))| model.open && real.open)
            .map(|(client, (model, _))| OpenClient {
                client: Client(client),
                left: model.left,
            })
            .collect()
    }

    /// Ends the sessions of this part, those without a connection too: they would expire some time, and when that is
    /// two servers need not agree on.
    fn end(&mut self, first: usize) -> Result<()> {
        let mut last = BTreeMap::new();
        for (client, state) in self.model.clients.iter().enumerate().skip(first) {
            last.insert(state.session, Client(client));
        }
        for client in first..self.model.clients.len() {
            let state = &self.model.clients[client];
            if state.open && !state.left {
                last.remove(&state.session);
                let client = Client(client);
                self.perform(&Step::Close { client })?;
            }
        }
        for of in last.into_values() {
            let next = self.model.clients.len();
            self.perform(&Step::Resume(Resume {
                of,
                place: ServerIndex(0),
                cut: true,
                wrong_password: false,
                ahead: false,
                read_only: false,
            }))?;
            if self.model.clients[next].open {
                let client = Client(next);
                self.perform(&Step::Close { client })?;
            }
        }
        self.real.leave_all();
        self.model.leave_all();
        Ok(())
    }
}

impl Compared<Counters> {
    /// Adds what came of another comparison.
    pub(super) fn add(&mut self, other: Self) {
        self.operations += other.operations;
        for (name, number) in other.requests {
            *self.requests.entry(name).or_default() += number;
        }
        self.answers += other.answers;
        self.agreeing += other.agreeing;
        self.differences.extend(other.differences);
        self.set_aside += other.set_aside;
        self.counters.notifications += other.counters.notifications;
        self.counters.late_answers += other.counters.late_answers;
    }
}
