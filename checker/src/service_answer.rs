//! What a service has answered about a hold.

use serde::{Deserialize, Serialize};

/// What a service has truly answered, and its owners do not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ServiceAnswer {
    /// A majority of its servers has granted the lock, one after the other, and at no moment did a majority have it:
    /// some had lost it before the last one said yes.
    GrantedApart,
    /// A server that answers for all does not have the owner's hold, and another such server has it: after a failover
    /// there may be two. Or it has been made a replica since, and its clock has ended the lease before the primary's.
    DeniedAtOne,
    /// The owner's hold counts so many entries now: it entered again, or gave one entry back.
    Counts(u64),
    /// A release began when the lock was its contender's no more, and one of its requests had no answer in time: it may
    /// have released the lock, for all that the contender knows.
    Missing,
}
