//! The same steps on both sides, and where they differ.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock_clients::zookeeper::{Acl, CreateMode, Request};

use crate::backend::{Place, Side};
use crate::driver::{Driver, GRACE, Line, Seen};
use crate::error::{VerifyError, unless_stopped};
use crate::random::{LONG, Live, Random};
use crate::scripts::Script;
use crate::step::{Resume, Step, Wire};

/// Operations of a round: what goes wrong in one does not reach the next.
const ROUND: u64 = 250;

/// If a step takes longer, sessions may expire.
const STANDSTILL: Duration = Duration::from_secs(4);
/// If servers take longer to elect a leader or to start, they may, too.
const LONG_STANDSTILL: Duration = Duration::from_secs(8);
/// Whoever waits until something is gone must hear of those who live on this often.
const BEAT_STANDSTILL: Duration = Duration::from_millis(1_500);
/// How many rounds and scripts may be set aside before it is said that this machine is no good for it.
const MOST_SET_ASIDE: u64 = 5;

/// How long one waits without looking whether to go on.
const PIECE: Duration = Duration::from_millis(250);

/// An answer on which the two sides differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// In which round or script.
    pub part: String,
    /// After what was done.
    pub asked: String,
    /// Over which connection.
    pub wire: String,
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
    /// Rounds and scripts that say nothing, because an answer took so long that sessions may have expired.
    pub set_aside: u64,
    /// Answers that the real servers gave late, after they were given something else to do.
    pub held_up: u64,
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

impl<R: Side, M: Side> Pair<R, M> {
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

    /// Does the scripts, and then random steps until there were so many operations. `told` hears how many there were.
    ///
    /// # Errors
    ///
    /// [`VerifyError`], if the comparison could not be made.
    pub fn compare(
        mut self,
        scripts: &[Script],
        seed: u64,
        operations: u64,
        stop: &AtomicBool,
        told: &dyn Fn(u64),
    ) -> Result<Compared, VerifyError> {
        for (number, script) in scripts.iter().enumerate() {
            if script.servers > self.servers {
                continue;
            }
            // Another node for each time, in case that one of them is set aside.
            let mut time = 0;
            while !self.counts(|pair| pair.script((number, time), script, stop))? {
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
        self.compared.held_up = self.real.side.held_up();
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
        let first = self.real.wires.len();
        for place in (0..self.servers).map(Place) {
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
            wire: Wire(first),
            requests: vec![request],
        })?;
        Ok(first)
    }

    fn script(
        &mut self,
        (number, time): (usize, u64),
        script: &Script,
        stop: &AtomicBool,
    ) -> Result<(), VerifyError> {
        let root = format!("/s{number}-{time}");
        let first = self.begin(format!("script {}", script.name), &root)?;
        for step in (script.steps)(&root, first, self.servers) {
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
            let live: Vec<Live> = self.live(first);
            let step = random.step(&live);
            self.step(&step)?;
            random.learn(self.model.made());
            told(self.compared.operations);
        }
        self.end(first)
    }

    /// The connections of this part that are open on both sides.
    fn live(&self, first: usize) -> Vec<Live> {
        let wires = self.model.wires.iter().zip(&self.real.wires).enumerate();
        wires
            .skip(first)
            .filter(|(_, (model, real))| model.open && real.open)
            .map(|(wire, (model, _))| Live {
                wire: Wire(wire),
                left: model.left,
            })
            .collect()
    }

    /// Ends the sessions of this part, those without a connection too: they would expire some time, and when that is
    /// two servers need not agree on.
    fn end(&mut self, first: usize) -> Result<(), VerifyError> {
        let mut last = BTreeMap::new();
        for (wire, state) in self.model.wires.iter().enumerate().skip(first) {
            last.insert(state.session, Wire(wire));
        }
        for wire in first..self.model.wires.len() {
            let state = &self.model.wires[wire];
            if state.open && !state.left {
                last.remove(&state.session);
                self.step(&Step::Close { wire: Wire(wire) })?;
            }
        }
        for of in last.into_values() {
            let next = self.model.wires.len();
            self.step(&Step::Resume(Resume {
                of,
                place: Place(0),
                cut: true,
                wrong_password: false,
                ahead: false,
                read_only: false,
            }))?;
            if self.model.wires[next].open {
                self.step(&Step::Close { wire: Wire(next) })?;
            }
        }
        for wires in [&mut self.real.wires, &mut self.model.wires] {
            wires.iter_mut().for_each(|wire| wire.left = true);
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
            Step::KillLeader | Step::KillFollower | Step::LeaveAlone { .. } | Step::Return => {
                (self.real.side.elapsed() - began, LONG_STANDSTILL)
            }
            Step::Open { .. }
            | Step::Resume(_)
            | Step::Ask { .. }
            | Step::Watch { .. }
            | Step::Say { .. }
            | Step::Close { .. } => (self.real.side.elapsed() - began, STANDSTILL),
        };
        if took > most {
            self.slowest = self.slowest.max(Some(took));
        }
        self.compared.operations += match step {
            Step::Ask { requests, .. } => requests.len() as u64,
            Step::Open { .. }
            | Step::Resume(_)
            | Step::Watch { .. }
            | Step::Say { .. }
            | Step::Close { .. }
            | Step::Silence { .. }
            | Step::KillLeader
            | Step::KillFollower
            | Step::LeaveAlone { .. }
            | Step::Return => 1,
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
        self.held_up += other.held_up;
    }

    fn note(&mut self, part: &str, step: &Step, real: &Seen, model: &Seen) {
        let wires = real.keys().chain(model.keys());
        let mut wires: Vec<Wire> = wires.copied().collect();
        wires.sort_unstable();
        wires.dedup();
        for wire in wires {
            let lines = |seen: &Seen| seen.get(&wire).cloned().unwrap_or_default();
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
                    wire: wire.to_string(),
                    real: text(real),
                    model: text(model),
                });
            }
        }
    }
}
