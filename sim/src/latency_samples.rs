//! Latencies that were measured on the way.

/// Latencies of a run in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// From the call of `release` to the return of the next `acquire`.
    pub handover: Vec<u64>,
    /// From a bystander's request to its answer, while the queue drains.
    pub bystander: Vec<u64>,
    /// The same at other times.
    pub bystander_idle: Vec<u64>,
}
