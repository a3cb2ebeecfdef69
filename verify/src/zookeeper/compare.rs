//! The same steps on both sides, and where they differ.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock_clients::zookeeper::{Acl, CreateMode, Request};

use crate::harness::error::{VerifyError, unless_stopped};
use crate::zookeeper::backend::{EnsembleBackend, ServerIndex};
use crate::zookeeper::cases::Case;
use crate::zookeeper::driver::{Driver, GRACE, Line, Observed};
use crate::zookeeper::random::{LONG, OpenConnection, Random};
use crate::zookeeper::step::{Connection, Resume, Step};

/// Operations of a round: what goes wrong in one does not reach the next.
const ROUND: u64 = 250;

/// If a step takes longer, sessions may expire.
const STANDSTILL: Duration = Duration::from_secs(4);
/// If servers take longer to elect a leader or to start, they may, too.
const LONG_STANDSTILL: Duration = Duration::from_secs(8);
/// Whoever waits until something is gone must hear of those who live on this often.
const BEAT_STANDSTILL: Duration = Duration::from_millis(1_500);
/// How many rounds and cases may be set aside before it is said that this machine is no good for it.
const MOST_SET_ASIDE: u64 = 5;

/// How long one waits without looking whether to go on.
const PIECE: Duration = Duration::from_millis(250);

/// An answer on which the two sides differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// In which round or case.
    pub part: String,
    /// After what was done.
    pub asked: String,
    /// Over which connection.
    pub connection: String,
    /// What the real server said.
    pub real: String,
    /// What the model said.
    pub model: String,
}

/// What came of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// What was asked: requests, new and resumed sessions, their ends, and faults.
    pub operations: u64,
    /// How often each kind of request was among it.
    pub requests: BTreeMap<&'static str, u64>,
    /// Notifications, as the real server sent them.
    pub notifications: u64,
    /// Answers, notifications, and ends of connections.
    pub answers: u64,
    /// How many of them are the same.
    pub agreeing: u64,
    /// The others.
    pub differences: Vec<Difference>,
    /// Rounds and cases that say nothing, because an answer took so long that sessions may have expired.
    pub set_aside: u64,
    /// Answers that the real servers gave late, after they were given something else to do.
    pub late_answers: u64,
}

/// Both sides.
pub struct Pair<R, M> {
    /// The real one.
    pub real: Driver<R>,
    /// The model.
    pub model: Driver<M>,
    /// How many servers each has.
    pub servers: usize,
    compared: Compared,
    part: String,
    /// The longest that a step has taken, in real time, and that it should not have.
    slowest: Option<Duration>,
}

impl<R: EnsembleBackend, M: EnsembleBackend> Pair<R, M> {
    /// Both, at their beginning.
    pub fn new(real: R, model: M, servers: usize) -> Self {
        Self {
            real: Driver::new(real),
            model: Driver::new(model),
            servers,
            compared: Compared::default(),
            part: String::new(),
            slowest: None,
        }
    }

    /// Does the cases, and then random steps until there were so many operations. `told` hears how many there were.
    ///
    /// # Errors
    ///
    /// [`VerifyError`], if the comparison could not be made.
    pub fn compare(
        mut self,
        cases: &[Case],
        seed: u64,
        operations: u64,
        stop: &AtomicBool,
        told: &dyn Fn(u64),
    ) -> Result<Compared, VerifyError> {
        for (number, case) in cases.iter().enumerate() {
            if case.servers > self.servers {
                continue;
            }
            // Another node for each time, in case that one of them is set aside.
            let mut time = 0;
            while !self.counts(|pair| pair.case((number, time), case, stop))? {
                time += 1;
            }
            told(self.compared.operations);
        }
        let mut round = 0;
        while self.compared.operations < operations {
            let end = operations.min(self.compared.operations + ROUND);
            self.counts(|pair| pair.round(seed, round, end, stop, told))?;
            round += 1;
        }
        self.compared.late_answers = self.real.side.late_answers();
        Ok(self.compared)
    }

