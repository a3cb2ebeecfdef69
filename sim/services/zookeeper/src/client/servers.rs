//! The list of servers, whose turn it is, and how long a client sleeps before it tries.

use picklock_machines::Chance;

use super::ZooKeeperClientConfig;
use crate::client_profile::{KAZOO_LONGEST_PAUSE, Library};
use crate::messages::ServerId;

/// kazoo's first pause after a full circle.
const KAZOO_FIRST: u64 = 100_000;
/// What the pauses of a Rust client are made of, and how long the first can be for one server.
const RUST_UNIT: u64 = 100_000;
const RUST_LONGEST_UNIT: u64 = 1_000_000;
/// How often a Rust client doubles its pause at most. Its session is over long before.
const RUST_DOUBLINGS: u32 = 16;

/// A list that is gone round in circles.
pub(super) struct Servers {
    order: Box<[ServerId]>,
    current: u8,
    /// Where the circle closes for a Java or a Go client: the server of the last session that came about, or the first.
    last: Option<u8>,
    /// Whether kazoo has begun with its first round.
    begun: bool,
    /// How often a Rust client has tried since there was a connection.
    tries: u32,
    /// What kazoo's next pause is drawn from.
    pause: u64,
}

impl Servers {
    pub(super) fn new(count: u8, chance: &mut dyn Chance) -> Self {
        let count = count.max(1);
        let mut servers = Self {
            order: (0..count).map(ServerId).collect(),
            current: count - 1,
            last: None,
            begun: false,
            tries: 0,
            pause: KAZOO_FIRST,
        };
        servers.shuffle(chance);
        servers
    }

    fn shuffle(&mut self, chance: &mut dyn Chance) {
        for index in 0..self.order.len() - 1 {
            let left = (self.order.len() - index) as u32;
            let other = index + chance.choose(left) as usize;
            self.order.swap(index, other);
        }
    }

    /// Goes on to the next. Answers how long to sleep before it is tried.
    pub(super) fn advance(
        &mut self,
        settings: &ZooKeeperClientConfig,
        opened_before: bool,
        chance: &mut dyn Chance,
    ) -> u64 {
        match settings.library {
            Library::Java => {
                let mut sleep = 0;
                if self.closes_circle() {
                    sleep += settings.circle_pause;
                }
                sleep + Self::jitter(settings, opened_before, chance)
            }
            Library::Kazoo => self.advance_kazoo(chance),
            Library::Rust => self.advance_rust(chance),
            Library::Go if self.closes_circle() => settings.circle_pause,
            Library::Go => 0,
        }
    }

    /// How long a Java client sleeps before it tries whatever server.
    pub(super) fn jitter(
        settings: &ZooKeeperClientConfig,
        opened_before: bool,
        chance: &mut dyn Chance,
    ) -> u64 {
        let choices = u32::try_from(settings.reconnect_jitter / 1_000).unwrap_or(u32::MAX);
        if opened_before && choices > 1 {
            u64::from(chance.choose(choices)) * 1_000
        } else {
            0
        }
    }

    /// Goes on to the next, which is only asked something.
    pub(super) fn pass(&mut self) -> ServerId {
        self.step();
        self.current()
    }

    /// Shuffles once, and goes round for ever.
    fn closes_circle(&mut self) -> bool {
        self.step();
        let closed = self.last == Some(self.current);
        self.last.get_or_insert(0);
        closed
    }

    /// Goes through the list without a pause. At its end it sleeps, every time longer, and shuffles.
    fn advance_kazoo(&mut self, chance: &mut dyn Chance) -> u64 {
        self.step();
        if self.current > 0 || !std::mem::replace(&mut self.begun, true) {
            return 0;
        }
        self.shuffle(chance);
        // From six to fourteen tenths.
        let sleep = self.pause * (600 + u64::from(chance.choose(801))) / 1_000;
        self.pause = (2 * sleep).min(KAZOO_LONGEST_PAUSE);
        sleep
    }

