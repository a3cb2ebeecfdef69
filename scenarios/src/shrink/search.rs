//! The search: tries candidates, and keeps those that still violate the promise.

use std::collections::BTreeSet;
use std::mem::Discriminant;

use picklock_checker::{EventKind, Invariant, Witness};
use picklock_sim::engine::Tape;
use picklock_sim::plan::Plan;
use picklock_sim::{Simulated, simulate, simulate_with};

use super::limits::{Budget, Cut, SearchLimit};
use super::mechanism::Mechanism;
use super::violation::{is_excused, violation};
use super::{Shrunk, Size};
use crate::format::parse;
use crate::reduced_plan::without_the_gone;
use crate::scenario::{Case, Catalogue, Scenario};
use crate::write::write;

/// A candidate that loses a whole part may need other choices to fail: so many seeds are tried at most.
const SEEDS: u64 = 50;
/// And at least so many.
const SEEDS_LEAST: u64 = 5;
/// Between the two, as many as make so many engine events: of a run that takes long, fewer.
const SEEDS_EVENTS: u64 = 100_000;

/// How a change of the plan is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// With the choices that there are, and with none. The violation must come about as before: what is only made
    /// simpler shall not end in a race of milliseconds that was not there.
    Same,
    /// Also with the choices of a few seeds: with less in the plan, the old choices fall to other decisions.
    Fresh,
    /// The same, and there must be fewer operations on the way.
    Fewer,
}

/// A search, and the smallest run so far.
pub(super) struct Search<'a> {
    case: &'a Case,
    invariant: &'static Invariant,
    /// How the run that it began with violates the promise. Of two ways to break a promise, one may be the fault of the
    /// lock and the other that of the world.
    mechanism: Mechanism,
    /// Whether every kind of fault of the mechanism is known to be needed.
    all_needed: bool,
    /// No lock could keep the promise under the faults of the plan that it began with.
    excused: bool,
    /// The run that it began with violates even the part that no fault excuses.
    beyond_excuse: bool,
    budget: Budget,
    watch: &'a SearchLimit<'a>,
    was: u64,
    from: Size,
    best: Best,
    /// What was tried before, and did not violate the promise.
    held: BTreeSet<(String, Fill)>,
    steps: Vec<String>,
    kept: u32,
    tried: u32,
    events: u64,
    cut: Option<Cut>,
}

/// What fills the tape of a candidate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fill {
    Choices(Vec<u32>),
    Seed(u64),
}

struct Best {
    plan: Plan,
    text: String,
    choices: Vec<u32>,
    simulated: Simulated,
    witness: Witness,
    mechanism: Mechanism,
    size: Size,
}

impl Best {
    /// What happens on the way to the violation: the kinds of the events that it rests on.
    fn shape(&self) -> Vec<Discriminant<EventKind>> {
        let events = &self.simulated.run.history.events;
        let events = self.witness.events.iter().map(|index| &events[*index].what);
        events.map(std::mem::discriminant).collect()
    }
}

impl<'a> Search<'a> {
    /// Begins with the run of these choices; `None`, if it does not violate the promise.
    pub(super) fn begin(
        case: &'a Case,
        choices: Vec<u32>,
        invariant: &'static Invariant,
        budget: Budget,
        watch: &'a SearchLimit<'a>,
    ) -> Option<Self> {
        let simulated = simulate_with(&case.plan, Tape::recorded(choices));
        let excused = is_excused(&case.plan, invariant);
        let beyond_excuse = excused && violation(invariant, true, &simulated).is_some();
        let witness = violation(invariant, beyond_excuse, &simulated)?;
        let choices = trimmed(simulated.choices.clone());
        let history = &simulated.run.history;
        let from = Size::of(&case.plan, &choices, history, witness.at);
        let was = simulated.hash;
        let best = Best {
            mechanism: Mechanism::of(&case.plan, &simulated, &witness),
            plan: case.plan.clone(),
            text: spelled(case, &case.plan).unwrap_or_default(),
            choices,
            simulated,
            witness,
            size: from,
        };
        Some(Self {
            was,
            from,
            mechanism: best.mechanism.clone(),
            all_needed: false,
            excused,
            beyond_excuse,
            best,
            case,
            invariant,
            budget,
            watch,
            held: BTreeSet::new(),
            steps: Vec::new(),
            kept: 0,
            tried: 1,
            events: 0,
            cut: None,
        })
    }

