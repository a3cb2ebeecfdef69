//! A portfolio: several ways to search that share the runs there are.

use std::fmt;

use picklock_checker::Nearness;
use picklock_sim::plan::{FaultKind, Plan, Strategy};

use super::near_miss::Nearer;
use super::next_run::NextRun;
use super::strategies::{Aimed, BasePlan, Drawn};

/// A way to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SearchStrategy {
    /// Faults aimed at the moments of a run without faults, the most promising first.
    Aimed,
    /// Plans like those that came nearest to an overlap.
    Nearer,
    /// Faults drawn for each run, with this strategy of chance.
    Drawn(Strategy),
}

impl SearchStrategy {
    /// Every way, in the order of their turns.
    pub const ALL: [Self; 7] = [
        Self::Aimed,
        Self::Nearer,
        Self::Drawn(Strategy::Even),
        Self::Drawn(Strategy::Extremes),
        Self::Drawn(Strategy::Delays(3)),
        Self::Drawn(Strategy::Priorities(3)),
        Self::Drawn(Strategy::Orders),
    ];

    /// Those of a name that a person gives: `aimed`, `nearer`, or `drawn`.
    pub fn named(name: &str) -> Vec<Self> {
        let all = Self::ALL.into_iter();
        all.filter(|way| way.name() == name).collect()
    }

    /// Its name, whatever its strategy.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aimed => "aimed",
            Self::Nearer => "nearer",
            Self::Drawn(_) => "drawn",
        }
    }
}

impl fmt::Display for SearchStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Aimed | Self::Nearer => f.write_str(self.name()),
            Self::Drawn(strategy) => write!(f, "drawn, {}", strategy_name(*strategy)),
        }
    }
}

/// A strategy of chance as people read it: `delays 3`.
pub fn strategy_name(strategy: Strategy) -> String {
    match strategy {
        Strategy::Even => "even".to_owned(),
        Strategy::Extremes => "extremes".to_owned(),
        Strategy::Delays(delays) => format!("delays {delays}"),
        Strategy::Priorities(changes) => format!("priorities {changes}"),
        Strategy::Orders => "orders".to_owned(),
    }
}

/// What a way has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrategyShare {
    /// The way.
    pub way: SearchStrategy,
    /// How many runs it has had.
    pub runs: u64,
    /// The promise of each finding that it made.
    pub found: Vec<&'static str>,
}

impl StrategyShare {
    fn none(way: SearchStrategy) -> Self {
        Self {
            way,
            runs: 0,
            found: Vec::new(),
        }
    }
}

/// Several ways, each at work, and what they have come to.
pub(super) struct Portfolio {
    shares: Vec<StrategyShare>,
    /// Whether the search that aims is one of them.
    aims: bool,
    /// The others.
    others: Vec<SearchStrategy>,
    aimed: Aimed,
    nearer: Nearer,
    drawn: Vec<(SearchStrategy, Drawn)>,
    /// Turns so far.
    turns: usize,
}

impl Portfolio {
    pub(super) fn new(ways: &[SearchStrategy], world: &BasePlan, kinds: &[FaultKind]) -> Self {
        let drawn = ways.iter().filter_map(|way| match way {
            SearchStrategy::Drawn(strategy) => {
                let drawn = Drawn::new(world.clone(), kinds.to_vec(), *strategy);
                Some((*way, drawn))
            }
            SearchStrategy::Aimed | SearchStrategy::Nearer => None,
        });
        let others = ways
            .iter()
            .copied()
            .filter(|way| *way != SearchStrategy::Aimed);
        Self {
            shares: ways.iter().map(|way| StrategyShare::none(*way)).collect(),
            aims: ways.contains(&SearchStrategy::Aimed),
            others: others.collect(),
            aimed: Aimed::new(world.clone(), kinds.to_vec()),
            nearer: Nearer::default(),
            drawn: drawn.collect(),
            turns: 0,
        }
    }

    /// What comes next, and whose it is.
    ///
    /// The search that aims takes a first look at everything, and then every second turn. The other turns are those of
    /// all others, one after the other; one that has nothing to try lets the next one go.
    pub(super) fn next(&mut self, seed: u64) -> (SearchStrategy, NextRun) {
        let turn = self.turns;
        self.turns += 1;
        let others = self.others.len();
        let first = match self.aims {
            true if turn <= self.aimed.sample() || turn % 2 == 1 => None,
            true => Some(turn / 2),
            false => Some(turn),
        };
        for index in first.into_iter().flat_map(|first| first..first + others) {
            let way = self.others[index % others];
            if let Some(turn) = self.next_of(way, seed) {
                return (way, turn);
            }
        }
        // Also if there is nothing to go on from yet: it is what one learns from.
        (SearchStrategy::Aimed, self.aimed.next(seed))
    }

    fn next_of(&mut self, way: SearchStrategy, seed: u64) -> Option<NextRun> {
        match way {
            SearchStrategy::Aimed => Some(self.aimed.next(seed)),
            SearchStrategy::Nearer => self.nearer.next(seed),
            SearchStrategy::Drawn(_) => {
                let mut drawn = self.drawn.iter();
                let (_, drawn) = drawn.find(|(known, _)| *known == way)?;
                Some(drawn.next(seed))
            }
        }
    }

    /// Learns what came of a run, whosever it was.
    pub(super) fn learn(
        &mut self,
        way: SearchStrategy,
        plan: &Plan,
        nearness: Nearness,
        found: &[&'static str],
    ) {
        if let Some(near) = nearness.miss() {
            self.nearer.learn(plan, near);
        }
        if self.shares.iter().all(|share| share.way != way) {
            self.shares.push(StrategyShare::none(way));
        }
        let mut shares = self.shares.iter_mut();
        let Some(share) = shares.find(|share| share.way == way) else {
            return;
        };
        share.runs += 1;
        share.found.extend(found);
    }

    /// What each way has come to.
    pub(super) fn shares(self) -> Vec<StrategyShare> {
        self.shares
    }
}
