//! What goes into a Sentinel and what comes out of it.

use picklock_clients::redis::{Command, Value};

use crate::ConnectionId;
use crate::replication_protocol::Address;

/// A connection from a Sentinel to a server or another Sentinel. The Sentinel counts them, and never uses a number
/// twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u32);

/// What happens to a Sentinel.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The answer to the oldest command of a call without one, or a message of its subscription.
    Answered {
        /// Which call.
        call: CallId,
        /// The value.
        value: Value,
    },
    /// A call could not be made, or is gone.
    Closed {
        /// The call.
        call: CallId,
    },
    /// A command from a client, or from another Sentinel.
    Received {
        /// On which connection.
        connection: ConnectionId,
        /// What it says.
        command: Command,
    },
    /// A connection is gone.
    Gone {
        /// The connection.
        connection: ConnectionId,
    },
    /// The time has come that [`next_wake`](picklock_machines::Machine::next_wake) had named. Too early does no harm.
    Wake,
}

/// What a Sentinel wants done, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Connect to a server or a Sentinel. Commands may follow at once.
    Call {
        /// The new call.
        call: CallId,
        /// Where it leads.
        to: Address,
    },
    /// Send a command.
    Send {
        /// By which call.
        call: CallId,
        /// The command.
        command: Command,
    },
    /// Close a call. The Sentinel has forgotten it already.
    HangUp {
        /// The call.
        call: CallId,
    },
    /// Send to a client, or to another Sentinel.
    ToClient {
        /// On which connection.
        connection: ConnectionId,
        /// The value.
        value: Value,
    },
    /// Something is worth a line in its log.
    Noted {
        /// The event.
        event: Event,
        /// The server or Sentinel that it is about.
        about: Address,
    },
}

/// What a Sentinel writes into its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "each has the name that Redis gives it, see `name`"
)]
pub enum Event {
    SubjectivelyDown,
    SubjectivelyUp,
    ObjectivelyDown,
    ObjectivelyUp,
    NewEpoch,
    TryFailover,
    VoteForLeader,
    ElectedLeader,
    SelectReplica,
    SelectedReplica,
    SendReplicaOfNoOne,
    WaitPromotion,
    PromotedReplica,
    ReconfigureReplicas,
    ReconfigurationSent,
    ReconfigurationBegun,
    ReconfigurationDone,
    FailoverEnd,
    FailoverEndForTimeout,
    SwitchPrimary,
    ConfigUpdate,
    ConvertToReplica,
    FixReplica,
    RoleChange,
    RoleMismatch,
    NewReplica,
    NewSentinel,
    Reboot,
    AbortNotElected,
    AbortNoGoodReplica,
    AbortReplicaTimeout,
    Tilt,
    TiltEnd,
}

impl Event {
    /// Its name in the log of a real Sentinel.
    pub fn name(self) -> &'static str {
        match self {
            Self::SubjectivelyDown => "+sdown",
            Self::SubjectivelyUp => "-sdown",
            Self::ObjectivelyDown => "+odown",
            Self::ObjectivelyUp => "-odown",
            Self::NewEpoch => "+new-epoch",
            Self::TryFailover => "+try-failover",
            Self::VoteForLeader => "+vote-for-leader",
            Self::ElectedLeader => "+elected-leader",
            Self::SelectReplica => "+failover-state-select-slave",
            Self::SendReplicaOfNoOne => "+failover-state-send-slaveof-noone",
            Self::WaitPromotion => "+failover-state-wait-promotion",
            Self::ReconfigureReplicas => "+failover-state-reconf-slaves",
            Self::SelectedReplica => "+selected-slave",
            Self::PromotedReplica => "+promoted-slave",
            Self::ReconfigurationSent => "+slave-reconf-sent",
            Self::ReconfigurationBegun => "+slave-reconf-inprog",
            Self::ReconfigurationDone => "+slave-reconf-done",
            Self::FailoverEnd => "+failover-end",
            Self::FailoverEndForTimeout => "+failover-end-for-timeout",
            Self::SwitchPrimary => "+switch-master",
            Self::ConfigUpdate => "+config-update-from",
            Self::ConvertToReplica => "+convert-to-slave",
            Self::FixReplica => "+fix-slave-config",
            Self::RoleChange => "+role-change",
            Self::RoleMismatch => "-role-change",
            Self::NewReplica => "+slave",
            Self::NewSentinel => "+sentinel",
            Self::Reboot => "+reboot",
            Self::AbortNotElected => "-failover-abort-not-elected",
            Self::AbortNoGoodReplica => "-failover-abort-no-good-slave",
            Self::AbortReplicaTimeout => "-failover-abort-slave-timeout",
            Self::Tilt => "+tilt",
            Self::TiltEnd => "-tilt",
        }
    }
}
