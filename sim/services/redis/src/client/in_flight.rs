//! What was sent by a connection and is not answered yet.

use std::collections::VecDeque;

use picklock_checker::VirtualTime;

use super::pending::Pending;

/// Commands without an answer, in the order in which they were sent. Those whose answer is not awaited any more are
/// only counted: a server that stands still for a day leaves a hundred thousand of them.
#[derive(Default)]
pub(super) struct InFlight {
    queue: VecDeque<InFlightCommand>,
    /// How many commands with no awaited answer were sent behind the last of the queue.
    untracked: u64,
}

/// A command with an awaited answer.
struct InFlightCommand {
    pending: Pending,
    /// How many commands with no awaited answer were sent between the one before and it.
    untracked_before: u64,
}

impl InFlight {
    /// How many answers are awaited.
    #[inline]
    pub fn awaited(&self) -> usize {
        self.queue.len()
    }

    /// Whether the next answer is awaited, and its caller has not dropped it.
    pub fn next_is_awaited(&self) -> bool {
        let first = self.queue.front();
        first.is_some_and(|first| {
            first.untracked_before == 0 && first.pending.completion.is_awaited()
        })
    }

    /// Whether no answer is to come, waited for or not.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.untracked == 0
    }

    /// A command is sent.
    pub fn push(&mut self, pending: Pending) {
        self.queue.push_back(InFlightCommand {
            pending,
            untracked_before: std::mem::take(&mut self.untracked),
        });
    }

    /// A word is sent whose answer is not awaited.
    pub fn push_untracked(&mut self) {
        self.untracked += 1;
    }

    /// The oldest command has its answer: the command, if its answer is still awaited.
    pub fn pop(&mut self) -> Option<Pending> {
        let untracked = match self.queue.front_mut() {
            Some(first) => &mut first.untracked_before,
            None => &mut self.untracked,
        };
        if let Some(fewer) = untracked.checked_sub(1) {
            *untracked = fewer;
            return None;
        }
        self.queue.pop_front().map(|first| first.pending)
    }

    /// Takes all commands with an awaited answer; no answers will come.
    pub fn take(&mut self) -> impl Iterator<Item = Pending> + use<> {
        let queue = std::mem::take(self).queue;
        queue.into_iter().map(|one| one.pending)
    }

    /// Takes what has waited long enough and has no tries left, or none that would be made, and answers it and whether
    /// any answer is late.
    pub fn take_late(&mut self, now: VirtualTime, tries_again: bool) -> (Vec<Pending>, bool) {
        let is_late = |one: &InFlightCommand| one.pending.deadline <= now;
        if !self.queue.iter().any(is_late) {
            return (Vec::new(), false);
        }
        let mut over = Vec::new();
        let mut untracked = 0;
        for mut one in std::mem::take(&mut self.queue) {
            untracked += one.untracked_before;
            if is_late(&one) && (one.pending.tries_left == 0 || !tries_again) {
                over.push(one.pending);
                untracked += 1;
            } else {
                one.untracked_before = std::mem::take(&mut untracked);
                self.queue.push_back(one);
            }
        }
        self.untracked += untracked;
        (over, true)
    }

    /// When the first awaited command is given up.
    #[inline]
    pub fn deadline(&self) -> VirtualTime {
        let deadlines = self.queue.iter().map(|one| one.pending.deadline);
        deadlines.fold(VirtualTime::NEVER, VirtualTime::min)
    }
}

#[cfg(test)]
mod tests {
    use picklock_clients::completion::completion;
    use picklock_clients::redis::Command;

    use super::super::tests::SETTINGS;
    use super::*;

    fn sent_at(millis: u64) -> Pending {
        let now = VirtualTime::from_micros(millis * 1_000);
        Pending::new(now, Command::new("GET"), completion().0, &SETTINGS)
    }

    #[test]
    fn a_command_given_up_is_counted_and_not_kept() {
        let mut sent = InFlight::default();
        for turn in 0..10_000 {
            sent.push(sent_at(turn * 1_000));
            let (over, late) =
                sent.take_late(VirtualTime::from_micros((turn + 1) * 1_000_000), true);
            assert!(late && over.len() == 1);
        }
        assert_eq!(
            (sent.queue.len(), sent.queue.capacity().min(100)),
            (0, sent.queue.capacity())
        );
        sent.push(sent_at(0));
        for _ in 0..10_000 {
            assert!(sent.pop().is_none());
        }
        assert!(sent.pop().is_some() && sent.is_empty());
    }

    #[test]
    fn each_answer_comes_to_the_command_that_it_is_of() {
        let mut sent = InFlight::default();
        sent.push_untracked();
        // The first and the third are late.
        for millis in [0, 900, 0, 901] {
            sent.push(sent_at(millis));
        }
        sent.push_untracked();
        let (over, _) = sent.take_late(VirtualTime::from_micros(500_000), true);
        assert_eq!((over.len(), sent.awaited()), (2, 2));
        assert!(!sent.next_is_awaited());
        let deadlines: Vec<Option<u64>> = (0..6)
            .map(|_| sent.pop().map(|pending| pending.deadline.micros() / 1_000))
            .collect();
        assert_eq!(
            deadlines,
            [None, None, Some(1_400), None, Some(1_401), None]
        );
        assert!(sent.is_empty());
    }
}
