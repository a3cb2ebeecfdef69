//! What all copies of a handle share.

use super::{Data, Reply, Transport, Watches};
use crate::completion::Completions;

thread_local! {
    /// The data of most nodes. One is enough for all.
    static NOTHING: Data = Data::from([]);
}

/// The transport, and what answers and watches came in before, and others may again. It is all in one place, for every
/// request needs all of it: the alignment makes it, with what counts the copies, one line of the cache.
#[repr(align(16))]
pub(super) struct Session<T: ?Sized = dyn Transport> {
    pub(super) answers: Completions<Reply>,
    pub(super) watches: Watches,
    pub(super) transport: T,
}

/// These bytes as a node's data.
pub(super) fn data(bytes: &[u8]) -> Data {
    if bytes.is_empty() {
        return nothing();
    }
    bytes.into()
}

/// No bytes as a node's data.
pub(super) fn nothing() -> Data {
    NOTHING.with(Data::clone)
}