    /// The plan as small as it is by now.
    pub(super) fn plan(&self) -> &Plan {
        &self.best.plan
    }

    /// How many operations there are until the promise is broken.
    pub(super) fn operations(&self) -> u32 {
        self.best.size.operations
    }

    /// The choices, without the zeros at their end.
    pub(super) fn choices(&self) -> &[u32] {
        &self.best.choices
    }

    /// How many changes were kept.
    pub(super) fn kept(&self) -> u32 {
        self.kept
    }

    /// Whether nothing more will be tried.
    pub(super) fn is_over(&self) -> bool {
        self.cut.is_some()
    }

    /// Whatever faults could be taken away are gone: those that are left belong to the mechanism, and what is made
    /// simpler from here on must not do without any kind of them.
    pub(super) fn needs_its_faults(&mut self) {
        if self.cut.is_none() {
            self.mechanism
                .faults
                .clone_from(&self.best.mechanism.faults);
            self.all_needed = true;
        }
    }

    /// Tries plans that are a little simpler than the smallest, one after the other; begins with what follows
    /// whenever one is kept. `changes` gives all that there are of the current plan.
    pub(super) fn try_plans(&mut self, effort: Effort, changes: fn(&Plan) -> Vec<Change>) {
        let mut passed = 0;
        'smaller: loop {
            for change in changes(self.plan()).into_iter().skip(passed) {
                if self.cut.is_some() {
                    return;
                }
                if self.try_plan(effort, change) {
                    continue 'smaller;
                }
                passed += 1;
            }
            return;
        }
    }

    fn try_plan(&mut self, effort: Effort, mut change: Change) -> bool {
        let workload = &mut change.plan.workload;
        // With fewer contenders or rounds there may be locks that no contender takes.
        workload.locks = workload.locks.min(workload.locks_at_most());
        without_the_gone(&mut change.plan);
        // What cannot be said in a scenario file is no plan.
        let Some(text) = spelled(self.case, &change.plan) else {
            return false;
        };
        if text == self.best.text {
            return false;
        }
        let Change { what, plan } = change;
        // A flaw of the lock is not to turn into one that no lock is free of.
        if !self.excused && is_excused(&plan, self.invariant) {
            return false;
        }
        let same = self.best.choices.clone();
        let fresh = match effort {
            Effort::Same => 0..0,
            Effort::Fresh => 0..self.seeds(1),
            // Few seeds bring those contenders late that are to be late, and no others.
            Effort::Fewer => 0..self.seeds(5),
        };
        let fills = [Fill::Choices(Vec::new()), Fill::Choices(same)];
        let mut fills = fills.into_iter().chain(fresh.map(Fill::Seed));
        let shape = match effort {
            Effort::Same => Some(self.best.shape()),
            Effort::Fresh | Effort::Fewer => None,
        };
        let most = match effort {
            Effort::Fewer => self.best.size.operations.saturating_sub(1),
            Effort::Same | Effort::Fresh => u32::MAX,
        };
        let fits = |of: &Best| {
            of.size.operations <= most && shape.as_ref().is_none_or(|shape| *shape == of.shape())
        };
        fills.any(|fill| self.attempt(Some(&what), (&plan, &text), fill, &fits))
    }

    /// With how many seeds a candidate is tried that is worth so much.
    fn seeds(&self, worth: u64) -> u64 {
        let events = self.best.simulated.run.counts.engine_events;
        (worth * SEEDS_EVENTS / events.max(1)).clamp(SEEDS_LEAST, SEEDS)
    }

    /// Tries other choices with the same plan.
    pub(super) fn try_choices(&mut self, choices: Vec<u32>) -> bool {
        let choices = trimmed(choices);
        if choices == self.best.choices {
            return false;
        }
        let (plan, text) = (self.best.plan.clone(), self.best.text.clone());
        self.attempt(None, (&plan, &text), Fill::Choices(choices), &|_| true)
    }

    /// Runs a candidate, unless it was run before, and keeps it if it violates the promise.
    fn attempt(
        &mut self,
        what: Option<&str>,
        (plan, text): (&Plan, &str),
        fill: Fill,
        fits: &dyn Fn(&Best) -> bool,
    ) -> bool {
        let key = (text.to_owned(), fill);
        if self.held.contains(&key) || !self.may_run() {
            return false;
        }
        let simulated = match &key.1 {
            Fill::Choices(choices) => simulate_with(plan, Tape::recorded(choices.clone())),
            Fill::Seed(seed) => simulate(plan, *seed),
        };
        self.tried += 1;
        self.events += simulated.run.counts.engine_events;
        let Some((witness, mechanism)) = self.violated_alike(plan, &simulated) else {
            self.held.insert(key);
            return false;
        };
        let choices = trimmed(simulated.choices.clone());
        let size = Size::of(plan, &choices, &simulated.run.history, witness.at);
        if !self.from.may_become(&size, &self.best.size) {
            self.held.insert(key);
            return false;
        }
        let candidate = Best {
            mechanism,
            plan: plan.clone(),
            text: key.0,
            // What was asked for, and not more than was drawn.
            choices,
            simulated,
            witness,
            size,
        };
        if !fits(&candidate) {
            return false;
        }
        self.steps.extend(what.map(str::to_owned));
        self.kept += 1;
        self.best = candidate;
        true
    }

    /// How a candidate violates the promise, if it does by the same mechanism.
    fn violated_alike(&self, plan: &Plan, simulated: &Simulated) -> Option<(Witness, Mechanism)> {
        let witness = violation(self.invariant, self.beyond_excuse, simulated)?;
        if witness.kind() != self.mechanism.argument {
            return None;
        }
        let mechanism = Mechanism::of(plan, simulated, &witness);
        let alike = mechanism.is(&self.mechanism, self.all_needed);
        alike.then_some((witness, mechanism))
    }

    fn may_run(&mut self) -> bool {
        if self.cut.is_none() {
            let spent = self.tried >= self.budget.runs || self.events >= self.budget.events;
            self.cut = spent.then_some(Cut::Budget).or_else(|| self.watch.cut());
            self.watch.report_progress(self.tried);
        }
        self.cut.is_none()
    }

    /// The smallest run.
    pub(super) fn finish(self) -> Shrunk {
        let best = self.best;
        Shrunk {
            invariant: self.invariant.name,
            was: self.was,
            from: self.from,
            to: best.size,
            plan: best.plan,
            choices: best.choices,
            simulated: best.simulated,
            witness: best.witness,
            mechanism: best.mechanism,
            steps: self.steps,
            tried: self.tried,
            events: self.events,
            cut: self.cut,
        }
    }
}

