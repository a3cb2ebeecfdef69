//! The herd experiment on real servers: how many notifications a queue costs while it drains, counted at the clients
//! and by the servers themselves, beside what the model has for the same.

mod queue;
mod real;
mod simulated;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub use queue::Way;

use crate::error::VerifyError;
use crate::real::Installed;

/// How long each holds the lock.
pub const HOLDS: [Duration; 2] = [Duration::ZERO, Duration::from_millis(30)];
/// How many wait behind the first holder.
pub const WAITERS: [u32; 4] = [10, 50, 100, 200];

/// One cell of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// How many servers.
    pub servers: u8,
    /// How one waits for the lock.
    pub way: Way,
    /// How many wait behind the first holder.
    pub waiters: u32,
    /// How long each holds the lock.
    pub hold: Duration,
}

/// Notifications from the first release on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// As clients of real servers have received them: the least and the most of several runs.
    pub real: (u64, u64),
    /// Whether the servers have counted as many as their clients, each time.
    pub servers_agree: bool,
    /// As the model has them: the least and the most of as many seeds.
    pub model: (u64, u64),
}

/// Measures every cell, with so many runs each. `told` hears of each cell when it is done.
///
/// # Errors
///
/// [`VerifyError`], if it could not be measured.
pub fn measure(
    installed: &Installed,
    sizes: &[u8],
    runs: u64,
    stop: &AtomicBool,
    told: &mut dyn FnMut(Cell, Counted),
) -> Result<(), VerifyError> {
    for &servers in sizes {
        let mut field = real::start(installed, servers, stop)?;
        for way in Way::ALL {
            for hold in HOLDS {
                for waiters in WAITERS {
                    let cell = Cell {
                        servers,
                        way,
                        waiters,
                        hold,
                    };
                    told(cell, counted(&mut field, cell, runs)?);
                }
            }
        }
    }
    Ok(())
}

fn counted(field: &mut real::Field, cell: Cell, runs: u64) -> Result<Counted, VerifyError> {
    let mut counted = Counted {
        real: (u64::MAX, 0),
        servers_agree: true,
        model: (u64::MAX, 0),
    };
    let within = |range: (u64, u64), count: u64| (range.0.min(count), range.1.max(count));
    for run in 0..runs {
        let (clients, by_servers) = field.drain(cell)?;
        counted.real = within(counted.real, clients);
        counted.servers_agree &= clients == by_servers;
        counted.model = within(counted.model, simulated::drain(cell, run));
    }
    Ok(counted)
}
