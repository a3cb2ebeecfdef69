//! Memory that a handle uses again.

use super::{Data, Reply, Watches};
use crate::clients::completion::Completions;

/// What answers and watches came in before, and others may again.
#[derive(Default)]
pub(super) struct Spare {
    pub(super) answers: Completions<Reply>,
    pub(super) watches: Watches,
    /// The data of most nodes.
    nothing: Data,
}

impl Spare {
    /// These bytes as a node's data.
    pub(super) fn data(&self, bytes: &[u8]) -> Data {
        if bytes.is_empty() {
            return Data::clone(&self.nothing);
        }
        bytes.into()
    }
}