    /// Does a part. Whether it counts: if an answer took too long, what it has found says nothing, and is forgotten.
    fn counts(
        &mut self,
        part: impl FnOnce(&mut Self) -> Result<(), VerifyError>,
    ) -> Result<bool, VerifyError> {
        let before = self.compared.clone();
        self.slowest = None;
        part(self)?;
        let Some(longest) = self.slowest else {
            return Ok(true);
        };
        self.compared = before;
        self.compared.set_aside += 1;
        if self.compared.set_aside > MOST_SET_ASIDE {
            return Err(VerifyError::StoodStill { longest });
        }
        self.outlive_sessions()?;
        Ok(false)
    }

    /// Waits until the sessions are gone that a part which is set aside may have left on one side alone.
    fn outlive_sessions(&mut self) -> Result<(), VerifyError> {
        let mut left = LONG + GRACE;
        while !left.is_zero() {
            let piece = left.min(PIECE);
            self.real.side.pass(piece)?;
            self.model.side.pass(piece)?;
            left -= piece;
        }
        Ok(())
    }

    /// Opens a connection to each server, and makes a node that all of this part is below.
    fn begin(&mut self, part: String, root: &str) -> Result<usize, VerifyError> {
        self.part = part;
        let first = self.real.connections.len();
        for place in (0..self.servers).map(ServerIndex) {
            self.step(&Step::Open {
                place,
                timeout: LONG,
                read_only: false,
            })?;
        }
        self.real.normal.rebase();
        self.model.normal.rebase();
        let mode = CreateMode::Persistent;
        let request = Request::create(root.into(), b"", mode, Acl::OPEN, true);
        self.step(&Step::Ask {
            connection: Connection(first),
            requests: vec![request],
        })?;
        Ok(first)
    }

    fn case(
        &mut self,
        (number, time): (usize, u64),
        case: &Case,
        stop: &AtomicBool,
    ) -> Result<(), VerifyError> {
        let root = format!("/s{number}-{time}");
        let first = self.begin(format!("case {}", case.name), &root)?;
        for step in (case.steps)(&root, first, self.servers) {
            unless_stopped(stop)?;
            self.step(&step)?;
        }
        self.end(first)
    }

    fn round(
        &mut self,
        seed: u64,
        round: u64,
        end: u64,
        stop: &AtomicBool,
        told: &dyn Fn(u64),
    ) -> Result<(), VerifyError> {
        let root = format!("/r{round}");
        let first = self.begin(format!("round {round}"), &root)?;
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(round);
        let mut random = Random::new(seed, root, self.servers, first);
        while self.compared.operations < end {
            unless_stopped(stop)?;
            let live: Vec<OpenConnection> = self.live(first);
            let step = random.step(&live);
            self.step(&step)?;
            random.learn(self.model.made());
            told(self.compared.operations);
        }
        self.end(first)
    }

    /// The connections of this part that are open on both sides.
    fn live(&self, first: usize) -> Vec<OpenConnection> {
        let connections = self
            .model
            .connections
            .iter()
            .zip(&self.real.connections)
            .enumerate();
        connections
            .skip(first)
            .filter(|(_, (model, real))| model.open && real.open)
            .map(|(connection, (model, _))| OpenConnection {
                connection: Connection(connection),
                left: model.left,
            })
            .collect()
    }

