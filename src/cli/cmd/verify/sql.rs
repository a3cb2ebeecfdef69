//! Runs the comparison with a real SQL server, and shows it.

use std::fmt::Write as _;

use crate::reports::words::thousands;
use picklock_verify::sql::{Compared, Dialect, Installed, Plan};

use super::Verify;
use super::compared::{agreement, bar, differences, interrupted, not_compared, requests};
use crate::cli::console;
use crate::cli::exit;
use crate::cli::failure::Failure;

/// Compares the model with a real server.
pub(super) fn sql(asked: &Verify, dialect: Dialect) -> Result<u8, Failure> {
    let installed = Installed::find(dialect).map_err(|error| {
        let how = format!("install it: {}", Installed::how(dialect));
        Failure::usage(error.to_string(), [how])
    })?;
    let stop = interrupted();
    let name = match dialect {
        Dialect::Postgres => "postgres",
        Dialect::MySql => "mysql",
    };
    let plan = Plan {
        dialect,
        seed: asked.seed,
        operations: asked.operations,
    };
    let bar = bar(name.to_owned(), asked.operations);
    let progress = |done: u64| bar.set_position(done);
    let compared = picklock_verify::sql::compare(&installed, plan, &stop, &progress);
    bar.finish_and_clear();
    match compared {
        Ok(compared) => {
            console::print(&shown(name, asked.seed, &compared))?;
            Ok(match compared.differences.is_empty() {
                true => exit::AS_EXPECTED,
                false => exit::NOT_AS_EXPECTED,
            })
        }
        Err(error) => not_compared(&error),
    }
}

/// What came of it: every difference, and one line at the end.
fn shown(name: &str, seed: u64, compared: &Compared) -> String {
    let mut text = differences("", &compared.differences);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "asked: {}", requests(&compared.requests));
    let _ = writeln!(
        text,
        "waited for a lock: {} statements; the real server chose who goes on: {} times",
        thousands(compared.counters.waited),
        thousands(compared.counters.chosen),
    );
    let operations = thousands(compared.operations);
    let agree = agreement(compared);
    let _ = writeln!(
        text,
        "{name}, seed {seed}: {operations} statements, {agree}"
    );
    text
}
