//! The model of a ZooKeeper ensemble, compared with a real one.
//!
//! What two servers cannot agree on, zxids, times, and the ids of sessions, is brought to one form (`normalize`). Every
//! answer, notification, and end of a connection must then be the same.
//!
//! The client speaks ZooKeeper's protocol itself (`protocol`): a library would hide the order of events, refuse bad
//! requests before the server sees them, and decide by itself when to reconnect.

mod backend;
mod cases;
mod compare;
mod driver;
pub mod herd;
mod jute;
mod model;
mod normalize;
mod protocol;
mod random;
pub(crate) mod real;
mod step;
#[cfg(test)]
mod tests;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock_checker::time::whole_micros;
use picklock_zookeeper::state::{OUTSTANDING_LIMIT, QuorumPeerConfig};
use picklock_zookeeper::version::Version;

use crate::harness::error::VerifyError;
pub use real::{HOW, Installed, JARS};

use crate::harness::comparison;
use cases::{CASES, Case, OBSERVED, OBSERVED_READ_ONLY, READ_ONLY, REAPING};
use compare::{Counters, Pair};
use model::Model;
use real::{Real, RealSettings};

/// The tick of both sides.
const TICK: Duration = Duration::from_millis(500);
/// How often nodes that go by themselves are looked for: never while it would disturb, and then often.
const SELDOM: Duration = Duration::from_secs(3_600);
const OFTEN: Duration = Duration::from_millis(200);
/// The shortest and the longest session timeout that is granted: what follows from the tick, and something else.
const GRANTED: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));
const GRANTED_INSTEAD: (Duration, Duration) =
    (Duration::from_millis(1_700), Duration::from_millis(9_300));
const INIT_LIMIT: u32 = 20;
const SYNC_LIMIT: u32 = 10;

/// What came of a comparison.
pub type Compared = comparison::Compared<Counters>;

/// What is to be compared.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How many servers.
    pub servers: u8,
    /// What decides the random steps.
    pub seed: u64,
    /// How many operations.
    pub operations: u64,
}

/// Starts real servers, and compares them with the model. `progress` hears how many operations were done.
///
/// # Errors
///
/// [`VerifyError`], if the comparison could not be made. The servers and their folder are gone then, too.
pub fn compare(
    installed: &Installed,
    plan: Plan,
    stop: &AtomicBool,
    progress: &dyn Fn(u64),
) -> Result<Compared, VerifyError> {
    let mut compared = Compared::default();
    for phase in &PHASES {
        // Who stands alone has no observers.
        let has_place = phase.observers == 0 || plan.servers > 1;
        let machines = usize::from(plan.servers + phase.observers);
        let mut cases = phase.cases.iter();
        if !has_place || cases.all(|case| case.servers > machines) {
            continue;
        }
        let (real, model) = phase.settings(plan.servers);
        let real = Real::start(installed, &real, stop)?;
        let mut pair = Pair::of(real, Model::formed(model), machines);
        if phase.read_only {
            pair.real.normal.hide_zxids();
            pair.model.normal.hide_zxids();
        }
        let operations = plan.operations * phase.percent / 100;
        compared.add(pair.compare(phase.cases, plan.seed, operations, stop, progress)?);
    }
    Ok(compared)
}

/// What is compared of servers that are set in one way.
struct Phase {
    cases: &'static [Case],
    /// How many random steps follow, of a hundred that are asked for.
    percent: u64,
    /// Servers that do not vote, besides.
    observers: u8,
    reap_interval: Duration,
    timeouts: (Duration, Duration),
    read_only: bool,
}

/// Servers as they are.
const PLAIN: Phase = Phase {
    cases: CASES,
    percent: 100,
    observers: 0,
    reap_interval: SELDOM,
    timeouts: GRANTED,
    read_only: false,
};

/// Servers as they are; others that look often for nodes that go by themselves, and grant other session timeouts;
/// servers that answer reads without a leader; servers with an observer; and an observer without a leader.
const PHASES: [Phase; 5] = [
    PLAIN,
    Phase {
        cases: REAPING,
        percent: 0,
        reap_interval: OFTEN,
        timeouts: GRANTED_INSTEAD,
        ..PLAIN
    },
    Phase {
        cases: READ_ONLY,
        percent: 0,
        read_only: true,
        ..PLAIN
    },
    Phase {
        cases: OBSERVED,
        percent: 20,
        observers: 1,
        ..PLAIN
    },
    Phase {
        cases: OBSERVED_READ_ONLY,
        percent: 0,
        observers: 1,
        read_only: true,
        ..PLAIN
    },
];

impl Phase {
    /// Of the real servers, and of the model's.
    fn settings(&self, servers: u8) -> (RealSettings, QuorumPeerConfig) {
        let real = RealSettings {
            servers,
            observers: self.observers,
            tick: TICK,
            timeouts: self.timeouts,
            read_only: self.read_only,
            reap_interval: self.reap_interval,
            init_limit: INIT_LIMIT,
            sync_limit: SYNC_LIMIT,
        };
        let model = QuorumPeerConfig {
            servers,
            observers: self.observers,
            tick: whole_micros(TICK),
            least_timeout: whole_micros(self.timeouts.0),
            most_timeout: whole_micros(self.timeouts.1),
            sync_limit: SYNC_LIMIT,
            init_limit: INIT_LIMIT,
            reap_interval: whole_micros(self.reap_interval),
            fsync: 100,
            version: Version::V3_8,
            read_only: self.read_only,
            enforce_quota: true,
            outstanding_limit: OUTSTANDING_LIMIT,
            jute_max_buffer: picklock_zookeeper::settings::JUTE_MAX_BUFFER,
        };
        (real, model)
    }
}
