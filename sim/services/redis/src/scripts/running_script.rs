//! The script that runs on this thread: what it works on, and what it may do.

use std::cell::RefCell;
use std::rc::Rc;

use picklock_clients::redis::Command;

use crate::ServerConfig;
use crate::db::Core;
use crate::errors::{Reply, refuse};

/// What a script may do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScriptLimits {
    /// It must not write.
    pub(crate) read_only: bool,
    /// It may take memory when there is none left.
    pub(crate) allow_oom: bool,
}

/// What runs a command that a script calls. It is given from outside, because commands run scripts.
pub(crate) type Call = fn(&mut RunningScript, &Command) -> Reply;

/// What a script works on while it runs.
pub(crate) struct RunningScript {
    pub(crate) core: Box<Core>,
    pub(super) random: Random,
    pub(crate) limits: ScriptLimits,
    /// Runs a command that it calls.
    pub(super) call: Call,
    /// It has written already.
    pub(crate) has_written: bool,
    /// How many instructions are left to it.
    pub(super) budget: u64,
    /// In which line it was when they were used up.
    pub(super) cut: Option<u32>,
}

thread_local! {
    /// What the script that runs works on; a placeholder, if none runs.
    pub(super) static LENT: RefCell<RunningScript> = RefCell::new(RunningScript {
        core: Box::new(Core::new(Rc::new(ServerConfig::default()))),
        random: Random::seeded(0),
        limits: ScriptLimits::default(),
        call: |_, _| refuse("ERR no script is running"),
        has_written: false,
        budget: 0,
        cut: None,
    });
}

/// The generator behind `math.random`, which begins again with every script: the 48-bit one of the C library.
#[derive(Clone, Copy, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn seeded(seed: u32) -> Self {
        Self(u64::from(seed) << 16 | 0x330e)
    }

    /// A number from zero to one, without one.
    pub(super) fn next(&mut self) -> f64 {
        const BITS: u64 = (1 << 48) - 1;
        self.0 = self.0.wrapping_mul(0x5_deec_e66d).wrapping_add(0xb) & BITS;
        let most = f64::from(i32::MAX);
        (self.0 >> 17) as f64 % most / most
    }
}
