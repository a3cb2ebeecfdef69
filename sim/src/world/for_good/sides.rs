//! The sides into which the machines of the service have fallen for good.

use crate::network::{ServerId, Side};
use crate::world::SimulatedService;
use crate::world::World;

impl<S: SimulatedService> World<S> {
    /// The machines that are not gone, in groups that hear each other, the largest first. `None` if hearing is
    /// one-sided, or a group hears some but not all of another.
    pub(crate) fn sides(&self) -> Option<Vec<Side>> {
        let machines = (0..self.plan.service.machines()).map(ServerId);
        let mut left: Vec<ServerId> = machines
            .filter(|machine| !self.is_server_gone_for_good(*machine))
            .collect();
        let mut sides = Vec::new();
        while let Some(first) = left.first().copied() {
            let with = |other: &ServerId| *other == first || self.are_connected(first, *other);
            let (side, rest): (Side, Side) = left.into_iter().partition(with);
            let within = side.iter().all(|one| {
                side.iter()
                    .all(|other| one == other || self.are_connected(*one, *other))
            });
            let apart = side
                .iter()
                .all(|one| rest.iter().all(|other| self.are_apart(*one, *other)));
            if !within || !apart {
                return None;
            }
            sides.push(side);
            left = rest;
        }
        sides.sort_by_key(|side| std::cmp::Reverse(side.len()));
        Some(sides)
    }

    fn are_connected(&self, one: ServerId, other: ServerId) -> bool {
        !self.links.is_dead(one, other) && !self.links.is_dead(other, one)
    }

    fn are_apart(&self, one: ServerId, other: ServerId) -> bool {
        self.links.is_dead(one, other) && self.links.is_dead(other, one)
    }
}
