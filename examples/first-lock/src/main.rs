//! Every verb of picklock, with two locks of our own.

mod first_lock;

use std::process::ExitCode;

fn main() -> ExitCode {
    picklock::cli::main(&[
        first_lock::recipe("first-lock", false),
        first_lock::recipe("second-lock", true),
    ])
}
