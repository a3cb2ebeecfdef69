//! What follows when a primary fails: Sentinels, copies, and disks of real servers against those of the model.
//!
//! What a server answers has to be the same on both sides. How long Sentinels take has to lie within what the model
//! does with other chances.

mod full_disk;
mod model;
mod real;
mod recorder;
mod refusals;
mod relay;
mod replication;
mod sentinel_failover;
mod sentinel_log;
mod sentinel_replicas;

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock_clients::redis::Value;
use picklock_redis::Persistence;
use picklock_redis::test_cluster::Flow;

use super::Compared;
use super::driver::Name;
use super::real::Installed;
use crate::harness::clock::{self, Clock};
use crate::harness::comparison::{Answer, Line};
use crate::harness::error::{Result, unless_stopped};
use crate::harness::timing::Span;
use recorder::Case;

/// Servers, of which the first is the primary of the others, and Sentinels.
#[derive(Clone, Debug)]
struct Setup {
    replicas: usize,
    sentinels: usize,
    /// What stands between the primary and its replicas can be told how to do.
    relayed: bool,
    /// Servers that are started again take a while for each key on their disk.
    reads_slowly: bool,
    persistence: Persistence,
    /// How long a server must not answer before it is down, and how long a failover may take.
    down_after: Duration,
    failover_timeout: Duration,
}

impl Setup {
    /// A primary with its replicas alone.
    fn of(replicas: usize) -> Self {
        Self {
            replicas,
            sentinels: 0,
            relayed: true,
            reads_slowly: false,
            persistence: Persistence::None,
            down_after: Duration::from_secs(1),
            failover_timeout: Duration::from_secs(20),
        }
    }
}

/// What both kinds of servers can do. They are named by their indices.
trait FailoverBackend: Clock {
    /// Makes a connection to a server, in the place of the one that there was.
    fn connect(&mut self, server: usize) -> Result<()>;
    /// Sends a command by it. Answers nothing if the connection is gone.
    fn ask(&mut self, server: usize, words: &[&str]) -> Result<Option<Value>>;
    /// Asks the first Sentinel, by a connection that is made for it.
    fn ask_sentinel(&mut self, words: &[&str]) -> Result<Option<Value>>;
    /// The server with this address.
    fn server_index(&self, host: &str, port: u16) -> Option<usize>;
    /// Sends a command by a connection that is made for it.
    fn ask_once(&mut self, server: usize, words: &[&str]) -> Result<()>;
    /// Nothing can be written to the disk of a server, or again something can.
    fn fill_disk(&mut self, server: usize, is_full: bool) -> Result<()>;
    /// Changes how replicas' connections to their first primary fare.
    fn flow(&mut self, flow: Flow);
    /// A server dies.
    fn kill(&mut self, server: usize);
    /// It comes back with what is on its disk.
    fn restart(&mut self, server: usize) -> Result<()>;
    /// A server stands still.
    fn stop(&mut self, server: usize) -> Result<()>;
    /// It goes on.
    fn go_on(&mut self, server: usize) -> Result<()>;
    /// A server is made the replica of another.
    fn follow(&mut self, server: usize, primary: usize) -> Result<Option<Value>>;
    /// How often a server, since it runs, has sent all its keys, and how often it went on where a replica was.
    fn resynchronisations(&mut self, server: usize) -> Result<(u64, u64)>;
    /// When, at this time or later, the first Sentinel wrote this into its log.
    fn logged(&mut self, event: &str, from: Duration) -> Option<Duration>;
}

/// What a real primary did that stood still, was replaced, and went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resumed {
    /// The number of writes that the server accepted.
    pub writes: u64,
    /// The time during which it accepted them.
    pub during: Duration,
    /// The number of those writes that are there afterwards.
    pub kept: u64,
}

impl fmt::Display for Resumed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "took {} writes in {} ms, of which {} are left",
            self.writes,
            self.during.as_millis(),
            self.kept
        )
    }
}

/// What came of comparing failovers.
#[derive(Clone, Debug, Default)]
pub struct Failovers {
    /// The answers.
    pub compared: Compared,
    /// How long things took.
    pub spans: Vec<Span>,
    /// What old primaries did, on real servers and in the model.
    pub resumed: (Vec<Resumed>, Vec<Resumed>),
}

/// Starts real servers and Sentinels, breaks them, and compares what follows with the model.
///
/// # Errors
///
/// [`VerifyError`](crate::VerifyError), if the comparison could not be made. The servers and their folders are
/// gone then, too.
pub fn compare(
    installed: &Installed,
    stop: &AtomicBool,
    progress: &dyn Fn(u64),
) -> Result<Failovers> {
    let mut failovers = Failovers::default();
    let mut steps = 0;
    let mut step = || {
        steps += 1;
        progress(steps);
        unless_stopped(stop)
    };
    for (part, setup, case) in cases() {
        let real = case(&mut real::RealBackend::start(installed, &setup, stop)?)?;
        let model = case(&mut model::ModelBackend::of(&setup, 0))?;
        compare_lines(&mut failovers.compared, part, &real, &model);
        step()?;
    }
    sentinel_failover::compare(installed, stop, &mut failovers, &mut step)?;
    Ok(failovers)
}

/// How many steps [`compare`] has.
pub fn steps() -> u64 {
    cases().len() as u64 + sentinel_failover::STEPS
}

fn cases() -> Vec<(&'static str, Setup, Case)> {
    let all = [
        replication::cases(),
        refusals::cases(),
        sentinel_replicas::cases(),
    ];
    all.into_iter().flatten().collect()
}

fn compare_lines(compared: &mut Compared, part: &str, real: &[Line], model: &[Line]) {
    let longer = if real.len() < model.len() {
        model
    } else {
        real
    };
    for line in longer {
        compared.operations += 1;
        let asked = line.asked.as_deref().unwrap_or_default();
        compared.count_request(asked.split(' ').next().unwrap_or_default());
    }
    compared.compare(part, &"nothing", &Name(0), [real, model]);
}

/// How often one looks.
const LOOK: Duration = Duration::from_millis(5);

/// Waits until a server gives this answer. Returns how long that took, if it ever did.
fn until(
    backend: &mut dyn FailoverBackend,
    server: usize,
    words: &[&str],
    fine: impl Fn(&str) -> bool,
) -> Result<Option<Duration>> {
    const MOST: Duration = Duration::from_secs(15);
    clock::until(backend, (MOST, LOOK), |backend| {
        Ok(fine(&backend.ask(server, words)?.text()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_agrees_with_itself_in_every_case_whatever_the_seed() {
        let mut compared = Compared::default();
        for (part, setup, case) in cases() {
            let [first, second] = [1, 2].map(|seed| {
                let observed = case(&mut model::ModelBackend::of(&setup, seed));
                observed.expect("the model does not fail")
            });
            compare_lines(&mut compared, part, &first, &second);
        }
        assert_eq!(compared.differences, []);
        assert!(compared.answers > 1_000, "{compared:?}");
    }
}
