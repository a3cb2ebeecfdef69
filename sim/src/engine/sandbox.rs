//! The sandbox: madsim's runtime, which catches what must not happen in a simulation.
//!
//! With `--cfg madsim`, a simulation runs inside `madsim::runtime::Runtime::block_on`: the standard library's clocks
//! are virtual and in step with ours to a tenth of a second, `getrandom` is seeded, and threads are refused.
//! Without the flag it runs as it is, with the same history: nothing of ours reads those clocks or numbers.

/// The clocks of the standard library are behind ours by less than this, in microseconds: setting them costs as much as
/// a small event.
#[cfg(madsim)]
const STEP: u64 = 100_000;

/// A place to run one simulation in.
pub struct Sandbox {
    #[cfg(madsim)]
    clock: u64,
    #[cfg(madsim)]
    time: madsim::time::TimeHandle,
}

impl Sandbox {
    /// Runs a simulation in a sandbox of its own.
    pub fn run<T>(seed: u64, simulation: impl FnOnce(Sandbox) -> T) -> T {
        #[cfg(madsim)]
        {
            let runtime =
                madsim::runtime::Runtime::with_seed_and_config(seed, madsim::Config::default());
            runtime.block_on(async move {
                simulation(Sandbox {
                    clock: 0,
                    time: madsim::time::TimeHandle::current(),
                })
            })
        }
        #[cfg(not(madsim))]
        {
            let _ = seed;
            simulation(Sandbox {})
        }
    }

    /// Brings the clocks of the standard library up to this many microseconds since the start of the run, or to a
    /// little before.
    #[inline]
    pub fn advance_to(&mut self, micros: u64) {
        #[cfg(madsim)]
        if micros >= self.clock + STEP {
            let passed = std::time::Duration::from_micros(micros - self.clock);
            self.time.advance(passed);
            self.clock = micros;
        }
        #[cfg(not(madsim))]
        let _ = micros;
    }
}
