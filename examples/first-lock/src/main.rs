//! Every verb of picklock, with locks of our own.

mod first_lock;
mod read_write_lock;
mod renewed_lock;
mod set_semaphore;

use std::process::ExitCode;

fn main() -> ExitCode {
    picklock::cli::main(&[
        first_lock::recipe("first-lock", false),
        first_lock::recipe("second-lock", true),
        set_semaphore::recipe("set-semaphore", false),
        set_semaphore::recipe("set-semaphore-in-script", true),
        read_write_lock::recipe("read-write-lock", false),
        read_write_lock::recipe("read-write-lock-past-readers", true),
        renewed_lock::recipe("renewed-lock", false),
        renewed_lock::recipe("renewed-lock-of-own", true),
    ])
}
