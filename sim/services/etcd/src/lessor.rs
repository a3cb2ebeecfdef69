//! Leases. What they are goes through the log; when they end is in the memory of the leader alone.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use picklock_checker::VirtualTime;

use crate::rpc::{Bytes, LeaseId};
use crate::rpctypes::{self, Status};

/// The longest time to live, in seconds.
const MAX_LEASE_TTL: i64 = 9_000_000_000;
/// How often a leader looks for leases that are over.
const SCAN_PERIOD: Duration = Duration::from_millis(500);
/// After which time it proposes once more to revoke one.
const EXPIRED_LEASE_RETRY: Duration = Duration::from_secs(3);
/// How many leases it takes in one look.
const REVOKE_LIMIT: usize = 500;
/// What a lease without an end is said to have left: the seconds of Go's longest duration.
const FOREVER: i64 = 9_223_372_036;

#[derive(Clone, Debug)]
struct Lease {
    ttl: i64,
    keys: BTreeSet<Bytes>,
    /// Never, at members that do not lead.
    expiry: VirtualTime,
    /// From when on it is proposed to revoke it.
    revoke_at: VirtualTime,
}

impl Lease {
    fn refresh(&mut self, now: VirtualTime, extend: Duration) {
        self.expiry = now + Duration::from_secs(self.ttl.unsigned_abs()) + extend;
        self.revoke_at = self.expiry;
    }
}

/// What a renewal finds.
pub enum Renewal {
    /// The lease has so many seconds again.
    Renewed(i64),
    /// The lease is over, and its revocation is on its way: the renewal waits for that.
    Expired,
    /// There is no such lease.
    NotFound,
    /// The lessor of another member knows.
    NotPrimary,
}

/// The leases.
#[derive(Clone, Debug)]
pub struct Lessor {
    leases: BTreeMap<LeaseId, Lease>,
    min_ttl: i64,
    primary: bool,
    /// A moment at which the leader looks: it looks a whole number of periods later, too.
    scan_phase: VirtualTime,
    /// No lease is to be revoked before this.
    earliest: VirtualTime,
}

/// The least time to live in seconds: one and a half election timeouts in whole ticks, rounded up.
pub fn min_ttl(election_timeout: Duration, heartbeat: Duration) -> i64 {
    let ticks = election_timeout.as_millis() / heartbeat.as_millis().max(1);
    let least = (3 * ticks / 2) * heartbeat.as_millis();
    i64::try_from(least.div_ceil(1000)).unwrap_or(MAX_LEASE_TTL)
}

impl Lessor {
    /// Without leases.
    pub fn new(min_ttl: i64) -> Self {
        Self {
            leases: BTreeMap::new(),
            min_ttl,
            primary: false,
            scan_phase: VirtualTime::ZERO,
            earliest: VirtualTime::NEVER,
        }
    }

    /// The leader looks at this moment, or whole periods later.
    pub fn set_scan_phase(&mut self, scan_phase: VirtualTime) {
        self.scan_phase = scan_phase;
    }

    /// Whether this is the lessor of the leader.
    pub fn is_primary(&self) -> bool {
        self.primary
    }

    /// Makes a lease, and answers its time to live.
    pub fn grant(&mut self, now: VirtualTime, id: LeaseId, ttl: i64) -> Result<i64, Status> {
        if id == LeaseId(0) {
            return Err(rpctypes::LEASE_NOT_FOUND);
        }
        if ttl > MAX_LEASE_TTL {
            return Err(rpctypes::LEASE_TTL_TOO_LARGE);
        }
        if self.contains(id) {
            return Err(rpctypes::LEASE_EXISTS);
        }
        let mut lease = Lease {
            ttl: ttl.max(self.min_ttl),
            keys: BTreeSet::new(),
            expiry: VirtualTime::NEVER,
            revoke_at: VirtualTime::NEVER,
        };
        if self.primary {
            lease.refresh(now, Duration::ZERO);
            self.earliest = self.earliest.min(lease.revoke_at);
        }
        let granted = lease.ttl;
        self.leases.insert(id, lease);
        Ok(granted)
    }

