//! Every verb of picklock, with locks of our own.

mod first_lock;
mod set_semaphore;

use std::process::ExitCode;

fn main() -> ExitCode {
    picklock::cli::main(&[
        first_lock::recipe("first-lock", false),
        first_lock::recipe("second-lock", true),
        set_semaphore::recipe("set-semaphore", false),
        set_semaphore::recipe("set-semaphore-in-script", true),
    ])
}
