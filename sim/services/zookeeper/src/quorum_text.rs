//! Messages between servers in words, as traces show them: by the names that Zab and ZooKeeper's source have for them.

use std::fmt;

use super::quorum_messages::{Catchup, PeerBody, PeerMessage, ServerState, Submission};
use super::txn::{Txn, TxnChange};

impl PeerMessage {
    /// Whether it says no more than that its sender is there.
    pub fn is_sign_of_life(&self) -> bool {
        matches!(self.body, PeerBody::Ping | PeerBody::Pong(_))
    }
}

impl fmt::Display for PeerMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.body {
            PeerBody::Vote(notification) => {
                let standing = match notification.standing {
                    ServerState::Looking => "LOOKING",
                    ServerState::Following => "FOLLOWING",
                    ServerState::Leading => "LEADING",
                };
                let (vote, round) = (notification.vote, notification.round);
                let leader = vote.leader.0 + 1;
                write!(
                    out,
                    "notification: {standing}, votes for server-{leader} (epoch {}, zxid {}), round {round}",
                    vote.epoch, vote.zxid
                )
            }
            PeerBody::FollowerInfo { accepted_epoch } => {
                write!(out, "FOLLOWERINFO, accepted epoch {accepted_epoch}")
            }
            PeerBody::LeaderInfo { epoch } => write!(out, "LEADERINFO, epoch {epoch}"),
            PeerBody::AckEpoch {
                current_epoch,
                last_zxid,
                ..
            } => write!(
                out,
                "ACKEPOCH, current epoch {current_epoch}, zxid {last_zxid}"
            ),
            PeerBody::NewLeader(catchup) => new_leader(out, catchup),
            PeerBody::AckNewLeader { logged } => write!(out, "ACK of NEWLEADER, zxid {logged}"),
            PeerBody::UpToDate { committed } => write!(out, "UPTODATE, committed {committed}"),
            PeerBody::Proposal(txn) => write!(out, "PROPOSAL {txn}"),
            PeerBody::Ack(zxid) => write!(out, "ACK {zxid}"),
            PeerBody::Commit(zxid) => write!(out, "COMMIT {zxid}"),
            PeerBody::Inform(txn) => write!(out, "INFORM {txn}"),
            PeerBody::Ping => write!(out, "PING"),
            PeerBody::Pong(pong) => write!(out, "PING, logged {}", pong.logged),
            PeerBody::Forward(forwarded) => {
                let session = forwarded.session;
                match &forwarded.what {
                    Submission::Write(request, _) => {
                        write!(out, "REQUEST {request} of session {session}")
                    }
                    Submission::Open { .. } => write!(out, "REQUEST create-session"),
                    Submission::Close => write!(out, "REQUEST close-session {session}"),
                    Submission::Sync => write!(out, "REQUEST sync of session {session}"),
                }
            }
            PeerBody::Synced { session, .. } => write!(out, "SYNC of session {session}"),
            PeerBody::Revalidate { session, .. } => write!(out, "REVALIDATE session {session}"),
            PeerBody::Revalidated { valid: true, .. } => write!(out, "REVALIDATE: valid"),
            PeerBody::Revalidated { valid: false, .. } => {
                write!(out, "REVALIDATE: no such session")
            }
            PeerBody::Hangup => write!(out, "closes the link"),
        }
    }
}

fn new_leader(out: &mut fmt::Formatter<'_>, catchup: &Catchup) -> fmt::Result {
    let Catchup {
        epoch,
        snapshot,
        truncate_after,
        txns,
    } = catchup;
    let how = match snapshot {
        Some(_) => "SNAP up to",
        None => "DIFF after, or TRUNC to,",
    };
    let (txns, after) = (txns.len(), truncate_after);
    write!(
        out,
        "NEWLEADER, epoch {epoch}: {how} {after}, and {txns} transactions"
    )
}

/// `0x100000004 create /locks/a/x-0000000001`
impl fmt::Display for Txn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.zxid, self.change)?;
        match (&self.change, self.session) {
            (TxnChange::CreateSession { .. } | TxnChange::CloseSession { .. }, Some(session)) => {
                write!(out, " {session}")
            }
            (_, _) => Ok(()),
        }
    }
}

impl fmt::Display for TxnChange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreateSession { .. } => write!(out, "create-session"),
            Self::CloseSession { paths } if paths.is_empty() => write!(out, "close-session"),
            Self::CloseSession { paths } => {
                write!(out, "close-session (deletes {})", paths.join(", "))
            }
            Self::Create(created) => write!(out, "create {}", created.path),
            Self::Delete { path, .. } => write!(out, "delete {path}"),
            Self::SetData { path, version, .. } => {
                write!(out, "set-data {path}, version {version}")
            }
            Self::SetAcl { path, .. } => write!(out, "set-acl {path}"),
            Self::Multi(changes) => {
                write!(out, "multi")?;
                changes
                    .iter()
                    .try_for_each(|change| write!(out, " [{change}]"))
            }
            Self::MultiFailed(failed) => write!(out, "multi, nothing done: {:?}", failed.error),
            Self::Check => write!(out, "check"),
            Self::Error(error) => write!(out, "error {error:?}"),
        }
    }
}
