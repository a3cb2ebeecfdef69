//! What was sent by a connection and is not answered yet.

use std::collections::VecDeque;

use picklock_checker::VirtualTime;

use super::wire::Pending;

/// Commands without an answer, in the order in which they were sent.
#[derive(Default)]
pub(super) struct Sent {
    /// `None` where nobody waits for the answer any more.
    queue: VecDeque<Option<Pending>>,
    /// For how many answers somebody waits.
    awaited: usize,
}

impl Sent {
    /// For how many answers somebody waits.
    #[inline]
    pub fn awaited(&self) -> usize {
        self.awaited
    }

    /// Whether no answer is to come, waited for or not.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// A command is sent.
    pub fn push(&mut self, pending: Pending) {
        self.queue.push_back(Some(pending));
        self.awaited += 1;
    }

    /// A word is sent that nobody waits for the answer of.
    pub fn push_unheard(&mut self) {
        self.queue.push_back(None);
    }

    /// The oldest command has its answer: whose it is, if anybody still waits for it.
    pub fn pop(&mut self) -> Option<Pending> {
        let pending = self.queue.pop_front().flatten()?;
        self.awaited -= 1;
        Some(pending)
    }

    /// Takes all that somebody waits for; no answers will come.
    pub fn take(&mut self) -> impl Iterator<Item = Pending> + use<> {
        std::mem::take(self).queue.into_iter().flatten()
    }

    /// Takes what has waited long enough and has no tries left, and answers it and whether any answer is late.
    pub fn take_late(&mut self, now: VirtualTime) -> (Vec<Pending>, bool) {
        let mut any = false;
        let mut over = Vec::new();
        for slot in &mut self.queue {
            over.extend(slot.take_if(|pending| {
                let is_late = pending.deadline <= now;
                any |= is_late;
                is_late && pending.tries_left == 0
            }));
        }
        self.awaited -= over.len();
        (over, any)
    }

    /// When the first of those who wait gives up.
    #[inline]
    pub fn deadline(&self) -> VirtualTime {
        if self.awaited == 0 {
            return VirtualTime::NEVER;
        }
        let deadlines = self.queue.iter().flatten().map(|pending| pending.deadline);
        deadlines.fold(VirtualTime::NEVER, VirtualTime::min)
    }
}
