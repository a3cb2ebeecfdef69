//! Asking for memory before it is needed.
//!
//! When ten thousand contenders are woken one after the other, the memory of each has left the cache by the time it
//! is its turn. Who knows whose turn comes next asks for the memory meanwhile. Nothing that a run does depends on it.

use prefetch_index::prefetch_index;

/// What comes in one piece.
const LINE: usize = 64;
/// No more than this is asked for, from the start: what a task needs to know where it has stopped comes first.
const MOST: usize = 2 * LINE;

/// Where something lies, and how large it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    address: usize,
    size: usize,
}

impl Place {
    /// The place of something.
    pub fn of<T: ?Sized>(thing: &T) -> Self {
        Self {
            address: std::ptr::from_ref(thing).cast::<u8>().addr(),
            size: size_of_val(thing),
        }
    }

    /// Asks for it.
    #[inline]
    pub fn ask(self) {
        let nothing: &[u8] = &[];
        let start = nothing.as_ptr().addr();
        let last = self.address + self.size.clamp(1, MOST) - 1;
        let mut line = self.address & !(LINE - 1);
        while line <= last {
            prefetch_index(nothing, line.wrapping_sub(start));
            line += LINE;
        }
    }
}

/// Asks for something that will be needed soon.
#[inline]
pub fn ask_for<T: ?Sized>(thing: &T) {
    Place::of(thing).ask();
}

/// Asks for the line where something begins.
#[inline]
pub fn ask_for_start<T: ?Sized>(thing: &T) {
    let nothing: &[u8] = &[];
    let line = std::ptr::from_ref(thing).cast::<u8>().addr();
    prefetch_index(nothing, line.wrapping_sub(nothing.as_ptr().addr()));
}
