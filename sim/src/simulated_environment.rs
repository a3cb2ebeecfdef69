//! The environment of a simulated process, as its code sees it.

use std::rc::Rc;
use std::time::Duration;

use picklock_checker::ContenderId;
use picklock_clients::completion::Completions;
use picklock_clients::env::{Env, Environment, LocalFuture};

use crate::process::Thread;
use crate::world::{CALL_COST, READ_COST, Shared, SimulatedService, Task};

/// An odd number with its bits spread evenly: multiples of it are all different.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The environment of a simulated process.
struct SimulatedEnvironment<S: SimulatedService> {
    shared: Rc<Shared<S>>,
    thread: Thread,
    /// What a sleep came in before, and others may again.
    sleeps: Completions<()>,
}

impl<S: SimulatedService> SimulatedEnvironment<S> {
    /// The thread that calls.
    fn caller(&self) -> Thread {
        self.shared.caller(self.thread)
    }
}

impl<S: SimulatedService> Environment for SimulatedEnvironment<S> {
    fn monotonic(&self) -> Duration {
        self.shared.charge(READ_COST);
        let world = self.shared.world.borrow();
        world.processes[self.thread.process.0 as usize]
            .monotonic(world.now)
            .since_start()
    }

    fn wall(&self) -> Duration {
        self.shared.charge(READ_COST);
        let world = self.shared.world.borrow();
        let micros = world.processes[self.thread.process.0 as usize].wall(world.now);
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    }

    fn sleep(&self, duration: Duration) -> LocalFuture<'static, ()> {
        self.shared.charge(CALL_COST);
        let (done, slept) = self.sleeps.completion();
        self.shared
            .world
            .borrow_mut()
            .sleep(self.thread.process, duration, done);
        Box::pin(slept)
    }

    fn pause(&self, duration: Duration) -> LocalFuture<'static, ()> {
        let slept = self.sleep(duration);
        let pause = Pause::of(&self.shared, self.caller().contender);
        Box::pin(async move {
            slept.await;
            drop(pause);
        })
    }

    fn spawn(&self, task: LocalFuture<'static, ()>) {
        self.shared.charge(CALL_COST);
        // Dropping an environment's owner may spawn while the world is being taken down.
        if let Ok(mut world) = self.shared.world.try_borrow_mut() {
            let thread = self.caller();
            world.spawned.push((thread, Task::OfRecipe(task)));
        }
    }

    fn host(&self) -> String {
        self.shared.charge(READ_COST);
        format!("host-{}", self.thread.process.0 + 1)
    }

    fn thread(&self) -> u64 {
        self.shared.charge(READ_COST);
        let tasks = self.shared.tasks;
        tasks.number_of(self.thread.contender).into()
    }

    fn random(&self) -> u64 {
        self.shared.charge(READ_COST);
        let drawn = self.shared.drawn.get() + 1;
        self.shared.drawn.set(drawn);
        match self.shared.world.borrow_mut().tape.number() {
            // A tape that has run out. Two names made of zeros would be the same name, and a run whose tape was
            // shortened would fail for a reason of its own.
            0 => drawn.wrapping_mul(SPREAD),
            number => number,
        }
    }
}

/// A contender is between two tries. It may be dropped there.
struct Pause<S: SimulatedService> {
    shared: Rc<Shared<S>>,
    by: ContenderId,
}

impl<S: SimulatedService> Pause<S> {
    fn of(shared: &Rc<Shared<S>>, by: ContenderId) -> Self {
        shared.world.borrow_mut().pauses(by, true);
        Self {
            shared: Rc::clone(shared),
            by,
        }
    }
}

impl<S: SimulatedService> Drop for Pause<S> {
    fn drop(&mut self) {
        // It may be dropped while the world is being taken down.
        if let Ok(mut world) = self.shared.world.try_borrow_mut() {
            world.pauses(self.by, false);
        }
    }
}

/// The environment of a thread of a process.
pub(crate) fn environment<S: SimulatedService>(shared: &Rc<Shared<S>>, thread: Thread) -> Env {
    Env::new(of_thread(shared, thread))
}

/// The environment of another thread of a process.
pub(crate) fn environment_in<S: SimulatedService>(
    process: &Env,
    shared: &Rc<Shared<S>>,
    thread: Thread,
) -> Env {
    process.of_thread(of_thread(shared, thread))
}

fn of_thread<S: SimulatedService>(shared: &Rc<Shared<S>>, thread: Thread) -> Rc<dyn Environment> {
    Rc::new(SimulatedEnvironment {
        shared: Rc::clone(shared),
        thread,
        sleeps: Completions::default(),
    })
}
