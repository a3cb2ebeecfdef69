//! The points on which simulations of ZooKeeper tend to be wrong, one test each, with its number in the list.
//!
//! Those of the client handle are in `client/fidelity_tests.rs`; those that need contenders are in
//! `sim/tests/it/fidelity.rs`.

mod nodes;
mod order;
mod sessions;
mod timing;
mod watches;
