//! Keys that are on their way to another node, and what waits until they are there.

use std::collections::VecDeque;

use picklock_checker::VirtualTime;
use picklock_clients::redis::Bytes;

use crate::clients::Transaction;
use crate::{ConnectionId, Input};

/// What a source waits for.
#[derive(Clone, Debug)]
pub(crate) struct Migration {
    pub(super) connection: ConnectionId,
    pub(super) number: u64,
    pub(super) keys: Vec<Bytes>,
    /// The keys stay here, too.
    pub(super) copy: bool,
    pub(super) until: VirtualTime,
    /// The transaction that is held up, if it is part of one.
    pub(super) transaction: Option<Transaction>,
    /// What has come meanwhile.
    pub(super) waiting: VecDeque<Input>,
}

impl Migration {
    /// Something has to wait until the keys have arrived.
    pub(crate) fn hold(&mut self, input: Input) {
        self.waiting.push_back(input);
    }

    /// What is left of a transaction has to wait until the keys have arrived.
    pub(crate) fn hold_up(&mut self, transaction: Transaction) {
        self.transaction = Some(transaction);
    }

    /// Whether it is part of a transaction.
    pub(crate) fn holds_up_transaction(&self) -> bool {
        self.transaction.is_some()
    }
}
