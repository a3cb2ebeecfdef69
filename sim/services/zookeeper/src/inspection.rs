//! What can be seen of a server from outside: its leader, and what a message of its leader makes of its log.

use picklock_clients::zookeeper::Zxid;

use super::messages::ServerId;
use super::quorum_messages::{PeerBody, PeerMessage};
use super::state::{Role, Server};
use super::txn::SharedTxn;

/// How a follower comes to have what its leader has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LearnerSync {
    /// It is sent the transactions that it lacks.
    Diff,
    /// First it throws away what its leader does not have.
    Trunc,
    /// It is sent all nodes.
    Snap,
}

/// What a follower is told to do with its log.
#[derive(Clone, Debug, PartialEq)]
pub struct SyncOrder {
    /// How it could have known.
    pub how: LearnerSync,
    /// Up to where it then has everything.
    pub up_to: Zxid,
    /// What it throws away of its own log.
    pub truncated: Vec<SharedTxn>,
}

impl Server {
    /// The epoch of the leader that it leads as, or follows.
    pub fn epoch(&self) -> u32 {
        match &self.role {
            Role::Leading(leading) => leading.epoch,
            Role::Following(_) | Role::Looking(_) | Role::Down => self.current_epoch,
        }
    }

    /// The leader that it follows.
    pub fn leader(&self) -> Option<ServerId> {
        match &self.role {
            Role::Following(following) => Some(following.leader),
            Role::Leading(_) | Role::Looking(_) | Role::Down => None,
        }
    }

    /// How many transactions it has logged after this one.
    pub fn logged_after(&self, zxid: Zxid) -> usize {
        self.log.after(zxid).count()
    }

    /// What it does with its log by this message of another server, if anything.
    pub fn sync_order(&self, from: ServerId, message: &PeerMessage) -> Option<SyncOrder> {
        let (PeerBody::NewLeader(catchup), Role::Following(following)) =
            (&message.body, &self.role)
        else {
            return None;
        };
        if following.leader != from || following.link != message.link {
            return None;
        }
        let truncated: Vec<SharedTxn> = match catchup.snapshot {
            Some(_) => Vec::new(),
            None => self.log.after(catchup.truncate_after).cloned().collect(),
        };
        let how = match (&catchup.snapshot, truncated.is_empty()) {
            (Some(_), _) => LearnerSync::Snap,
            (None, true) => LearnerSync::Diff,
            (None, false) => LearnerSync::Trunc,
        };
        let last = catchup.txns.last().map(|txn| txn.zxid);
        Some(SyncOrder {
            how,
            up_to: last.unwrap_or(catchup.truncate_after),
            truncated,
        })
    }
}
