//! picklock, for the tests of this crate to run.
//!
//! They hold what it reads and writes against its JSON Schemas, with a validator that nothing else needs: so it is a
//! crate of its own, which `cargo test` leaves out unless it is named.

use std::process::ExitCode;

fn main() -> ExitCode {
    picklock::cli::main(&[])
}
