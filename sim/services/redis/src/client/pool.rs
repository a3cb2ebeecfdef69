//! Pools of connections: a command checks one out, has it for itself, and gives it back with its answer.
//!
//! The connection that was given back last is handed out first, as in redis-py and Jedis. If all are out, the command
//! waits, for as long as for an answer, and then fails without having been sent. A connection that has broken without a
//! word is handed out like any other. A dedicated connection of a recipe is not of the pool.

use picklock_checker::VirtualTime;
use picklock_clients::redis::Lane;

use super::connection::{LaneTarget, Phase, Wire};
use super::pending::Pending;
use super::{Client, ConnectionMode, Output};

/// A command that waits for a connection.
pub(super) struct Queued {
    lane: Lane,
    target: LaneTarget,
    pending: Pending,
}

impl Queued {
    /// When it is given up.
    pub fn deadline(&self) -> VirtualTime {
        self.pending.deadline
    }
}

impl Client {
    /// A command goes by a lane, or waits for a connection.
    pub(super) fn send_by(
        &mut self,
        lane: Lane,
        target: LaneTarget,
        pending: Pending,
        out: &mut Vec<Output>,
    ) {
        match self.checked_out(lane, &target) {
            Some(place) => self.wires[place].submit(pending, out),
            None => self.queued.push(Queued {
                lane,
                target,
                pending,
            }),
        }
    }

    /// The place of the wire that a command of a lane may have: the only one, or a free one.
    fn checked_out(&mut self, lane: Lane, target: &LaneTarget) -> Option<usize> {
        let size = match self.settings.connections {
            ConnectionMode::Pool(size) if lane.is_shared() => usize::from(size),
            ConnectionMode::Pool(_) | ConnectionMode::Multiplexed => {
                return Some(self.wire(lane, target));
            }
        };
        let is_of_pool = |wire: &Wire| wire.lane == lane && wire.target == *target;
        let of_pool = self.wires.iter().enumerate();
        let of_pool = of_pool.filter(|(_, wire)| is_of_pool(wire));
        let made = of_pool.clone().count();
        let free = of_pool.filter(|(_, wire)| wire.is_free());
        // An open connection is better than one that has to be made again.
        let best =
            free.max_by_key(|(_, wire)| (matches!(wire.phase, Phase::Open(_)), wire.given_back));
        let index = match best {
            Some((index, _)) => index,
            None if made < size => self.another_wire(lane, target),
            None => return None,
        };
        self.wires[index].is_out = true;
        Some(index)
    }

    /// Takes back the connections whose commands are answered, and hands them out to commands that wait.
    pub(super) fn hand_out(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        if self.settings.connections == ConnectionMode::Multiplexed {
            return;
        }
        let is_back = |wire: &&mut Wire| wire.is_out && wire.is_free();
        for wire in self.wires.iter_mut().filter(is_back) {
            self.given_back += 1;
            wire.is_out = false;
            wire.given_back = self.given_back;
        }
        for mut queued in std::mem::take(&mut self.queued) {
            match self.checked_out(queued.lane, &queued.target) {
                Some(index) => {
                    // From now on it waits for the answer.
                    queued.pending.wait_from(now, &self.settings);
                    self.wires[index].submit(queued.pending, out);
                }
                None => self.queued.push(queued),
            }
        }
    }

    /// Gives up on what has waited for a connection for long enough.
    pub(super) fn give_up_queued(&mut self, now: VirtualTime) {
        let is_late = |queued: &mut Queued| queued.deadline() <= now;
        for late in self.queued.extract_if(.., is_late) {
            late.pending.give_up();
        }
    }
}
