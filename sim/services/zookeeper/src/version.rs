//! What differs between versions of ZooKeeper.

/// A version of ZooKeeper, servers and Java client: the last of its line. Where nothing is said, they are alike here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// 3.4 and 3.5.
    V3_4,
    /// 3.6 and 3.7.
    V3_6,
    /// 3.8.
    #[default]
    V3_8,
    /// 3.9.
    V3_9,
    /// What is to be 3.10.
    V3_10,
}

impl Version {
    /// Every version, with its name in scenario files.
    pub const ALL: [(&'static str, Self); 5] = [
        ("3.4", Self::V3_4),
        ("3.6", Self::V3_6),
        ("3.8", Self::V3_8),
        ("3.9", Self::V3_9),
        ("3.10", Self::V3_10),
    ];

    /// Its name in scenario files.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }

    /// Whether the counter of sequence numbers stays at its largest value when it has come there; before, it goes on
    /// with the smallest (ZOOKEEPER-3249).
    pub fn sticks_at_the_largest_number(self) -> bool {
        self >= Self::V3_6
    }

    /// Whether clients that may not read a node are not told what its watches would tell them (ZOOKEEPER-4799).
    pub fn filters_notifications(self) -> bool {
        self >= Self::V3_8
    }

    /// Whether servers know watches that stay, `getEphemerals`, and several reads in one request; before, to ask for it
    /// ends the connection.
    pub fn has_persistent_watches(self) -> bool {
        self >= Self::V3_6
    }

    /// Whether several kinds of watches of one client on one node are kept apart; before, the last counts
    /// (ZOOKEEPER-4466).
    pub fn keeps_kinds_of_watches_apart(self) -> bool {
        self >= Self::V3_9
    }

    /// Whether a server that is asked for a client's watch finds another client's, too (ZOOKEEPER-4466 mended that by
    /// the way).
    pub fn finds_watches_of_others(self) -> bool {
        (Self::V3_6..=Self::V3_8).contains(&self)
    }

    /// Whether a client declares its session expired when it has heard nothing for four thirds of the timeout.
    pub fn clients_expire_by_themselves(self) -> bool {
        self >= Self::V3_9
    }

    /// Whether a client gives up a session that never came about, after as long (ZOOKEEPER-4923). 3.9.3 alone did so,
    /// and 3.9.4 does not any more (ZOOKEEPER-4921).
    pub fn clients_give_up_new_sessions(self) -> bool {
        self >= Self::V3_10
    }

    /// Whether one must be allowed to read a node to ask whether it exists.
    pub fn guards_exists(self) -> bool {
        self >= Self::V3_10
    }

    /// Whether no node is ever in version -1, which stands for any (ZOOKEEPER-4743).
    pub fn skips_version_minus_one(self) -> bool {
        self >= Self::V3_10
    }

    /// Whether a container that never had a child goes when it has been there for five minutes.
    pub fn reaps_unused_containers(self) -> bool {
        self >= Self::V3_10
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_has_its_name() {
        for (name, version) in Version::ALL {
            assert_eq!(version.name(), name);
        }
    }
}