    /// Shuffles after each connection, goes round once without a pause, and then with pauses that grow.
    fn advance_rust(&mut self, chance: &mut dyn Chance) -> u64 {
        if self.tries == 0 {
            self.shuffle(chance);
            self.current = self.order.len() as u8 - 1;
        }
        self.step();
        let count = self.order.len() as u64;
        let (round, index) = (u64::from(self.tries) / count, u64::from(self.tries) % count);
        self.tries += 1;
        let mut jitter = |millis| u64::from(chance.choose(millis)) * 1_000;
        match (round, index) {
            (0, _) => 0,
            (round, 0) => {
                let doublings = u32::try_from(round - 1).unwrap_or(u32::MAX);
                let first = (RUST_UNIT * count).min(RUST_LONGEST_UNIT);
                (first << doublings.min(RUST_DOUBLINGS)) + jitter(100)
            }
            (_, index) => RUST_UNIT * index / 2 + jitter(50),
        }
    }

    fn step(&mut self) {
        self.current = if usize::from(self.current) + 1 == self.order.len() {
            0
        } else {
            self.current + 1
        };
    }

    /// The current one has accepted us.
    pub(super) fn accepted(&mut self) {
        self.last = Some(self.current);
        self.pause = KAZOO_FIRST;
        self.tries = 0;
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
    use picklock_machines::Boring;

    use super::*;
    use crate::version::Version;

    #[test]
    fn a_circle_closes_where_the_last_session_came_about() {
        let mut servers = Servers::new(3, &mut Boring);
        let turns: Vec<bool> = (0..4).map(|_| servers.closes_circle()).collect();
        assert_eq!(turns, [false, false, false, true]);
        servers.closes_circle();
        servers.accepted();
        let turns: Vec<bool> = (0..3).map(|_| servers.closes_circle()).collect();
        assert_eq!(turns, [false, false, true]);
        assert_eq!(servers.current(), ServerId(1));
    }

    #[test]
    fn a_single_server_closes_the_circle_from_the_second_attempt_on() {
        let mut servers = Servers::new(1, &mut Boring);
        assert!(!servers.closes_circle());
        assert!(servers.closes_circle());
    }

    /// Sleeps before the attempts, in milliseconds.
    fn sleeps(library: Library, servers: &mut Servers, attempts: usize) -> Vec<u64> {
        let settings = ZooKeeperClientConfig::new(6_000_000, 3).of(library, Version::default());
        let next = |_| servers.advance(&settings, true, &mut Boring) / 1_000;
        (0..attempts).map(next).collect()
    }

    #[test]
    fn kazoo_goes_through_its_list_at_once_and_sleeps_longer_after_each_round() {
        let mut servers = Servers::new(3, &mut Boring);
        let library = Library::Kazoo;
        assert_eq!(sleeps(library, &mut servers, 7), [0, 0, 0, 60, 0, 0, 72]);
        servers.accepted();
        assert_eq!(sleeps(library, &mut servers, 3), [0, 0, 60], "as at first");
    }

    #[test]
    fn a_rust_client_tries_every_server_at_once_after_each_loss_and_then_ever_more_seldom() {
        let mut servers = Servers::new(3, &mut Boring);
        let library = Library::Rust;
        let rounds = [0, 0, 0, 300, 50, 100, 600];
        assert_eq!(sleeps(library, &mut servers, 7), rounds);
        servers.accepted();
        assert_eq!(sleeps(library, &mut servers, 4), [0, 0, 0, 300]);
    }

    #[test]
    fn a_go_client_goes_round_its_list_and_sleeps_for_a_second_where_the_circle_closes() {
        let mut servers = Servers::new(3, &mut Boring);
        let library = Library::Go;
        assert_eq!(sleeps(library, &mut servers, 2), [0, 0]);
        servers.accepted();
        let from_the_next_on = [0, 0, 1_000, 0, 0, 1_000];
        assert_eq!(sleeps(library, &mut servers, 6), from_the_next_on);
        let mut alone = Servers::new(1, &mut Boring);
        assert_eq!(sleeps(library, &mut alone, 3), [0, 1_000, 1_000]);
    }
}
