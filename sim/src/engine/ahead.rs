//! Asking for memory before it is needed. Nothing that a run does depends on it.

use prefetch_index::prefetch_index;

/// Asks for the line of the cache where something begins that will be needed soon.
#[inline]
pub fn ask_for<T>(thing: &T) {
    let nothing: &[u8] = &[];
    let line = std::ptr::from_ref(thing).addr();
    prefetch_index(nothing, line.wrapping_sub(nothing.as_ptr().addr()));
}
