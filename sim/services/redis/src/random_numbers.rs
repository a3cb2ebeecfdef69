//! The random numbers of a server, which `RANDOMKEY` asks for. Where they begin is chosen from outside when a command
//! comes that may ask for one, so that runs without such commands have no choice more.

use picklock_clients::redis::Command;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::scripts::Scripts;

/// So many sequences of random numbers there are.
const SEQUENCES: u32 = 1 << 16;
const NAME: &[u8] = b"randomkey";

/// The random numbers of a server. Few ever ask for one.
#[derive(Clone, Debug, Default)]
pub(crate) struct RandomNumbers(Option<Box<ChaCha8Rng>>);

impl RandomNumbers {
    /// Begins one of the sequences, if this command may ask for a random number, or makes a script known that may.
    #[inline]
    pub(crate) fn begin(
        &mut self,
        command: &Command,
        scripts: &Scripts,
        choose: &mut dyn FnMut(u32) -> u32,
    ) {
        if may_ask(command, scripts) {
            *self = Self::sequence(choose(SEQUENCES));
        }
    }

    fn sequence(number: u32) -> Self {
        Self(Some(Box::new(ChaCha8Rng::seed_from_u64(number.into()))))
    }

    /// A number below this one, which is not zero.
    pub(crate) fn below(&mut self, options: usize) -> usize {
        if self.0.is_none() {
            *self = Self::sequence(0);
        }
        let number = self.0.as_mut().map_or(0, |it| it.next_u64());
        ((u128::from(number) * options as u128) >> 64) as usize
    }
}

/// Whether a command may ask for a random number. A script is looked at once, when it comes for the first time: whoever
/// calls it later by its SHA1 goes on in the sequence that began then.
fn may_ask(command: &Command, scripts: &Scripts) -> bool {
    let mentions = |index: usize| {
        let text = command.word(index).unwrap_or_default();
        let mut parts = text.windows(NAME.len());
        parts.any(|part| part.eq_ignore_ascii_case(NAME))
    };
    if command.is("EVAL") || command.is("EVAL_RO") {
        let is_new = command.word(1).is_some_and(|text| scripts.is_new(text));
        return is_new && mentions(1);
    }
    command.is("RANDOMKEY") || (command.is("SCRIPT") && mentions(2))
}
