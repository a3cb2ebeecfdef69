//! Runs that break off, in the library and in the program.

#[path = "../../../../tests/it/program/common.rs"]
#[expect(dead_code, reason = "these tests have scenarios of their own")]
mod common;
mod program;
mod runs;

/// The program whose command line these tests run.
const PROGRAM: &str = env!("CARGO_BIN_EXE_picklock-broken");
