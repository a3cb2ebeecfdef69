//! Two backends in lock-step.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use crate::harness::comparison::{Answer, Compared};
use crate::harness::error::{Result, VerifyError};

/// How many cases and rounds may be set aside before it is said that this machine is no good for it.
const MOST_SET_ASIDE: u64 = 5;

/// One thing that is done to both backends.
pub(crate) trait Step: fmt::Display {
    /// The names of its requests.
    fn requests(&self) -> Vec<String>;

    /// As how many operations it counts.
    fn operations(&self) -> u64 {
        self.requests().len() as u64
    }
}

/// What came over each connection, in order.
pub(crate) type Observed<K, A> = BTreeMap<K, Vec<A>>;

/// One of the two that are compared: the model, which is the system under test, or the real service, which is the
/// reference.
pub(crate) trait Backend {
    type Step: Step;
    type Connection: Copy + Ord + fmt::Display;
    type Answer: Answer;

    /// Performs a step, and waits until all that comes of it has arrived.
    fn perform(&mut self, step: &Self::Step) -> Result<Observed<Self::Connection, Self::Answer>>;

    /// How long the last step took, if too long for its answers to count.
    fn standstill(&self) -> Option<Duration> {
        None
    }
}

/// Both backends, and what came of comparing them so far.
pub(crate) struct Pair<R, M, C> {
    pub(crate) real: R,
    pub(crate) model: M,
    pub(crate) compared: Compared<C>,
    /// The case or the round.
    pub(crate) part: String,
    standstill: Option<Duration>,
}

impl<R, M, C: Clone + Default> Pair<R, M, C> {
    /// Both, at their beginning.
    pub(crate) fn new(real: R, model: M) -> Self {
        Self {
            real,
            model,
            compared: Compared::default(),
            part: String::new(),
            standstill: None,
        }
    }

    /// Does a case or a round. Whether it counts: if a step took too long, what it has found says nothing, and is
    /// forgotten.
    pub(crate) fn attempt(&mut self, part: impl FnOnce(&mut Self) -> Result<()>) -> Result<bool> {
        let before = self.compared.clone();
        self.standstill = None;
        part(self)?;
        let Some(longest) = self.standstill else {
            return Ok(true);
        };
        self.compared = before;
        self.compared.set_aside += 1;
        if self.compared.set_aside > MOST_SET_ASIDE {
            return Err(VerifyError::StoodStill { longest });
        }
        Ok(false)
    }
}

impl<R, M, C> Pair<R, M, C>
where
    R: Backend,
    M: Backend<Step = R::Step, Connection = R::Connection, Answer = R::Answer>,
{
    /// Performs a step on both backends, and compares what came of it. Returns what came of it at the real one.
    pub(crate) fn step(&mut self, step: &R::Step) -> Result<Observed<R::Connection, R::Answer>> {
        let real = self.real.perform(step)?;
        self.standstill = self.standstill.max(self.real.standstill());
        let model = self.model.perform(step)?;
        self.compared.operations += step.operations();
        for request in step.requests() {
            self.compared.count_request(&request);
        }
        let connections: BTreeSet<_> = real.keys().chain(model.keys()).copied().collect();
        for connection in connections {
            let answers =
                [&real, &model].map(|all| all.get(&connection).map_or(&[][..], Vec::as_slice));
            self.compared
                .compare(&self.part, step, &connection, answers);
        }
        Ok(real)
    }
}
