//! Which commands may ask for a random number.

use picklock_clients::redis::Command;
use picklock_machines::Chance;

use super::{RandomNumbers, SEQUENCES};
use crate::Server;
use crate::scripts::Scripts;

const NAME: &[u8] = b"randomkey";

impl Server {
    /// Begins another sequence of random numbers, if this command may ask for one, or makes a script known that may.
    #[inline]
    pub(crate) fn begin_random_numbers(&mut self, command: &Command, chance: &mut dyn Chance) {
        if may_ask(command, &self.scripts) {
            self.core.random = RandomNumbers::sequence(chance.choose(SEQUENCES));
        }
    }
}

/// Whether a command may ask for a random number. A script is looked at once, when it comes for the first time: later
/// calls by its SHA1 go on in the sequence that began then.
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
