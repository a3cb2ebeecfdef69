//! Searches: where to aim, and how soon something is found.

mod aftermath;
pub mod candidate;
pub(crate) mod cause;
pub(crate) mod counterexample;
mod default_fields;
pub mod detection_rate;
mod durations;
mod fault_parameters;
mod fault_sequences;
mod fault_targets;
mod fault_variants;
pub(crate) mod fault_weights;
pub mod findings;
mod followup_faults;
pub(crate) mod hold_windows;
pub mod hunt;
pub(crate) mod moment_class;
mod near_miss;
mod next_run;
pub mod portfolio;
mod profile;
mod request_roles;
mod several_servers;
mod strategies;
pub mod targeted;
pub mod throughput;

#[cfg(test)]
pub(crate) mod knowledge;
#[cfg(test)]
mod tests;
