//! Even choices.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// One of so many options: the high half of a 32 by 32 bit product, which is even enough, and the same on every
/// machine.
pub(super) fn below(options: u32, random: &mut ChaCha8Rng) -> u32 {
    ((u64::from(random.next_u32()) * u64::from(options)) >> 32) as u32
}
