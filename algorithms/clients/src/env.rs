//! What a process gives to the code that runs in it: its own clocks, sleep, tasks, and random numbers.

use std::any::Any;
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use data_encoding::HEXLOWER;

/// A boxed future that stays on its thread.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// The environment of one process, as the simulator or a live runtime provides it.
pub trait Environment {
    /// The process's monotonic clock: time since some fixed point. Never goes back, may run fast or slow.
    fn monotonic(&self) -> Duration;
    /// The process's wall clock: time since the Unix epoch as this machine believes it. May jump either way.
    fn wall(&self) -> Duration;
    /// Resolves after `duration` of the monotonic clock, later if the process is paused meanwhile.
    fn sleep(&self, duration: Duration) -> LocalFuture<'static, ()>;
    /// The same, between two tries of something that failed: it is no wait for a contender ahead.
    fn pause(&self, duration: Duration) -> LocalFuture<'static, ()> {
        self.sleep(duration)
    }
    /// Runs a task of this process in the background. It dies with the process.
    fn spawn(&self, task: LocalFuture<'static, ()>);
    /// A random number.
    fn random(&self) -> u64;
    /// The name of the machine that the process runs on. It outlives the process.
    fn host(&self) -> String;
    /// The id of the thread that the code runs in. Another thread of the same process has another.
    fn thread(&self) -> u64 {
        1
    }
}

/// A handle to the environment of the process that holds it.
#[derive(Clone)]
pub struct Env {
    environment: Rc<dyn Environment>,
    statics: Rc<Statics>,
    of_client: Rc<Statics>,
}

/// What the code of a process keeps in statics, each of a type of its own, in the order in which they were made.
type Statics = RefCell<Vec<Rc<dyn Any>>>;

/// The value of this type that is kept there, made now if there is none.
fn kept_in<T: 'static>(statics: &Statics, make: impl FnOnce() -> T) -> Rc<T> {
    let of_type = |kept: &Rc<dyn Any>| Rc::clone(kept).downcast().ok();
    if let Some(kept) = statics.borrow().iter().find_map(of_type) {
        return kept;
    }
    let made = Rc::new(make());
    statics.borrow_mut().push(Rc::clone(&made) as _);
    made
}

impl Env {
    /// Wraps an environment.
    pub fn new(environment: Rc<dyn Environment>) -> Self {
        let statics = Rc::default();
        Self {
            environment,
            of_client: Rc::clone(&statics),
            statics,
        }
    }

    /// The environment of another thread of the same process: what is kept for all code of the process is one.
    #[must_use]
    pub fn of_thread(&self, environment: Rc<dyn Environment>) -> Self {
        Self {
            environment,
            statics: Rc::clone(&self.statics),
            of_client: Rc::clone(&self.of_client),
        }
    }

    /// The same, in a thread that has a client of its own, and so shares with no other thread what stands on one.
    #[must_use]
    pub fn with_own_client(mut self) -> Self {
        self.of_client = Rc::default();
        self
    }

    /// What all code of this process has one of, as a static is: the value of this type, made when it is asked for
    /// first. It dies with the process.
    pub fn process_wide<T: 'static>(&self, make: impl FnOnce() -> T) -> Rc<T> {
        kept_in(&self.statics, make)
    }

    /// What all code over one client of this process has one of, as a framework is: the value of this type, made when
    /// it is asked for first. Threads that share the client share it.
    pub fn client_wide<T: 'static>(&self, make: impl FnOnce() -> T) -> Rc<T> {
        kept_in(&self.of_client, make)
    }

    /// The process ends, and what was kept for all of its code with it.
    pub fn forget_process_wide(&self) {
        // What is dropped may ask for more.
        let kept = (self.statics.take(), self.of_client.take());
        drop(kept);
    }

    /// The thread ends, and what was kept for all of the code over its client with it.
    pub fn forget_client_wide(&self) {
        let kept = self.of_client.take();
        drop(kept);
    }

    /// The process's monotonic clock.
    pub fn monotonic(&self) -> Duration {
        self.environment.monotonic()
    }

    /// The process's wall clock: time since the Unix epoch as this machine believes it.
    pub fn wall(&self) -> Duration {
        self.environment.wall()
    }

    /// Resolves after `duration` of the monotonic clock.
    pub fn sleep(&self, duration: Duration) -> LocalFuture<'static, ()> {
        self.environment.sleep(duration)
    }

    /// The same, between two tries of something that failed: it is no wait for a contender ahead.
    pub fn pause(&self, duration: Duration) -> LocalFuture<'static, ()> {
        self.environment.pause(duration)
    }

    /// Runs a task of this process in the background.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.environment.spawn(Box::pin(task));
    }

    /// A random number.
    pub fn random(&self) -> u64 {
        self.environment.random()
    }

    /// The name of the machine that the process runs on. It outlives the process.
    pub fn host(&self) -> String {
        self.environment.host()
    }

    /// The id of the thread that the code runs in. Another thread of the same process has another.
    pub fn thread(&self) -> u64 {
        self.environment.thread()
    }

    /// A unique name: 32 hexadecimal digits.
    pub fn guid(&self) -> String {
        let halves = [self.random(), self.random()].map(u64::to_be_bytes);
        HEXLOWER.encode(halves.as_flattened())
    }
}
