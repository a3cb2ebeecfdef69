//! Runs the comparison with a real etcd, and shows it.

use std::fmt::Write as _;

use crate::reports::words::thousands;
use picklock_verify::etcd::{Compared, HOW, Installed, Plan, compare};

use super::Verify;
use super::compared::{agreement, bar, differences, interrupted, not_compared, requests};
use crate::cli::console;
use crate::cli::exit;
use crate::cli::failure::Failure;

/// Compares the model with real members.
pub(super) fn etcd(asked: &Verify) -> Result<u8, Failure> {
    let installed = Installed::find(asked.etcd_server.as_deref()).map_err(|error| {
        let hints = [
            format!("install it: {HOW}"),
            "or say where it is: --etcd-server PROGRAM".to_owned(),
        ];
        Failure::usage(error.to_string(), hints)
    })?;
    let stop = interrupted();
    let plan = Plan {
        seed: asked.seed,
        operations: asked.operations,
    };
    let bar = bar("etcd".to_owned(), asked.operations);
    let progress = |done: u64| bar.set_position(done);
    let compared = compare(&installed, plan, &stop, &progress);
    bar.finish_and_clear();
    match compared {
        Ok(compared) => {
            console::print(&shown(&installed, asked.seed, &compared))?;
            Ok(if compared.differences.is_empty() {
                exit::AS_EXPECTED
            } else {
                exit::NOT_AS_EXPECTED
            })
        }
        Err(error) => not_compared(&error),
    }
}

/// What came of it: every difference, and one line at the end.
fn shown(installed: &Installed, seed: u64, compared: &Compared) -> String {
    let mut text = differences("", &compared.differences);
    let version = installed.version;
    // Writing to a string cannot fail.
    let _ = writeln!(text, "asked: {}", requests(&compared.requests));
    let _ = writeln!(
        text,
        "etcd {}.{}.{}, seed {seed}: {} steps, {}",
        version.major,
        version.minor,
        version.patch,
        thousands(compared.operations),
        agreement(compared),
    );
    text
}
