//! What all copies of a handle share.

use super::{Reply, Transport, Watches};
use crate::completion::Completions;

/// The transport, and what answers and watches came in before, and others may again. It is all in one place, for every
/// request needs all of it: the alignment makes it, with what counts the copies, one line of the cache.
#[repr(align(16))]
pub(super) struct Session<T: ?Sized = dyn Transport> {
    pub(super) answers: Completions<Reply>,
    pub(super) watches: Watches,
    pub(super) transport: T,
}
