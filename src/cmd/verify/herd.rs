//! The herd experiment on real servers and on the model, in one table.

use picklock::reports::words::thousands;
use picklock_verify::herd::{Cell, Counted, measure};

use super::Verify;
use super::compared::{name, not_compared, prepared};
use crate::console;
use crate::exit;
use crate::failure::Failure;

/// How often each queue is drained.
const RUNS: u64 = 3;

const HEAD: &str = "\
notifications while a queue drains, counted at the clients; each queue was drained 3 times
servers    algorithm              waiters   hold           real          model
";

/// Measures, and shows each row when it is there.
pub(super) fn zookeeper(asked: &Verify) -> Result<u8, Failure> {
    let (installed, stop, sizes) = prepared(asked)?;
    console::print(HEAD)?;
    let mut code = exit::AS_EXPECTED;
    let mut shown = Ok(());
    let measured = measure(&installed, &sizes, RUNS, &stop, &mut |cell, counted| {
        if !agrees(cell, counted) {
            code = exit::NOT_AS_EXPECTED;
        }
        if shown.is_ok() {
            shown = console::print(&row(cell, counted));
        }
    });
    shown?;
    match measured {
        Ok(()) => Ok(code),
        Err(error) => not_compared(&error),
    }
}

/// With a hold that is long against the round trip both are exact. Without, watches that fire once coalesce, more or
/// less as the machine is fast: no two machines agree.
fn agrees(cell: Cell, counted: Counted) -> bool {
    counted.servers_agree && (cell.hold.is_zero() || counted.real == counted.model)
}

fn row(cell: Cell, counted: Counted) -> String {
    let range = |(least, most): (u64, u64)| {
        if least == most {
            thousands(least)
        } else {
            format!("{}\u{2013}{}", thousands(least), thousands(most))
        }
    };
    let servers = if counted.servers_agree {
        ""
    } else {
        "   the servers have counted otherwise"
    };
    let differs = if agrees(cell, counted) || !counted.servers_agree {
        ""
    } else {
        "   differs"
    };
    format!(
        "{:<10} {:<22} {:>7} {:>6} {:>14} {:>14}{servers}{differs}\n",
        name(cell.servers),
        cell.way.algorithm(),
        cell.waiters,
        format!("{} ms", cell.hold.as_millis()),
        range(counted.real),
        range(counted.model),
    )
}
