//! Quotas: how much may be below a node, and how much there is.
//!
//! # Source
//!
//! ZooKeeper 3.8: `Quotas`, `StatsTrack`, `DataTree.updateQuotaStat`, and `ZooKeeperServer.checkQuota`. What may be
//! stands in `/zookeeper/quota/PATH/zookeeper_limits`, what there is in `zookeeper_stats` beside it. Only a hard limit
//! refuses anything, and only if `zookeeper.enforceQuota` is set.

use std::rc::Rc;

use picklock_clients::zookeeper::{Data, Path, ZkError};

use super::tree::DataTree;

const QUOTA: &str = "/zookeeper/quota";
const LIMITS: &str = "/zookeeper_limits";
const STATS: &str = "/zookeeper_stats";

/// How many nodes and bytes, as far as it is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct QuotaLimits {
    count: Option<i64>,
    bytes: Option<i64>,
    count_hard: Option<i64>,
    bytes_hard: Option<i64>,
}

impl QuotaLimits {
    fn parse(data: &[u8]) -> Self {
        let mut amount = Self::default();
        let text = String::from_utf8_lossy(data);
        for pair in text.split([',', ';']) {
            let Some((key, value)) = pair.split_once('=') else {
                continue;
            };
            let value = value.trim().parse().ok().filter(|value| *value > -1);
            match key {
                "count" => amount.count = value,
                "bytes" => amount.bytes = value,
                "countHardLimit" => amount.count_hard = value,
                "byteHardLimit" => amount.bytes_hard = value,
                _ => {}
            }
        }
        amount
    }
}

/// The node that a limit or a sum is about; the path is that of the one or the other.
fn subject<'a>(path: &'a str, of: &str) -> Option<&'a str> {
    path.strip_prefix(QUOTA)?.strip_suffix(of)
}

fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl DataTree {
    /// The nearest node with a quota, at a path or above it.
    fn limited(&self, path: &str) -> Option<&Path> {
        let above = self.quotas.iter().filter(|quota| is_below(path, quota));
        above.max_by_key(|quota| quota.len())
    }

    /// Whether so much more may be there.
    pub(super) fn check_quota(&self, path: &str, nodes: i64, bytes: i64) -> Result<(), ZkError> {
        let Some(limited) = self.limited(path) else {
            return Ok(());
        };
        let amount = |of| {
            let node = self.get(&format!("{QUOTA}{limited}{of}"));
            node.map(|node| QuotaLimits::parse(node.data()))
        };
        let (Some(limit), Some(sum)) = (amount(LIMITS), amount(STATS)) else {
            return Ok(());
        };
        let exceeds = |more: i64, sum: Option<i64>, limit: Option<i64>| {
            more != 0 && limit.is_some_and(|limit| sum.unwrap_or(-1) + more > limit)
        };
        if exceeds(nodes, sum.count, limit.count_hard)
            || exceeds(bytes, sum.bytes, limit.bytes_hard)
        {
            return Err(ZkError::QuotaExceeded);
        }
        Ok(())
    }

    /// A node was made: a limit begins to count, a sum is taken, or one is added to.
    #[inline(never)]
    pub(super) fn quota_created(&mut self, path: &Path, bytes: usize) {
        if path.starts_with(QUOTA) {
            if let Some(subject) = subject(path, LIMITS) {
                self.quotas.push(Rc::from(subject));
            }
            if let Some(subject) = subject(path, STATS) {
                let (nodes, bytes) = self.below(subject);
                self.set_sum(path, nodes, bytes);
            }
        }
        self.add_to_sum(path, 1, bytes as i64);
    }

    /// A node is deleted.
    #[inline(never)]
    pub(super) fn quota_deleted(&mut self, path: &str, bytes: usize) {
        if let Some(subject) = subject(path, LIMITS) {
            self.quotas.retain(|quota| **quota != *subject);
        }
        self.add_to_sum(path, -1, -(bytes as i64));
    }

    /// Adds to the sum of the nearest node with a quota. The sum changes without a transaction of its own.
    pub(super) fn add_to_sum(&mut self, path: &str, nodes: i64, bytes: i64) {
        let Some(limited) = self.limited(path) else {
            return;
        };
        let sum_path = format!("{QUOTA}{limited}{STATS}");
        if let Some(node) = self.get(&sum_path) {
            let sum = QuotaLimits::parse(node.data());
            let add = |old: Option<i64>, more| old.unwrap_or(-1) + more;
            self.set_sum(&sum_path, add(sum.count, nodes), add(sum.bytes, bytes));
        }
    }

    fn set_sum(&mut self, path: &str, nodes: i64, bytes: i64) {
        let sum = format!("count={nodes},bytes={bytes}");
        self.replace_data(path, Data::from(sum.into_bytes()));
    }

    /// How many nodes there are at and below a path, and how many bytes.
    fn below(&self, path: &str) -> (i64, i64) {
        let (mut nodes, mut bytes) = (0, 0);
        let mut rest = vec![path.to_owned()];
        while let Some(path) = rest.pop() {
            let Some(node) = self.get(&path) else {
                continue;
            };
            nodes += 1;
            bytes += node.data().len() as i64;
            rest.extend(node.names().map(|name| format!("{path}/{name}")));
        }
        (nodes, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_they_are_written() {
        let amount = QuotaLimits::parse(b"count=3,bytes=-1;byteHardLimit=10,countHardLimit=-1");
        let (count, bytes_hard) = (Some(3), Some(10));
        assert_eq!(
            amount,
            QuotaLimits {
                count,
                bytes_hard,
                ..QuotaLimits::default()
            }
        );
        assert_eq!(QuotaLimits::parse(b""), QuotaLimits::default());
    }

    #[test]
    fn a_path_is_below_whole_names() {
        assert!(is_below("/a/b", "/a"));
        assert!(is_below("/a", "/a"));
        assert!(!is_below("/ab", "/a"));
    }
}