    /// Whether there is such a lease.
    pub fn contains(&self, id: LeaseId) -> bool {
        self.leases.contains_key(&id)
    }

    /// All leases.
    pub fn ids(&self) -> impl Iterator<Item = LeaseId> {
        self.leases.keys().copied()
    }

    /// Its time to live, and its keys.
    pub fn lookup(&self, id: LeaseId) -> Option<(i64, &BTreeSet<Bytes>)> {
        self.leases.get(&id).map(|lease| (lease.ttl, &lease.keys))
    }

    /// The whole seconds that it has left.
    pub fn remaining(&self, now: VirtualTime, id: LeaseId) -> i64 {
        match self.leases.get(&id) {
            Some(lease) if lease.expiry == VirtualTime::NEVER => FOREVER,
            Some(lease) => i64::try_from((lease.expiry - now).as_secs()).unwrap_or(FOREVER),
            None => 0,
        }
    }

    /// The key goes with the lease.
    pub fn attach(&mut self, id: LeaseId, key: &Bytes) {
        if let Some(lease) = self.leases.get_mut(&id) {
            lease.keys.insert(Bytes::clone(key));
        }
    }

    /// It does not any more.
    pub fn detach(&mut self, id: LeaseId, key: &Bytes) {
        if let Some(lease) = self.leases.get_mut(&id) {
            lease.keys.remove(key);
        }
    }

    /// Ends a lease, and answers its keys in their order.
    pub fn revoke(&mut self, id: LeaseId) -> Result<BTreeSet<Bytes>, Status> {
        let lease = self.leases.remove(&id);
        lease.map_or(Err(rpctypes::LEASE_NOT_FOUND), |lease| Ok(lease.keys))
    }

    /// A sign of life.
    pub fn renew(&mut self, now: VirtualTime, id: LeaseId) -> Renewal {
        if !self.primary {
            return Renewal::NotPrimary;
        }
        match self.leases.get_mut(&id) {
            None => Renewal::NotFound,
            Some(lease) if lease.expiry <= now => Renewal::Expired,
            Some(lease) => {
                lease.refresh(now, Duration::ZERO);
                Renewal::Renewed(lease.ttl)
            }
        }
    }

    /// This member leads: every lease has its whole time to live again, and `extend` more.
    pub fn promote(&mut self, now: VirtualTime, extend: Duration) {
        self.primary = true;
        for lease in self.leases.values_mut() {
            lease.refresh(now, extend);
        }
        self.look_ahead();
    }

    /// It does not lead any more.
    pub fn demote(&mut self) {
        self.primary = false;
        for lease in self.leases.values_mut() {
            lease.expiry = VirtualTime::NEVER;
            lease.revoke_at = VirtualTime::NEVER;
        }
        self.earliest = VirtualTime::NEVER;
    }

    fn look_ahead(&mut self) {
        let moments = self.leases.values().map(|lease| lease.revoke_at);
        self.earliest = moments.min().unwrap_or(VirtualTime::NEVER);
    }

    /// When it looks next for leases that are over, if one may be.
    pub fn next_scan(&self) -> VirtualTime {
        if self.earliest == VirtualTime::NEVER {
            return VirtualTime::NEVER;
        }
        let period = SCAN_PERIOD.as_micros() as u64;
        let periods = (self.earliest - self.scan_phase).as_micros() as u64;
        let micros = periods.div_ceil(period).saturating_mul(period);
        self.scan_phase + Duration::from_micros(micros)
    }

    /// Looks for leases that are over, and that it is time to revoke.
    pub fn find_expired(&mut self, now: VirtualTime) -> Vec<LeaseId> {
        if !self.primary || now < self.next_scan() {
            return Vec::new();
        }
        let due = self
            .leases
            .iter_mut()
            .filter(|(_, lease)| lease.revoke_at <= now);
        let found = due.take(REVOKE_LIMIT).map(|(id, lease)| {
            lease.revoke_at = now + EXPIRED_LEASE_RETRY;
            *id
        });
        let found = found.collect();
        self.look_ahead();
        self.earliest = self.earliest.max(now + Duration::from_micros(1));
        found
    }
}
