//! What a process gives to the code that runs in it: its own clocks, sleep, tasks, and random numbers.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

const HEX: &[u8; 16] = b"0123456789abcdef";

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
    /// Runs a task of this process in the background. It dies with the process.
    fn spawn(&self, task: LocalFuture<'static, ()>);
    /// A random number.
    fn random(&self) -> u64;
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

    /// Runs a task of this process in the background.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.0.spawn(Box::pin(task));
    }

    /// A random number.
    pub fn random(&self) -> u64 {
        self.0.random()
    }

    /// A name that nobody else has: 32 hexadecimal digits.
    pub fn guid(&self) -> String {
        let mut guid = String::with_capacity(32);
        for number in [self.random(), self.random()] {
            for digit in (0..16).rev() {
                guid.push(char::from(HEX[(number >> (4 * digit)) as usize & 15]));
            }
        }
        guid
    }
}
