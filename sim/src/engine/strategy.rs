//! Strategies: the distributions by which a seed fills the tape.
//!
//! Even odds try everything about equally, and so they seldom try what takes many unlikely delays of one kind. The
//! other strategies are unlike that, each in its own way. Whatever one chooses is on the tape, so a run is replayed and
//! shrunk without it.

use picklock_machines::Message;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::uniform::below;

/// How a seed fills a tape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strategy {
    /// Every choice with even odds.
    #[default]
    Even,
    /// Every choice is the least or the most that there is.
    Extremes,
    /// The boring choice, but for so many, which are the most that there is. After delay-bounded scheduling: Emmi,
    /// Qadeer, Rakamarić, POPL 2011.
    Delays(u32),
    /// Every link is as slow as it is from the first message on, but for so many changes. After the priorities of PCT:
    /// Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010, with links in the place of threads.
    Priorities(u32),
    /// Of the orders in which the messages on their way to one place can arrive, each is about as likely as any other,
    /// whenever they left. After partial-order sampling: Yuan, Yang, Gu, CAV 2018.
    Orders,
}

/// A strategy at work.
#[derive(Clone, Debug)]
pub(super) struct Chooser {
    strategy: Strategy,
    random: ChaCha8Rng,
    /// The choices that are out of the ordinary, by their number, descending.
    changes: Vec<u32>,
    made: u32,
    /// By link: how slow it is, of `u32::MAX`.
    slowness: Vec<Option<u32>>,
    /// By place: when the messages on their way to it arrive, ascending, as if none took less than nothing.
    arriving: Vec<Vec<u64>>,
}

/// More options than this are no decision between things that happen, but a random number that is asked for.
const NUMBERS: u32 = u32::MAX;

impl Chooser {
    pub(super) fn new(strategy: Strategy, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let changes = match strategy {
            Strategy::Even | Strategy::Extremes | Strategy::Orders => 0,
            Strategy::Delays(changes) | Strategy::Priorities(changes) => changes,
        };
        // How long the run will be is not known: each order of magnitude has even odds.
        let reach = 16_u32 << below(9, &mut random);
        let mut changes: Vec<u32> = (0..changes).map(|_| below(reach, &mut random)).collect();
        changes.sort_unstable_by_key(|change| std::cmp::Reverse(*change));
        Self {
            strategy,
            random,
            changes,
            made: 0,
            slowness: Vec::new(),
            arriving: Vec::new(),
        }
    }

    /// Chooses; `message` if it is how long one takes.
    pub(super) fn choose(&mut self, message: Option<Message>, options: u32) -> u32 {
        if options == NUMBERS {
            return below(options, &mut self.random);
        }
        let most = options - 1;
        match self.strategy {
            Strategy::Even => below(options, &mut self.random),
            Strategy::Extremes => most * below(2, &mut self.random),
            Strategy::Delays(_) => match self.is_change() {
                true => most,
                false => 0,
            },
            Strategy::Priorities(_) => {
                let change = self.is_change();
                match message {
                    Some(message) => self.of_link(message.link.number as usize, options, change),
                    None => below(options, &mut self.random),
                }
            }
            Strategy::Orders => match message {
                Some(Message { link, departs }) => {
                    self.among(link.destination as usize, departs.micros(), options)
                }
                None => below(options, &mut self.random),
            },
        }
    }

    fn of_link(&mut self, link: usize, options: u32, change: bool) -> u32 {
        if link >= self.slowness.len() {
            self.slowness.resize(link + 1, None);
        }
        let random = &mut self.random;
        let slowness = self.slowness[link].get_or_insert_with(|| random.next_u32());
        if change {
            *slowness = u32::MAX;
        }
        ((u64::from(*slowness) * u64::from(options)) >> 32) as u32
    }

    /// Takes a place in the order of those that arrive there, each with even odds, and some time in it.
    fn among(&mut self, index: usize, leaves: u64, options: u32) -> u32 {
        if index >= self.arriving.len() {
            self.arriving.resize(index + 1, Vec::new());
        }
        let arriving = &mut self.arriving[index];
        arriving.retain(|at| *at >= leaves);
        let last = leaves + u64::from(options - 1);
        let reach = arriving.partition_point(|at| *at < last);
        let slot = below(reach as u32 + 1, &mut self.random) as usize;
        let from = if slot == 0 {
            leaves
        } else {
            arriving[slot - 1]
        };
        let until = if slot == reach { last } else { arriving[slot] };
        let width = u32::try_from(until - from).unwrap_or(u32::MAX - 1);
        let at = from + u64::from(below(width + 1, &mut self.random));
        let index = arriving.partition_point(|known| *known <= at);
        arriving.insert(index, at);
        u32::try_from(at - leaves).unwrap_or(u32::MAX)
    }

