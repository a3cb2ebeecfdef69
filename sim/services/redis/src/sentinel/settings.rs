//! How a Sentinel is configured.

use std::time::Duration;

use crate::replication_protocol::Address;

/// The configuration of a Sentinel. Defaults are those of Redis 7.0.15.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentinelConfig {
    /// Which of several Sentinels it is: its id is made of it.
    pub number: u32,
    /// Where it is, as it tells others.
    pub address: Address,
    /// Where the primary is at first.
    pub primary: Address,
    /// The replicas that it knows from the beginning. It finds the others by itself.
    pub replicas: Vec<Address>,
    /// The other Sentinels that it knows from the beginning, by their numbers. It finds the others by itself.
    pub sentinels: Vec<(u32, Address)>,
    /// How many Sentinels must find the primary down before it is.
    pub quorum: usize,
    /// How long a server must not answer before it is down.
    pub down_after: Duration,
    /// How long the steps of a failover may take. The next one does not begin before twice this long.
    pub failover_timeout: Duration,
    /// How many replicas are told to follow the new primary at the same time.
    pub parallel_syncs: usize,
}

impl SentinelConfig {
    /// One that knows only a primary.
    pub fn new(number: u32, address: Address, primary: Address, quorum: usize) -> Self {
        Self {
            number,
            address,
            primary,
            replicas: Vec::new(),
            sentinels: Vec::new(),
            quorum,
            down_after: Duration::from_secs(30),
            failover_timeout: Duration::from_secs(180),
            parallel_syncs: 1,
        }
    }
}

/// How often servers and Sentinels are pinged.
pub(super) const PING: Duration = Duration::from_secs(1);
/// How often servers are asked what they are.
pub(super) const INFO: Duration = Duration::from_secs(10);
/// How often this Sentinel publishes what it knows.
pub(super) const HELLO: Duration = Duration::from_secs(2);
/// How often others are asked whether the primary is down.
pub(super) const ASK: Duration = Duration::from_secs(1);
/// For how long the opinion of another counts.
pub(super) const OPINION: Duration = Duration::from_secs(5);
/// How long an election may take, if the failover may take longer.
pub(super) const ELECTION: Duration = Duration::from_secs(10);
/// An attempt is put off by less than this, in milliseconds, so that not all begin together.
pub(super) const DESYNC_MILLIS: u32 = 1_000;
/// How long a replica may take to be told to follow another.
pub(super) const RECONFIGURATION: Duration = Duration::from_secs(10);
/// A connection is not given up for its silence before it is this old.
pub(super) const LINE_AGE: Duration = Duration::from_secs(15);
/// So many answers may be owed by a server before it is asked nothing more.
pub(super) const OWED: usize = 100;
/// If the clock goes on by more than this from one look to the next, it is not to be trusted,
pub(super) const TILT_TRIGGER: Duration = Duration::from_secs(2);
/// for so long.
pub(super) const TILT: Duration = Duration::from_secs(30);
/// The channel by which Sentinels find each other.
pub(super) const CHANNEL: &str = "__sentinel__:hello";
/// What the primary is called.
pub(super) const NAME: &str = "mymaster";
