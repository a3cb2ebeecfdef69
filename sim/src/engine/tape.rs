//! The tape: every decision of a run, in order.

use picklock_machines::{Chance, Message};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::strategy::{Chooser, Strategy};
use super::uniform::below;

/// Every decision of a run goes through one tape, which records it. A seed fills the tape; a recorded tape replays
/// it; and a tape that has come to its end gives zeros, the boring choices.
#[derive(Clone, Debug)]
pub struct Tape {
    choices: Vec<u32>,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    /// That of most runs.
    Seed(Box<ChaCha8Rng>),
    Other(Other),
}

#[derive(Clone, Debug)]
enum Other {
    Strategy(Box<Chooser>),
    Recorded(Vec<u32>),
    Branched {
        kept: Vec<u32>,
        random: Box<ChaCha8Rng>,
    },
}

impl Tape {
    /// A tape that a seed fills.
    pub fn from_seed(seed: u64) -> Self {
        let source = Source::Seed(Box::new(ChaCha8Rng::seed_from_u64(seed)));
        Self {
            choices: Vec::with_capacity(2_048),
            source,
        }
    }

    /// A tape that a seed fills in the way of a strategy.
    pub fn explored(strategy: Strategy, seed: u64) -> Self {
        if strategy == Strategy::Even {
            return Self::from_seed(seed);
        }
        let source = Source::Other(Other::Strategy(Box::new(Chooser::new(strategy, seed))));
        Self {
            choices: Vec::with_capacity(2_048),
            source,
        }
    }

    /// A tape that was recorded before, or made up.
    pub fn recorded(choices: Vec<u32>) -> Self {
        let capacity = choices.len();
        let source = Source::Other(Other::Recorded(choices));
        Self {
            choices: Vec::with_capacity(capacity),
            source,
        }
    }

    /// A tape that goes as one that was recorded for a while, and from there on as a seed fills it.
    pub fn branched(kept: Vec<u32>, seed: u64) -> Self {
        let random = Box::new(ChaCha8Rng::seed_from_u64(seed));
        Self {
            choices: Vec::with_capacity(512),
            source: Source::Other(Other::Branched { kept, random }),
        }
    }

    /// The choices made so far.
    pub fn choices(&self) -> &[u32] {
        &self.choices
    }

    /// Gives up the tape for what is on it.
    pub fn into_choices(self) -> Vec<u32> {
        self.choices
    }

    /// A random number of 64 bits: two choices.
    pub fn number(&mut self) -> u64 {
        let high = u64::from(self.choose(u32::MAX));
        high << 32 | u64::from(self.choose(u32::MAX))
    }
}

impl Chance for Tape {
    fn choose(&mut self, options: u32) -> u32 {
        self.next(None, options)
    }

    fn choose_of(&mut self, message: Message, options: u32) -> u32 {
        self.next(Some(message), options)
    }
}

impl Tape {
    #[inline(always)]
    fn next(&mut self, message: Option<Message>, options: u32) -> u32 {
        if options <= 1 {
            return 0;
        }
        let choice = match &mut self.source {
            // Asked for with every message: this is written where it is asked for.
            Source::Seed(random) => below(options, random),
            Source::Other(other) => other.next(self.choices.len(), message, options),
        };
        self.choices.push(choice);
        choice
    }
}

impl Other {
    /// The next choice after so many.
    #[inline(never)]
    fn next(&mut self, made: usize, message: Option<Message>, options: u32) -> u32 {
        match self {
            Self::Strategy(chooser) => chooser.choose(message, options),
            Self::Branched { kept, random } => match kept.get(made) {
                Some(choice) => (*choice).min(options - 1),
                None => below(options, random),
            },
            // A tape that was made up may ask for more than there is.
            Self::Recorded(choices) => {
                let choice = choices.get(made).copied().unwrap_or(0);
                choice.min(options - 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_tape_makes_the_same_choices_again() {
        let mut tape = Tape::from_seed(7);
        let first: Vec<u32> = (1..200).map(|options| tape.choose(options)).collect();
        let mut again = Tape::recorded(tape.into_choices());
        assert_eq!(
            (1..200)
                .map(|options| again.choose(options))
                .collect::<Vec<_>>(),
            first
        );
    }

    #[test]
    fn a_tape_that_has_come_to_its_end_is_boring() {
        let mut tape = Tape::recorded(vec![3, 9]);
        assert_eq!([tape.choose(5), tape.choose(5), tape.choose(5)], [3, 4, 0]);
    }

    #[test]
    fn a_branched_tape_is_the_old_one_and_then_that_of_a_seed() {
        let mut tape = Tape::branched(vec![3, 9], 0);
        let choices: Vec<u32> = (0..4).map(|_| tape.choose(1_000)).collect();
        assert_eq!(
            choices,
            [3, 9, FIRST_OF_SEED_ZERO[0], FIRST_OF_SEED_ZERO[1]]
        );
    }

    #[test]
    fn the_same_seed_makes_the_same_choices_for_ever() {
        let mut tape = Tape::from_seed(0);
        let choices: Vec<u32> = (0..6).map(|_| tape.choose(1_000)).collect();
        // If this changes, every seed that was written down means something else: say so in CHANGELOG.md.
        assert_eq!(choices, FIRST_OF_SEED_ZERO);
    }

    const FIRST_OF_SEED_ZERO: [u32; 6] = [654, 709, 729, 465, 507, 699];
}
