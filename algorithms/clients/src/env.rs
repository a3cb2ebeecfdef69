//! What a process gives to the code that runs in it: its own clocks, sleep, tasks, and random numbers.

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
    /// The same, between two tries of something that failed: whoever waits for it has found nobody ahead of it.
    fn pause(&self, duration: Duration) -> LocalFuture<'static, ()> {
        self.sleep(duration)
    }
    /// Runs a task of this process in the background. It dies with the process.
    fn spawn(&self, task: LocalFuture<'static, ()>);
    /// A random number.
    fn random(&self) -> u64;
    /// The name of the machine that the process runs on. It outlives the process.
    fn host(&self) -> String;
}

/// A handle to the environment of the process that holds it.
#[derive(Clone)]
pub struct Env(Rc<dyn Environment>);

impl Env {
    /// Wraps an environment.
    pub fn new(environment: Rc<dyn Environment>) -> Self {
        Self(environment)
    }

    /// The process's monotonic clock.
    pub fn monotonic(&self) -> Duration {
        self.0.monotonic()
    }

    /// The process's wall clock: time since the Unix epoch as this machine believes it.
    pub fn wall(&self) -> Duration {
        self.0.wall()
    }

    /// Resolves after `duration` of the monotonic clock.
    pub fn sleep(&self, duration: Duration) -> LocalFuture<'static, ()> {
        self.0.sleep(duration)
    }

    /// The same, between two tries of something that failed: whoever waits for it has found nobody ahead of it.
    pub fn pause(&self, duration: Duration) -> LocalFuture<'static, ()> {
        self.0.pause(duration)
    }

    /// Runs a task of this process in the background.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.0.spawn(Box::pin(task));
    }

    /// A random number.
    pub fn random(&self) -> u64 {
        self.0.random()
    }

    /// The name of the machine that the process runs on. It outlives the process.
    pub fn host(&self) -> String {
        self.0.host()
    }

    /// A name that nobody else has: 32 hexadecimal digits.
    pub fn guid(&self) -> String {
        let halves = [self.random(), self.random()].map(u64::to_be_bytes);
        HEXLOWER.encode(halves.as_flattened())
    }
}
