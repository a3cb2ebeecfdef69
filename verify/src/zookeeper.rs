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
mod real;
mod step;
#[cfg(test)]
mod tests;

use std::sync::atomic::AtomicBool;

use picklock_zookeeper::state::{OUTSTANDING_LIMIT, QuorumPeerConfig};
use picklock_zookeeper::version::Version;

pub use real::{HOW, Installed, JARS};

use crate::harness::comparison;
use crate::harness::error::Result;
use cases::{BY_DEFAULT, CASES, Case, OBSERVED, OBSERVED_READ_ONLY, READ_ONLY, REAPING};
use compare::{Counters, Pair};
use model::Model;
use real::Real;

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
/// [`VerifyError`](crate::VerifyError), if the comparison could not be made. The servers and their folder are
/// gone then, too.
pub fn compare(
    installed: &Installed,
    plan: Plan,
    stop: &AtomicBool,
    progress: &dyn Fn(u64),
) -> Result<Compared> {
    let mut compared = Compared::default();
    for phase in &PHASES {
        // A server that stands alone has no observers.
        let has_place = phase.observers == 0 || plan.servers > 1;
        let machines = usize::from(plan.servers + phase.observers);
        let mut cases = phase.cases.iter();
        if !has_place || cases.all(|case| case.servers > machines) {
            continue;
        }
        let settings = phase.settings(plan.servers);
        let real = Real::start(installed, &settings, stop)?;
        let mut pair = Pair::of(real, Model::formed(settings), machines);
        if phase.read_only {
            pair.real.normal.hide_zxids();
            pair.model.normal.hide_zxids();
        }
        let operations = plan.operations * phase.percent / 100;
        compared.add(pair.compare(phase.cases, plan.seed, operations, stop, progress)?);
    }
    Ok(compared)
}

/// Servers that never look for nodes that go by themselves while it would disturb, and grant the session timeouts that
/// follow from the tick.
fn ensemble(servers: u8) -> QuorumPeerConfig {
    QuorumPeerConfig {
        servers,
        observers: 0,
        tick: 500_000,
        least_timeout: 1_000_000,
        most_timeout: 10_000_000,
        sync_limit: 10,
        init_limit: 20,
        extended_types: true,
        reap_interval: 3_600_000_000,
        fsync: 100,
        version: Version::V3_8,
        read_only: false,
        enforce_quota: true,
        outstanding_limit: OUTSTANDING_LIMIT,
        jute_max_buffer: picklock_zookeeper::settings::JUTE_MAX_BUFFER,
    }
}

/// What is compared of servers that are set in one way.
struct Phase {
    cases: &'static [Case],
    /// How many random steps follow, of a hundred that are asked for.
    percent: u64,
    /// Servers that do not vote, besides.
    observers: u8,
    /// They look often for nodes that go by themselves, and grant other session timeouts.
    reaps: bool,
    read_only: bool,
    /// There are nodes with a time to live.
    extended_types: bool,
}

/// Servers as they are.
const PLAIN: Phase = Phase {
    cases: CASES,
    percent: 100,
    observers: 0,
    reaps: false,
    read_only: false,
    extended_types: true,
};

/// Servers as they are; servers without nodes with a time to live, as by default;
/// others that look often for nodes that go by themselves, and grant other session timeouts;
/// servers that answer reads without a leader; servers with an observer; and an observer without a leader.
const PHASES: [Phase; 6] = [
    PLAIN,
    Phase {
        cases: BY_DEFAULT,
        percent: 10,
        extended_types: false,
        ..PLAIN
    },
    Phase {
        cases: REAPING,
        percent: 0,
        reaps: true,
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
    fn settings(&self, servers: u8) -> QuorumPeerConfig {
        let mut settings = QuorumPeerConfig {
            observers: self.observers,
            read_only: self.read_only,
            extended_types: self.extended_types,
            ..ensemble(servers)
        };
        if self.reaps {
            settings.reap_interval = 200_000;
            settings.least_timeout = 1_700_000;
            settings.most_timeout = 9_300_000;
        }
        settings
    }
}
