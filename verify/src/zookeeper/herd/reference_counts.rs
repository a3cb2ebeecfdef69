//! What real servers were seen to tell with no hold at all: 3.8.0, one machine of two cores, idle and busy. Watches
//! that fire once coalesce then, more or less as the machine is fast, so one run says little: these are the least and
//! the most of all.

use super::{Cell, WaitStrategy};

/// The least and the most for 10, 50, 100, and 200 who wait.
type Ranges = [(u64, u64); 4];

const ONE_SAME_NAME: Ranges = [(10, 43), (221, 778), (1_686, 2_740), (5_451, 9_921)];
const THREE_SAME_NAME: Ranges = [(29, 55), (638, 885), (1_905, 2_915), (9_464, 10_341)];
const ONE_CHILDREN: Ranges = [(36, 64), (437, 1_324), (3_382, 5_148), (6_245, 20_040)];
const THREE_CHILDREN: Ranges = [(25, 64), (983, 1_316), (4_494, 5_082), (17_973, 20_037)];

/// What was seen in a cell of the table before.
pub(super) fn seen(cell: Cell) -> (u64, u64) {
    let mut all = super::WAITERS.iter();
    let place = all.position(|waiters| *waiters == cell.waiters);
    let coalesced = match (cell.way, cell.servers) {
        // Each waits for one, or for watches that stay: nothing can coalesce.
        (WaitStrategy::Predecessor | WaitStrategy::Copy, _) => None,
        _ if !cell.hold.is_zero() => None,
        (WaitStrategy::SameName, 1) => Some(ONE_SAME_NAME),
        (WaitStrategy::SameName, _) => Some(THREE_SAME_NAME),
        (WaitStrategy::Children, 1) => Some(ONE_CHILDREN),
        (WaitStrategy::Children, _) => Some(THREE_CHILDREN),
    };
    let ranges = coalesced.zip(place);
    ranges.map_or((exact(cell), exact(cell)), |(ranges, place)| ranges[place])
}

/// How many there are if nothing coalesces: with a hold that is long against the round trip of each client.
fn exact(cell: Cell) -> u64 {
    let waiters = u64::from(cell.waiters);
    match cell.way {
        WaitStrategy::SameName | WaitStrategy::Copy => waiters * (waiters + 1) / 2,
        WaitStrategy::Children => waiters * (waiters + 1) / 2 + waiters - 1,
        WaitStrategy::Predecessor => waiters,
    }
}