/// A plan that is a little simpler than another, and what makes it so.
pub(super) struct Change {
    pub(super) what: String,
    pub(super) plan: Plan,
}

/// Without the zeros at the end, which a tape that has run out gives anyway.
fn trimmed(mut choices: Vec<u32>) -> Vec<u32> {
    let last = choices.iter().rposition(|choice| *choice != 0);
    choices.truncate(last.map_or(0, |last| last + 1));
    choices
}

/// The plan as a scenario file, which also tells plans apart; `None`, if a file cannot say it.
fn spelled(case: &Case, plan: &Plan) -> Option<String> {
    read_back(case, plan).map(|(text, _)| text)
}

/// The same, and the scenario that the file is read as: every promise that it should keep by default is to hold.
pub(super) fn read_back(case: &Case, plan: &Plan) -> Option<(String, Scenario)> {
    let scenario = Scenario {
        name: "shrunk".to_owned(),
        path: String::new(),
        claim: "It fails.".to_owned(),
        because: "It did.".to_owned(),
        source: "a run".to_owned(),
        cases: Vec::new(),
    };
    let case = Case {
        name: case.algorithm.name.to_owned(),
        line: None,
        algorithm: case.algorithm,
        plan: plan.clone(),
        expectations: Vec::new(),
        sometimes: Vec::new(),
        measures: Vec::new(),
        open: None,
        drawn: false,
        recorded: None,
        saved: None,
        seeds_at_most: None,
    };
    let text = write(&scenario, &case);
    let catalogue = Catalogue {
        algorithms: &[case.algorithm],
        ..Catalogue::EVERYTHING
    };
    let read = parse("shrunk", &text, &catalogue).ok()?;
    Some((text, read))
}