    /// Ends the sessions of this part, those without a connection too: they would expire some time, and when that is
    /// two servers need not agree on.
    fn end(&mut self, first: usize) -> Result<(), VerifyError> {
        let mut last = BTreeMap::new();
        for (connection, state) in self.model.connections.iter().enumerate().skip(first) {
            last.insert(state.session, Connection(connection));
        }
        for connection in first..self.model.connections.len() {
            let state = &self.model.connections[connection];
            if state.open && !state.left {
                last.remove(&state.session);
                self.step(&Step::Close {
                    connection: Connection(connection),
                })?;
            }
        }
        for of in last.into_values() {
            let next = self.model.connections.len();
            self.step(&Step::Resume(Resume {
                of,
                place: ServerIndex(0),
                cut: true,
                wrong_password: false,
                ahead: false,
                read_only: false,
            }))?;
            if self.model.connections[next].open {
                self.step(&Step::Close {
                    connection: Connection(next),
                })?;
            }
        }
        for connections in [&mut self.real.connections, &mut self.model.connections] {
            connections
                .iter_mut()
                .for_each(|connection| connection.left = true);
        }
        Ok(())
    }

    /// The model goes first: it does not take long.
    fn step(&mut self, step: &Step) -> Result<(), VerifyError> {
        let model = self.model.perform(step)?;
        let began = self.real.side.elapsed();
        let real = self.real.perform(step)?;
        // Who waits until something is gone hears of those who live on all the time.
        let (took, most) = match step {
            Step::Silence { .. } => (self.real.longest_beat, BEAT_STANDSTILL),
            Step::KillLeader | Step::KillFollower | Step::Isolate { .. } | Step::RestartKilled => {
                (self.real.side.elapsed() - began, LONG_STANDSTILL)
            }
            Step::Open { .. }
            | Step::Resume(_)
            | Step::Ask { .. }
            | Step::SetWatches { .. }
            | Step::Authenticate { .. }
            | Step::Close { .. } => (self.real.side.elapsed() - began, STANDSTILL),
        };
        if took > most {
            self.slowest = self.slowest.max(Some(took));
        }
        self.compared.operations += match step {
            Step::Ask { requests, .. } => requests.len() as u64,
            Step::Open { .. }
            | Step::Resume(_)
            | Step::SetWatches { .. }
            | Step::Authenticate { .. }
            | Step::Close { .. }
            | Step::Silence { .. }
            | Step::KillLeader
            | Step::KillFollower
            | Step::Isolate { .. }
            | Step::RestartKilled => 1,
        };
        if let Step::Ask { requests, .. } = step {
            for request in requests {
                let name = request.kind().name();
                *self.compared.requests.entry(name).or_default() += 1;
            }
        }
        self.compared.note(&self.part, step, &real, &model);
        Ok(())
    }
}

impl Compared {
    /// Adds what came of another comparison.
    pub fn add(&mut self, other: Self) {
        self.operations += other.operations;
        self.notifications += other.notifications;
        for (name, number) in other.requests {
            *self.requests.entry(name).or_default() += number;
        }
        self.answers += other.answers;
        self.agreeing += other.agreeing;
        self.differences.extend(other.differences);
        self.set_aside += other.set_aside;
        self.late_answers += other.late_answers;
    }

    fn note(&mut self, part: &str, step: &Step, real: &Observed, model: &Observed) {
        let connections = real.keys().chain(model.keys());
        let mut connections: Vec<Connection> = connections.copied().collect();
        connections.sort_unstable();
        connections.dedup();
        for connection in connections {
            let lines = |seen: &Observed| seen.get(&connection).cloned().unwrap_or_default();
            let (real, model) = (lines(real), lines(model));
            let most = real.len().max(model.len());
            let events = real.iter().filter(|line| line.text.starts_with("event "));
            self.notifications += events.count() as u64;
            self.answers += most as u64;
            for place in 0..most {
                let (real, model) = (real.get(place), model.get(place));
                if real.map(|line| &line.text) == model.map(|line| &line.text) {
                    self.agreeing += 1;
                    continue;
                }
                let asked = real.or(model).and_then(|line| line.asked.clone());
                let text = |line: Option<&Line>| {
                    line.map_or("nothing".to_owned(), |line| line.text.clone())
                };
                self.differences.push(Difference {
                    part: part.to_owned(),
                    asked: asked.unwrap_or_else(|| step.to_string()),
                    connection: connection.to_string(),
                    real: text(real),
                    model: text(model),
                });
            }
        }
    }
}
