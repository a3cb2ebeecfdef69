//! The random numbers of a server, which `RANDOMKEY` asks for. Where they begin is chosen from outside when a command
//! comes that may ask for one, so that runs without such commands have no choice more.

mod begin;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// So many sequences of random numbers there are.
const SEQUENCES: u32 = 1 << 16;

/// The random numbers of a server. Few ever ask for one.
#[derive(Clone, Debug, Default)]
pub(crate) struct RandomNumbers(Option<Box<ChaCha8Rng>>);

impl RandomNumbers {
    fn sequence(number: u32) -> Self {
        Self(Some(Box::new(ChaCha8Rng::seed_from_u64(number.into()))))
    }

    /// A number below this one, which is not zero.
    pub(crate) fn below(&mut self, options: usize) -> usize {
        if self.0.is_none() {
            *self = Self::sequence(0);
        }
        let number = self.0.as_mut().map_or(0, |generator| generator.next_u64());
        ((u128::from(number) * options as u128) >> 64) as usize
    }
}
