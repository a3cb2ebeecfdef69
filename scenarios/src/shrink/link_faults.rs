//! Rounds what faults of links leave to chance: how often packets are lost, and how long a link is down or up.

use std::time::Duration;

use picklock_sim::plan::{Plan, Rate};

use super::search::Change;
use crate::describe;
use crate::fault_fields::Parts;
use crate::units::write_range;

/// Rates that say nothing by themselves, in percent.
const ROUND: [u32; 6] = [50, 20, 10, 5, 2, 1];

/// Plans whose faults of links leave less to chance, or say it in rounder numbers.
pub(super) fn rounder(plan: &Plan) -> Vec<Change> {
    let mut changes = Vec::new();
    for index in 0..plan.faults.len() {
        let mut change = |what: String, set: &dyn Fn(&mut Parts)| {
            let mut plan = plan.clone();
            let fault = &mut plan.faults[index];
            set(&mut Parts::of(&mut fault.inject));
            describe::update_text(fault);
            let what = format!("fault {}: {what}", index + 1);
            changes.push(Change { what, plan });
        };
        let mut inject = plan.faults[index].inject.clone();
        let parts = Parts::of(&mut inject);
        for (nth, range) in parts.ranges.iter().enumerate() {
            let now = **range;
            for only in single(now) {
                let what = format!("{} to {}", write_range(now), write_range((only, only)));
                change(what, &|parts| {
                    if let Some(range) = parts.ranges.get_mut(nth) {
                        **range = (only, only);
                    }
                });
            }
        }
        let Some(now) = parts.rate.map(|rate| *rate) else {
            continue;
        };
        let round = ROUND.map(Rate::percent);
        if !round.contains(&now) {
            for rate in round {
                change(format!("{now} to {rate}"), &|parts| {
                    if let Some(now) = &mut parts.rate {
                        **now = rate;
                    }
                });
            }
        }
    }
    changes
}

/// Single times in the place of a range.
fn single((from, to): (Duration, Duration)) -> Vec<Duration> {
    match from == to {
        true => Vec::new(),
        false => vec![Duration::from_secs(1), to, from],
    }
}

#[cfg(test)]
mod tests {
    use picklock_sim::plan::{ContenderName, Direction, Fault};

    use super::*;

    #[test]
    fn a_range_becomes_one_time_and_an_odd_rate_a_round_one() {
        assert_eq!(single((Duration::from_secs(2), Duration::from_secs(2))), []);
        let mut lossy = Fault::LosePackets {
            target: ContenderName(0),
            direction: Direction::Both,
            rate: Rate::percent(37),
            length: Duration::from_secs(1),
        };
        assert!(Parts::of(&mut lossy).rate.is_some());
        let mut flaps = Fault::Flap {
            target: ContenderName(0),
            direction: Direction::Both,
            down: (Duration::from_millis(1), Duration::from_secs(3)),
            up: (Duration::from_secs(1), Duration::from_secs(1)),
            length: Duration::from_secs(9),
        };
        assert_eq!(Parts::of(&mut flaps).ranges.len(), 2);
    }
}
