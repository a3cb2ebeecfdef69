//! The herd experiment on real servers and on the model, in one table.

use crate::reports::words::thousands;
use picklock_verify::zookeeper::herd::{Cell, Counted, Verdict, measure};

use super::Verify;
use super::compared::{name, not_compared, prepared};
use crate::cli::console;
use crate::cli::exit;
use crate::cli::failure::Failure;

/// How often each queue is drained.
const RUNS: u64 = 3;

const HEAD: &str = "\
notifications while a queue drains, counted at the clients; each queue was drained 3 times
servers    algorithm              waiters   hold       real now    real before          model
";

/// Measures, and shows each row when it is there.
pub(super) fn zookeeper(asked: &Verify) -> Result<u8, Failure> {
    let (installed, stop, sizes) = prepared(asked)?;
    console::print(HEAD)?;
    let mut cells = [0_u32; 3];
    let mut shown = Ok(());
    let measured = measure(&installed, &sizes, RUNS, &stop, &mut |cell, counted| {
        cells[judged(counted) as usize] += 1;
        if shown.is_ok() {
            shown = console::print(&row(cell, counted));
        }
    });
    shown?;
    if let Err(error) = measured {
        return not_compared(&error);
    }
    let [inside, near, outside] = cells;
    console::print(&format!(
        "cells in which the model lies in the range of the real servers: {inside}; \
         give or take a tenth: {near}; outside: {outside}\n"
    ))?;
    Ok(if outside == 0 {
        exit::AS_EXPECTED
    } else {
        exit::NOT_AS_EXPECTED
    })
}

/// How a row stands. Where the servers have counted otherwise than their clients, nothing is as it should be.
fn judged(counted: Counted) -> Verdict {
    match counted.servers_agree {
        true => counted.verdict(),
        false => Verdict::Outside,
    }
}

fn row(cell: Cell, counted: Counted) -> String {
    let range = |(least, most): (u64, u64)| {
        if least == most {
            thousands(least)
        } else {
            format!("{}\u{2013}{}", thousands(least), thousands(most))
        }
    };
    let verdict = match (counted.servers_agree, counted.verdict()) {
        (false, _) => "the servers have counted otherwise",
        (true, Verdict::Inside) => "inside",
        (true, Verdict::Near) => "within a tenth",
        (true, Verdict::Outside) => "outside",
    };
    format!(
        "{:<10} {:<22} {:>7} {:>6} {:>14} {:>14} {:>14}   {verdict}\n",
        name(cell.servers),
        cell.way.algorithm(),
        cell.waiters,
        format!("{} ms", cell.hold.as_millis()),
        range(counted.real),
        range(counted.known),
        range(counted.model),
    )
}
