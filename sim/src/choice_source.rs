//! Where decisions come from.

use picklock_checker::VirtualTime;

/// A source of decisions. Everything that chance decides in a run is asked here, so that it can be recorded,
/// replayed, shortened, and enumerated.
pub trait Chance {
    /// A number below `options`. Zero is the boring choice: first come first served, least delay, no fault.
    fn choose(&mut self, options: u32) -> u32;

    /// The same, for how long a message takes that leaves by a link of this number at this time.
    fn choose_of(&mut self, _message: (u32, VirtualTime), options: u32) -> u32 {
        self.choose(options)
    }
}

/// Always takes the boring choice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Boring;

impl Chance for Boring {
    fn choose(&mut self, _options: u32) -> u32 {
        0
    }
}
