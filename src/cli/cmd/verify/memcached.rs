//! Runs the comparison with a real memcached, and shows it.

use std::fmt::Write as _;

use crate::reports::words::thousands;
use picklock_verify::memcached::{Compared, HOW, Installed, Plan, compare};

use super::Verify;
use super::compared::{agreement, bar, differences, interrupted, not_compared, requests};
use crate::cli::console;
use crate::cli::exit;
use crate::cli::failure::Failure;

/// Compares the model with a real server.
pub(super) fn memcached(asked: &Verify) -> Result<u8, Failure> {
    let installed = Installed::find()
        .map_err(|error| Failure::usage(error.to_string(), [format!("install it: {HOW}")]))?;
    let stop = interrupted();
    let plan = Plan {
        seed: asked.seed,
        operations: asked.operations,
    };
    let bar = bar("memcached".to_owned(), asked.operations);
    let progress = |done: u64| bar.set_position(done);
    let compared = compare(&installed, plan, &stop, &progress);
    bar.finish_and_clear();
    match compared {
        Ok(compared) => {
            console::print(&shown(asked.seed, &compared))?;
            Ok(match compared.differences.is_empty() {
                true => exit::AS_EXPECTED,
                false => exit::NOT_AS_EXPECTED,
            })
        }
        Err(error) => not_compared(&error),
    }
}

/// What came of it: every difference, and one line at the end.
fn shown(seed: u64, compared: &Compared) -> String {
    let mut text = differences("", &compared.differences);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "asked: {}", requests(&compared.requests));
    let _ = writeln!(
        text,
        "the clock of the real server ticked {} times; items found to be over: {}; set aside: {}",
        thousands(compared.counters.ticks),
        thousands(compared.counters.expired),
        thousands(compared.set_aside),
    );
    let operations = thousands(compared.operations);
    let agree = agreement(compared);
    let _ = writeln!(
        text,
        "memcached, seed {seed}: {operations} commands, {agree}"
    );
    text
}
