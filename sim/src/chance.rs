//! Where decisions come from.

/// A source of decisions. Everything that chance decides in a run is asked here, so that it can be recorded,
/// replayed, shortened, and enumerated.
pub trait Chance {
    /// A number below `options`. Zero is the boring choice: first come first served, least delay, no fault.
    fn choose(&mut self, options: u32) -> u32;

    /// The same, for how long a message takes by a link of this number.
    fn choose_of(&mut self, _link: u32, options: u32) -> u32 {
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
