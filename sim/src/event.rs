//! What the timeline holds: everything that can happen next.

use picklock_checker::{ContenderId, LockId, VirtualTime};
use picklock_clients::completion::Completion;

use crate::network::RequestId;
use crate::process::ProcessId;
use crate::resource::Write;

/// A client handle, by its index in the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientId(pub u32);

/// Something that is going to happen.
#[derive(Default)]
pub enum Event<E> {
    /// Something happens at the service.
    Service(E),
    /// A task has slept enough.
    Timer {
        process: ProcessId,
        done: Completion<()>,
    },
    /// The clock of a process may show the deadline of one of its timers: it does, if it has kept its pace since.
    LocalTimer { process: ProcessId },
    /// The time has passed that a process takes until a task runs that was woken.
    Processed { process: ProcessId, number: u32 },
    /// A request reaches the resource.
    Resource {
        by: ContenderId,
        /// Where the world keeps it: it is too large for an event.
        call: usize,
    },
    /// An answer of the resource reaches its client.
    Answer {
        process: ProcessId,
        value: i64,
        answer: Completion<i64>,
    },
    /// A fault strikes, some time after its trigger.
    Strike {
        fault: usize,
        request: Option<RequestId>,
    },
    /// A fault strikes once more.
    StrikeAgain { fault: usize },
    /// A link that flaps goes down again, unless the fault is over by `until`.
    LinkDown { fault: usize, until: VirtualTime },
    /// A fault is over.
    Heal { fault: usize },
    /// Nothing happens, but holders that wait until nothing is under way look whether that is so.
    #[default]
    QuiescenceCheck,
    /// The storm has lasted long enough.
    StormEnds,
    /// A fault is over; if it was the last, so is the storm.
    StormMayEnd,
    /// The calm has lasted long enough.
    BoundReached,
    /// What was left behind has had time to go.
    Drained,
}

/// Something that is going to happen at a service.
pub(crate) trait ServiceEvent {
    /// The number of its kind, which no other kind of event has, and its subject: for the rolling hash.
    fn kind_and_subject(&self) -> (u64, u32);
}

/// A request to the resource, and where the answer is to go.
pub struct ResourceCall {
    pub by: ContenderId,
    /// The lock whose resource it is.
    pub lock: LockId,
    pub request: ResourceRequest,
    pub answer: Completion<i64>,
}

/// What a client asks of the resource. The answer is the value read, or 1 for a write that was taken and 0 for one
/// that was refused.
#[derive(Clone, Copy, Debug)]
pub enum ResourceRequest {
    /// The value.
    Read,
    /// A write.
    Write(Write),
}

impl<E: ServiceEvent> Event<E> {
    /// The kind of event and its subject, as a word for the rolling hash.
    #[inline]
    pub fn word(&self) -> u64 {
        let (kind, subject) = match self {
            Self::Timer { process, .. } | Self::LocalTimer { process } => (11, process.0),
            Self::Resource { by, .. } => (12, by.0),
            Self::Answer { process, .. } => (13, process.0),
            Self::Strike { fault, .. } => (14, *fault as u32),
            Self::StrikeAgain { fault } => (48, *fault as u32),
            Self::LinkDown { fault, .. } => (49, *fault as u32),
            Self::Processed { process, .. } => (50, process.0),
            Self::Heal { fault } => (15, *fault as u32),
            Self::StormEnds => (16, 0),
            Self::BoundReached => (17, 0),
            Self::Drained => (18, 0),
            Self::StormMayEnd => (19, 0),
            Self::QuiescenceCheck => (29, 0),
            Self::Service(event) => event.kind_and_subject(),
        };
        kind << 32 | u64::from(subject)
    }
}

impl<E: ServiceEvent> std::fmt::Debug for Event<E> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "event {:x}", self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::redis::SimulatedRedis;
    use crate::services::zookeeper::SimulatedZooKeeper;
    use crate::world::HostEvent;

    #[test]
    fn an_event_and_what_comes_after_it_are_one_line_of_the_cache() {
        assert!(size_of::<Event<HostEvent<SimulatedZooKeeper>>>() <= 56);
        assert!(size_of::<Event<HostEvent<SimulatedRedis>>>() <= 56);
    }
}
