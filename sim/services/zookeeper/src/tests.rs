//! What clients of an ensemble see, as claims.

mod access;
mod alone;
mod data;
mod elections;
mod faults;
mod fidelity;
mod limits;
mod model;
mod nodes;
mod observers;
mod order;
mod persistent_watches;
mod read_only;
mod requests;
mod sessions;
mod watches;
