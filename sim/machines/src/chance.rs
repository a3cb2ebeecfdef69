//! The source of every decision that a machine does not make itself.

use picklock_checker::VirtualTime;

/// A source of decisions. Everything that chance decides in a run is asked here, so that it can be recorded,
/// replayed, shortened, and enumerated.
pub trait Chance {
    /// A number below `options`. Zero is the boring choice: first come first served, least delay, no fault.
    fn choose(&mut self, options: u32) -> u32;

    /// The same, for how long a message takes.
    fn choose_of(&mut self, _message: Message, options: u32) -> u32 {
        self.choose(options)
    }
}

/// A message on its way, as far as strategies look at it.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// The link that it takes.
    pub link: Link,
    /// When it leaves.
    pub departs: VirtualTime,
}

/// A way that messages take, in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its number: small, and no other's.
    pub number: u32,
    /// Where its messages meet those of other links: a small number of the place.
    pub destination: u32,
}

/// Always takes the boring choice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Boring;

impl Chance for Boring {
    fn choose(&mut self, _options: u32) -> u32 {
        0
    }
}
