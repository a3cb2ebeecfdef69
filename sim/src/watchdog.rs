//! Which run each thread is in the middle of, and whether it gets anywhere: for an observer outside, which reports what
//! the run itself cannot.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// All threads that have run a simulation.
static THREADS: Mutex<Vec<Weak<Pulse>>> = Mutex::new(Vec::new());

thread_local! {
    static PULSE: Arc<Pulse> = Pulse::of_this_thread();
}

/// Runs of one case, as a report of one of them names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The scenario's name.
    pub scenario: String,
    /// The case's name.
    pub case: String,
    /// How to see a run again.
    pub replay: Replay,
}

/// How to see a run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replay {
    /// By this command.
    Command(String),
    /// By this command with its seed.
    Seeded(String),
    /// By the test that ran it: no command knows the recipe.
    Test,
}

impl Job {
    /// How to see the run of a seed again.
    pub fn replay(&self, seed: u64) -> String {
        match &self.replay {
            Replay::Command(command) => command.clone(),
            Replay::Seeded(command) => format!("{command} --seed {seed}"),
            Replay::Test => format!("the same test, with_seeds({seed}..{})", seed + 1),
        }
    }

    /// The run and how to replay it: lines of a report, below what has happened.
    pub fn location(&self, seed: u64) -> String {
        let Self { scenario, case, .. } = self;
        let replay = self.replay(seed);
        format!("  scenario {scenario}, case {case}, seed {seed}\n  replay   {replay}")
    }
}

/// What a thread is at. Only the thread itself writes the numbers.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    /// How many simulations it has begun and ended: odd while it is in one.
    turns: AtomicU64,
    /// The events of the simulation so far.
    events: AtomicU64,
    /// The run, if it was named.
    run: Mutex<Option<(Arc<Job>, u64)>>,
}

impl Pulse {
    fn of_this_thread() -> Arc<Self> {
        let pulse = Arc::new(Self::default());
        let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|other| other.strong_count() > 0);
        threads.push(Arc::downgrade(&pulse));
        pulse
    }

    /// A simulation has come so far.
    #[inline]
    pub(crate) fn beat(&self, events: u64) {
        self.events.store(events, Ordering::Relaxed);
    }

    fn at(&self) -> (u64, u64) {
        let turns = self.turns.load(Ordering::Relaxed);
        (turns, self.events.load(Ordering::Relaxed))
    }

    fn turn(&self) {
        let turns = self.turns.load(Ordering::Relaxed);
        self.turns.store(turns + 1, Ordering::Relaxed);
    }

    fn named(&self) -> Option<(Arc<Job>, u64)> {
        let run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        run.clone()
    }

    fn name(&self, run: Option<(Arc<Job>, u64)>) -> Option<(Arc<Job>, u64)> {
        let mut named = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut named, run)
    }
}

/// A simulation that this thread is in.
pub(crate) struct InSimulation(Arc<Pulse>);

impl InSimulation {
    pub(crate) fn enter() -> Self {
        let pulse = PULSE.with(Arc::clone);
        pulse.beat(0);
        pulse.turn();
        Self(pulse)
    }

    pub(crate) fn pulse(&self) -> &Pulse {
        &self.0
    }
}

impl Drop for InSimulation {
    fn drop(&mut self) {
        self.0.turn();
    }
}

/// While it lives, what this thread runs is this seed of this job.
pub struct Named(Option<(Arc<Job>, u64)>);

impl Named {
    /// From now on it is.
    pub fn new(job: &Arc<Job>, seed: u64) -> Self {
        Self(PULSE.with(|pulse| pulse.name(Some((Arc::clone(job), seed)))))
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        // At the end of the thread `PULSE` is gone, and no reader is left.
        let _ = PULSE.try_with(|pulse| pulse.name(self.0.take()));
    }
}

/// The run that this thread is in the middle of, if it was named.
pub fn current() -> Option<(Arc<Job>, u64)> {
    PULSE.try_with(|pulse| pulse.named()).ok().flatten()
}

