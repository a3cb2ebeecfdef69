//! How siblings of `InterProcessMutex` deviate from Curator.

use crate::clients::curator::{ErrorPolicy, Protection};

/// How a sibling deviates from Curator.
#[derive(Clone, Copy)]
pub(in crate::zookeeper) struct Deviation {
    /// What its create minds, if it is protected at all.
    pub(in crate::zookeeper) protection: Option<Protection>,
    pub(in crate::zookeeper) policy: ErrorPolicy,
    /// Whether a timed acquire whose time is over deletes its node.
    pub(in crate::zookeeper) deletes_our_path: bool,
    /// Whether the first in the queue asks if its node is of the present session.
    pub(in crate::zookeeper) checks_owner: bool,
}

impl Deviation {
    /// Curator as it is.
    pub(in crate::zookeeper) const NONE: Self = Self {
        protection: Some(Protection::FULL),
        policy: ErrorPolicy::Standard,
        deletes_our_path: true,
        checks_owner: false,
    };
}
