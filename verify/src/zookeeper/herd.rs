//! The herd experiment on real servers: how many notifications a queue costs while it drains, counted at the clients
//! and by the servers themselves, beside what the model has for the same.

mod queue;
mod real;
mod reference_counts;
mod simulated;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub use queue::WaitStrategy;

use crate::harness::error::Result;
use crate::zookeeper::real::Installed;

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
    pub way: WaitStrategy,
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
    /// As they were seen to receive before, on the same servers: the least and the most.
    pub known: (u64, u64),
    /// Whether the servers have counted as many as their clients, each time.
    pub servers_agree: bool,
    /// As the model has them: the least and the most of as many seeds.
    pub model: (u64, u64),
}

/// How the model stands to the range of the real servers, as they were seen now and before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It lies in it.
    Inside,
    /// It lies in it, give or take a tenth: real ranges are those of a few runs.
    Near,
    /// It does not.
    Outside,
}

impl Counted {
    /// How the model stands.
    pub fn verdict(&self) -> Verdict {
        let least = self.real.0.min(self.known.0);
        let most = self.real.1.max(self.known.1);
        let exact = self.known.0 == self.known.1;
        if least <= self.model.0 && self.model.1 <= most {
            Verdict::Inside
        } else if !exact && least * 9 <= self.model.0 * 10 && self.model.1 * 10 <= most * 11 {
            Verdict::Near
        } else {
            Verdict::Outside
        }
    }
}

/// Measures every cell, with so many runs each. `progress` hears of each cell when it is done.
///
/// # Errors
///
/// [`VerifyError`](crate::VerifyError), if it could not be measured.
pub fn measure(
    installed: &Installed,
    sizes: &[u8],
    runs: u64,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Cell, Counted),
) -> Result<()> {
    for &servers in sizes {
        let mut experiment = real::start(installed, servers, stop)?;
        for cell in cells(servers) {
            progress(cell, counted(&mut experiment, cell, runs)?);
        }
    }
    Ok(())
}

/// All cells with so many servers, in the order in which they are measured.
fn cells(servers: u8) -> impl Iterator<Item = Cell> {
    let ways = WaitStrategy::ALL.into_iter();
    let held = ways.flat_map(|way| HOLDS.map(|hold| (way, hold)));
    held.flat_map(move |(way, hold)| {
        WAITERS.map(|waiters| Cell {
            servers,
            way,
            waiters,
            hold,
        })
    })
}

fn counted(experiment: &mut real::Experiment, cell: Cell, runs: u64) -> Result<Counted> {
    let mut counted = Counted {
        real: (u64::MAX, 0),
        known: reference_counts::seen(cell),
        servers_agree: true,
        model: (u64::MAX, 0),
    };
    let within = |range: (u64, u64), count: u64| (range.0.min(count), range.1.max(count));
    for run in 0..runs {
        let (clients, by_servers) = experiment.drain(cell)?;
        counted.real = within(counted.real, clients);
        counted.servers_agree &= clients * cell.way.counted() == by_servers;
        counted.model = within(counted.model, simulated::drain(cell, run));
    }
    Ok(counted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With as many runs as the command makes, and without a real server: against what was seen before. Of sixty runs
    /// of a cell without an exact figure, up to nine tell a few notifications more or less than any real one did.
    #[test]
    fn the_model_lies_in_the_range_of_real_servers_in_every_cell_but_one_at_most() {
        let mut near = 0;
        for cell in [1, 3].into_iter().flat_map(cells) {
            let runs = (0..3).map(|run| simulated::drain(cell, run));
            let range = |(least, most): (u64, u64), run: u64| (least.min(run), most.max(run));
            let known = reference_counts::seen(cell);
            let counted = Counted {
                real: known,
                known,
                servers_agree: true,
                model: runs.fold((u64::MAX, 0), range),
            };
            match counted.verdict() {
                Verdict::Inside => {}
                Verdict::Near => near += 1,
                Verdict::Outside => panic!("{cell:?}: {counted:?}"),
            }
        }
        assert!(near <= 1, "{near} cells");
    }

    #[test]
    fn a_model_that_tells_more_or_less_than_any_real_server_is_outside() {
        let counted = |model| Counted {
            real: (10, 20),
            known: (15, 30),
            servers_agree: true,
            model,
        };
        assert_eq!(counted((10, 30)).verdict(), Verdict::Inside);
        assert_eq!(counted((9, 33)).verdict(), Verdict::Near);
        assert_eq!(counted((8, 30)).verdict(), Verdict::Outside);
        assert_eq!(counted((10, 34)).verdict(), Verdict::Outside);
    }
}
