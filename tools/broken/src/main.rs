//! The command line of picklock with recipes that break off.

use std::process::ExitCode;

use picklock_broken::{FATAL, FAULTY, FICKLE, THREADED};

fn main() -> ExitCode {
    picklock::cli::main(&[FAULTY, FICKLE, FATAL, &[THREADED]].concat())
}
