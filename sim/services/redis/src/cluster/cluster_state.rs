//! Whether a node serves at all: only while all slots are served and it sees a majority of the primaries.

use super::Cluster;

/// A primary that has just started waits so long, in milliseconds, until a replica may have taken its place.
const WRITABLE_DELAY: i64 = 2_000;
/// A primary that comes back from a minority waits for a node timeout, but within these, in milliseconds.
const REJOIN_LEAST: i64 = 500;
const REJOIN_MOST: i64 = 5_000;

impl Cluster {
    /// Looks whether this node may serve.
    pub(super) fn update_state(&mut self, now: i64) {
        let began = *self.began.get_or_insert(now);
        let is_primary = self.primary().is_none();
        if is_primary && !self.serves && now - began < WRITABLE_DELAY {
            return;
        }
        let served = self.nodes.iter().filter(|node| node.failed.is_none());
        let served: u32 = served.map(|node| u32::from(node.slots.len())).sum();
        let reachable = self.nodes.iter();
        let reachable = reachable.filter(|node| node.counts() && !node.is_down());
        let in_majority = reachable.count() >= self.majority();
        let fine = served == u32::from(super::SLOTS) && in_majority;
        if !in_majority {
            self.in_minority = now;
        }
        let rejoin = self.timeout().clamp(REJOIN_LEAST, REJOIN_MOST);
        if fine && !self.serves && is_primary && now - self.in_minority < rejoin {
            return;
        }
        self.serves = fine;
    }
}