/// A run that does not get anywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The run, if it was named: its job, and its seed.
    pub run: Option<(Arc<Job>, u64)>,
    /// For how long nothing has happened in it, of real time.
    pub length: Duration,
}

/// Looks at all threads now and then, for runs in which nothing happens any more.
#[derive(Debug, Default)]
pub struct Watchdog {
    seen: Vec<LastProgress>,
}

/// What a thread was at when it was looked at, and since when.
#[derive(Debug)]
struct LastProgress {
    pulse: Weak<Pulse>,
    at: (u64, u64),
    length: Duration,
}

impl Watchdog {
    /// Looks, so long after it looked before. Answers a run in which nothing has happened for as long as the limit.
    pub fn check(&mut self, passed: Duration, limit: Duration) -> Option<Stuck> {
        let threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
        self.seen.retain(|seen| seen.pulse.strong_count() > 0);
        for thread in threads.iter() {
            let Some(pulse) = thread.upgrade() else {
                continue;
            };
            let at = pulse.at();
            let known = self.seen.iter_mut().find(|seen| seen.pulse.ptr_eq(thread));
            let Some(known) = known else {
                let (pulse, length) = (Weak::clone(thread), Duration::ZERO);
                self.seen.push(LastProgress { pulse, at, length });
                continue;
            };
            let is_inside = at.0 % 2 == 1;
            known.length = match is_inside && known.at == at {
                true => known.length + passed,
                false => Duration::ZERO,
            };
            known.at = at;
            if known.length >= limit {
                let (run, length) = (pulse.named(), known.length);
                return Some(Stuck { run, length });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Arc<Job> {
        Arc::new(Job {
            scenario: "ours/works".to_owned(),
            case: "ours".to_owned(),
            replay: Replay::Seeded("picklock replay ours.toml --case ours".to_owned()),
        })
    }

    /// How long the watchdog has seen this thread stand still, after each so many events of a simulation.
    fn lengths(events: &[u64]) -> Vec<u64> {
        let mut watchdog = Watchdog::default();
        let inside = InSimulation::enter();
        let look = |events: &u64| {
            inside.pulse().beat(*events);
            watchdog.check(Duration::from_secs(1), Duration::from_secs(3_600));
            let mine = |seen: &&LastProgress| std::ptr::eq(seen.pulse.as_ptr(), inside.pulse());
            let mine = watchdog.seen.iter().find(mine).expect("it was looked at");
            mine.length.as_secs()
        };
        events.iter().map(look).collect()
    }

    #[test]
    fn a_simulation_in_which_something_happens_is_not_stuck_however_long_it_takes() {
        assert_eq!(lengths(&[1, 1, 1, 2, 3, 3]), [0, 1, 2, 0, 0, 1]);
    }

    #[test]
    fn a_run_that_is_stuck_is_named_and_one_that_is_over_is_not() {
        let mut watchdog = Watchdog::default();
        let job = job();
        let mut look = || {
            let stuck = watchdog.check(Duration::from_secs(1), Duration::from_secs(2));
            stuck.filter(|stuck| matches!(&stuck.run, Some((run, _)) if Arc::ptr_eq(run, &job)))
        };
        let named = Named::new(&job, 7);
        let inside = InSimulation::enter();
        assert_eq!((look(), look()), (None, None));
        let length = Duration::from_secs(2);
        let run = Some((Arc::clone(&job), 7));
        // Another test's thread may stand still just then, and be named first.
        let found = (0..1_000_000).find_map(|_| look());
        let found = found.expect("it is named when all others go on");
        assert_eq!(found.run, run);
        assert!(found.length >= length);
        drop(inside);
        assert_eq!((look(), look(), look()), (None, None, None));
        drop(named);
        assert_eq!(current(), None);
        assert_eq!(
            job.location(7),
            "  scenario ours/works, case ours, seed 7\n  replay   picklock replay ours.toml --case ours --seed 7"
        );
    }
}
