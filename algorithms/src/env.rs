//! What a process gives to the code that runs in it: its own clocks, sleep, tasks, and random numbers.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

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
        let mut digits = [0; 32];
        for half in digits.chunks_exact_mut(16) {
            half.copy_from_slice(&hexadecimal(self.random()));
        }
        // Digits are ASCII.
        std::str::from_utf8(&digits).unwrap_or_default().to_owned()
    }
}

/// The sixteen digits of a number.
fn hexadecimal(number: u64) -> [u8; 16] {
    // One digit in each byte: halves are moved apart until every byte has four bits.
    let spread = |half: u32| {
        let mut bytes = u64::from(half);
        bytes = (bytes | bytes << 16) & 0x0000_ffff_0000_ffff;
        bytes = (bytes | bytes << 8) & 0x00ff_00ff_00ff_00ff;
        bytes = (bytes | bytes << 4) & 0x0f0f_0f0f_0f0f_0f0f;
        // Ten and more are letters: 39 further on than the digits end.
        let letters = ((bytes + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101;
        (bytes + 0x3030_3030_3030_3030 + letters * 39).to_be_bytes()
    };
    let mut digits = [0; 16];
    digits[..8].copy_from_slice(&spread((number >> 32) as u32));
    digits[8..].copy_from_slice(&spread(number as u32));
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_its_hexadecimal_digits() {
        for number in [0, 1, 0x0123_4567_89ab_cdef, u64::MAX, 0xa0b0_c0d0_9999_0f0f] {
            let digits = hexadecimal(number).map(char::from);
            assert_eq!(String::from_iter(digits), format!("{number:016x}"));
        }
    }
}
