//! Histories in, verdicts out.
//!
//! A [`History`] is what happened in one run; an [`Invariant`] is a promise about it and a
//! pure function that tells whether it was kept. Nothing here runs anything, draws anything, or reads a clock.

mod broken;
mod conversion;
mod disowned;
mod ended;
mod entry_step;
mod event_kind;
pub mod evidence;
pub mod failure;
pub mod for_good;
pub mod history;
mod ids;
pub mod invariants;
pub mod knowledge;
pub mod linearizability;
mod list_too_long;
pub mod lists;
pub mod metrics;
pub mod mode;
pub mod near_miss;
pub mod notation;
pub mod outcome;
mod permits_left;
mod rendezvous;
pub mod run;
mod server_change;
mod service_answer;
pub mod service_event;
pub mod sometimes;
pub mod time;
pub mod vacuity;
pub mod verdict;
mod vocabulary;
mod witness;

pub use broken::Broken;
pub use conversion::ConversionStep;
pub use ended::Ended;
pub use entry_step::EntryStep;
pub use evidence::{Arrival, Belief, Evidence, Known, Liveness, LivenessEvent, Ownership, Refused};
pub use failure::Failure;
pub use for_good::{ForGood, Stranded, Unavailable};
pub use history::{
    ContenderId, Disowned, Event, EventKind, FaultId, History, LockId, NameId, ServerId,
    ServiceAnswer, Token,
};
pub use invariants::{INVARIANTS, Invariant, Truth, check_all, check_evidence};
pub use knowledge::Knowledge;
pub use list_too_long::ListTooLong;
pub use metrics::{METRICS, Metric};
pub use mode::Mode;
pub use near_miss::{DISTANCES, NearMiss, Nearness};
pub use permits_left::PermitsLeft;
pub use rendezvous::Rendezvous;
pub use run::{AwaitedFault, Counts, Facts, LateExtension, Run};
pub use server_change::ServerChange;
pub use service_event::{ServiceEvent, ServiceEventKind};
pub use sometimes::{Reached, SOMETIMES, Sometimes};
pub use time::VirtualTime;
pub use vacuity::vacuous;
pub use verdict::{Step, Verdict, Witness};
pub use vocabulary::Vocabulary;
