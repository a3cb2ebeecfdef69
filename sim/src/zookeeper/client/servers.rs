//! The list of servers, and whose turn it is.

use crate::chance::Chance;
use crate::zookeeper::messages::ServerId;

/// A list that was shuffled once, and is gone round in circles.
pub(super) struct Servers {
    order: Box<[ServerId]>,
    current: u8,
    /// Where the circle closes: the server of the last session that came about, or the first.
    last: Option<u8>,
}

impl Servers {
    pub(super) fn new(count: u8, chance: &mut dyn Chance) -> Self {
        let count = count.max(1);
        let mut order: Box<[ServerId]> = (0..count).map(ServerId).collect();
        for place in 0..order.len() - 1 {
            let left = (order.len() - place) as u32;
            order.swap(place, place + chance.choose(left) as usize);
        }
        Self {
            order,
            current: count - 1,
            last: None,
        }
    }

    /// Goes on to the next. True if that closes the circle.
    pub(super) fn advance(&mut self) -> bool {
        self.current = if usize::from(self.current) + 1 == self.order.len() {
            0
        } else {
            self.current + 1
        };
        let closed = self.last == Some(self.current);
        self.last.get_or_insert(0);
        closed
    }

    /// The current one has accepted us.
    pub(super) fn accepted(&mut self) {
        self.last = Some(self.current);
    }

    pub(super) fn current(&self) -> ServerId {
        self.order[usize::from(self.current)]
    }

    pub(super) fn count(&self) -> u64 {
        self.order.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Boring;

    #[test]
    fn a_circle_closes_where_the_last_session_came_about() {
        let mut servers = Servers::new(3, &mut Boring);
        let turns: Vec<bool> = (0..4).map(|_| servers.advance()).collect();
        assert_eq!(turns, [false, false, false, true]);
        servers.advance();
        servers.accepted();
        let turns: Vec<bool> = (0..3).map(|_| servers.advance()).collect();
        assert_eq!(turns, [false, false, true]);
        assert_eq!(servers.current(), ServerId(1));
    }

    #[test]
    fn a_single_server_closes_the_circle_from_the_second_attempt_on() {
        let mut servers = Servers::new(1, &mut Boring);
        assert!(!servers.advance());
        assert!(servers.advance());
    }
}