    fn is_change(&mut self) -> bool {
        let now = self.made;
        self.made = self.made.saturating_add(1);
        let mut change = false;
        while self.changes.last().is_some_and(|next| *next <= now) {
            self.changes.pop();
            change = true;
        }
        change
    }
}

#[cfg(test)]
mod tests {
    use picklock_checker::VirtualTime;

    use super::*;

    use picklock_machines::Link;

    /// A message by the link of this number. All links lead to one place.
    fn by(number: u32, departs: VirtualTime) -> Message {
        let destination = 0;
        let link = Link {
            number,
            destination,
        };
        Message { link, departs }
    }

    fn chosen(strategy: Strategy, seed: u64) -> Vec<u32> {
        let mut chooser = Chooser::new(strategy, seed);
        let message = |index: u32| Some(by(index % 3, VirtualTime::ZERO));
        (0..3_000)
            .map(|index| chooser.choose(message(index), 100))
            .collect()
    }

    #[test]
    fn extremes_are_the_least_and_the_most_and_both() {
        let chosen = chosen(Strategy::Extremes, 7);
        assert!(chosen.iter().all(|choice| [0, 99].contains(choice)));
        let most = chosen.iter().filter(|choice| **choice == 99).count();
        assert!((1_300..1_700).contains(&most), "{most}");
    }

    #[test]
    fn delays_are_as_many_as_there_may_be() {
        for seed in 0..50 {
            let delayed = chosen(Strategy::Delays(3), seed).into_iter();
            let delayed: Vec<u32> = delayed.filter(|choice| *choice != 0).collect();
            assert!((1..=3).contains(&delayed.len()), "{delayed:?}");
            assert!(delayed.iter().all(|choice| *choice == 99));
        }
    }

    #[test]
    fn a_link_stays_as_slow_as_it_is_but_for_the_changes() {
        for seed in 0..50 {
            let chosen = chosen(Strategy::Priorities(2), seed);
            let changes = |link: usize| {
                let of_link: Vec<u32> = chosen.iter().skip(link).step_by(3).copied().collect();
                of_link.windows(2).filter(|pair| pair[0] != pair[1]).count()
            };
            assert!((0..3).map(changes).sum::<usize>() <= 2, "seed {seed}");
        }
        let first: Vec<u32> = (0..50)
            .map(|seed| chosen(Strategy::Priorities(2), seed)[0])
            .collect();
        assert!(first.iter().any(|choice| *choice != first[0]));
    }

    #[test]
    fn one_that_leaves_late_overtakes_as_often_as_it_does_not() {
        let overtakes = |strategy, seed| {
            let mut chooser = Chooser::new(strategy, seed);
            let at = VirtualTime::from_micros;
            let early = chooser.choose(Some(by(1, at(0))), 100);
            90 + chooser.choose(Some(by(2, at(90))), 100) < early
        };
        let count = |strategy| {
            (0..10_000)
                .filter(|seed| overtakes(strategy, *seed))
                .count()
        };
        let (orders, even) = (count(Strategy::Orders), count(Strategy::Even));
        // One in ten is still on its way by then.
        assert!((300..600).contains(&orders), "{orders}");
        assert!(even * 4 < orders, "{even}, {orders}");
    }

    #[test]
    fn numbers_stay_random_whatever_the_strategy() {
        for strategy in [
            Strategy::Extremes,
            Strategy::Delays(1),
            Strategy::Priorities(1),
            Strategy::Orders,
        ] {
            let mut chooser = Chooser::new(strategy, 1);
            let numbers: Vec<u32> = (0..4).map(|_| chooser.choose(None, NUMBERS)).collect();
            assert!(
                numbers.windows(2).all(|pair| pair[0] != pair[1]),
                "{numbers:?}"
            );
        }
    }
}
