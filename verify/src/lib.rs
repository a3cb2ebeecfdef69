//! The model of a service, compared with a real one.
//!
//! The same steps, scripted and random, are done to the simulated ZooKeeper servers of `picklock-sim` and to real ones,
//! which are started on loopback for it. What two servers cannot agree on, zxids, times, and the ids of sessions, is
//! brought to one form ([`normal`]). Every answer, notification, and end of a connection must then be the same.
//!
//! The client speaks ZooKeeper's protocol itself ([`protocol`]): a library would hide the order of events, refuse bad
//! requests before the server sees them, and decide by itself when to reconnect.

mod clock;
pub mod compare;
pub mod driver;
pub mod error;
pub mod herd;
pub mod jute;
pub mod model;
pub mod normal;
pub mod protocol;
mod random;
pub mod real;
pub mod redis;
pub mod scripts;
pub mod side;
pub mod step;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock_checker::time::whole_micros;
use picklock_sim::zookeeper::state::{OUTSTANDING_LIMIT, Settings};
use picklock_sim::zookeeper::version::Version;

pub use compare::{Compared, Difference};
pub use error::VerifyError;
pub use real::Installed;

use compare::Pair;
use model::Model;
use real::{Real, RealSettings};
use scripts::{REAPING, SCRIPTS};

/// The tick of both sides.
const TICK: Duration = Duration::from_millis(500);
/// How often nodes that go by themselves are looked for: never while it would disturb, and then often.
const SELDOM: Duration = Duration::from_secs(3_600);
const OFTEN: Duration = Duration::from_millis(200);
const INIT_LIMIT: u32 = 20;
const SYNC_LIMIT: u32 = 10;

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

/// Starts real servers, and compares them with the model. `told` hears how many operations were done.
///
/// # Errors
///
/// [`VerifyError`], if the comparison could not be made. The servers and their folder are gone then, too.
pub fn zookeeper(
    installed: &Installed,
    plan: Plan,
    stop: &AtomicBool,
    told: &dyn Fn(u64),
) -> Result<Compared, VerifyError> {
    let mut compared = Compared::default();
    let phases = [(SCRIPTS, SELDOM, plan.operations), (REAPING, OFTEN, 0)];
    for (scripts, reap_interval, operations) in phases {
        let real = RealSettings {
            servers: plan.servers,
            tick: TICK,
            reap_interval,
            init_limit: INIT_LIMIT,
            sync_limit: SYNC_LIMIT,
        };
        let model = Settings {
            servers: plan.servers,
            tick: whole_micros(TICK),
            sync_limit: SYNC_LIMIT,
            init_limit: INIT_LIMIT,
            reap_interval: whole_micros(reap_interval),
            fsync: 100,
            version: Version::V3_8,
            read_only: false,
            enforce_quota: true,
            outstanding_limit: OUTSTANDING_LIMIT,
        };
        let real = Real::start(installed, &real, stop)?;
        let pair = Pair::new(real, Model::formed(model), usize::from(plan.servers));
        compared.add(pair.compare(scripts, plan.seed, operations, stop, told)?);
    }
    Ok(compared)
}
