//! What a contender does to resources while it has their locks.

use std::future::{Future as _, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use picklock_algorithms::LockError;
use picklock_checker::{EventKind, LockId, Mode, Token};
use picklock_clients::completion::{Answer, completion};
use smallvec::SmallVec;

use super::{Contender, Interrupted, Recorded};
use crate::event::ResourceRequest;
use crate::plan::{ContenderName, Hold, Section};
use crate::resource::Write;
use crate::world::SimulatedService;

impl<S: SimulatedService> Contender<S> {
    /// A section under all of these locks, of which each protects a resource of its own.
    pub(super) async fn section(
        &self,
        held: &[(LockId, Option<Token>)],
    ) -> Result<(), Interrupted> {
        let section = self.world().plan.workload.section;
        if self.mode == Mode::Shared {
            self.reads_only(section, held).await;
            return Ok(());
        }
        if let Section::DelayedWrite(delay) = section {
            for held in held {
                self.delayed_write(*held, delay).await;
            }
        }
        let mut read: SmallVec<[i64; 1]> = SmallVec::new();
        if section.step().is_some() {
            for (lock, _) in held {
                let asked = self.request(*lock, ResourceRequest::Read, Duration::ZERO);
                read.push(asked.await);
            }
        }
        self.hold().await;
        for (index, (lock, token)) in held.iter().enumerate() {
            let based_on = read.get(index).copied();
            let value = match (section, based_on) {
                (Section::Count, Some(read)) => read + 1,
                (Section::Sell(_), Some(read)) if read > 0 => read - 1,
                (Section::Write, _) => self.world().next_value(),
                _ => continue,
            };
            let write = Write {
                value,
                based_on,
                token: *token,
            };
            self.write(*lock, write).await?;
        }
        Ok(())
    }

    /// Writes, and does not wait for the answer: the call has timed out, or was never meant to be waited for.
    async fn delayed_write(&self, (lock, token): (LockId, Option<Token>), delay: Duration) {
        let (value, delay) = {
            let mut world = self.world();
            (world.next_value(), world.draw((Duration::ZERO, delay)))
        };
        let write = Write {
            value,
            based_on: None,
            token,
        };
        self.writing(lock, token).await;
        drop(self.request(lock, ResourceRequest::Write(write), delay));
    }

    /// What a reader does under these locks.
    async fn reads_only(&self, section: Section, held: &[(LockId, Option<Token>)]) {
        if section != Section::Nothing {
            for (lock, _) in held {
                let asked = self.request(*lock, ResourceRequest::Read, Duration::ZERO);
                asked.await;
            }
        }
        self.hold().await;
    }

    async fn hold(&self) {
        let (hold, first) = {
            let world = self.shared.world.borrow();
            let first = world.plan.workload.arrive.is_behind_holder() && !world.draining;
            (world.plan.workload.hold_of(ContenderName(self.id.0)), first)
        };
        if first || hold == Hold::Settled {
            let (settled, all_settled) = completion();
            self.world().wait_until_settled(self.id, settled);
            all_settled.await;
        }
        if let Hold::For(hold) = hold
            && !hold.is_zero()
        {
            self.sleep(hold).await;
        }
    }

    async fn write(&self, lock: LockId, write: Write) -> Result<(), Interrupted> {
        self.writing(lock, write.token).await;
        let answer = self.request(lock, ResourceRequest::Write(write), Duration::ZERO);
        *self.unanswered.borrow_mut() = Some(answer);
        let accepted = self.write_answered().await == Some(1);
        let by = self.id;
        self.record(EventKind::Written { by, lock, accepted }).await;
        if accepted {
            Ok(())
        } else {
            let why = LockError::Refused;
            Err(Interrupted { lock, why })
        }
    }

    /// Waits for the answer to the write that it has sent last, if it has not come.
    pub(super) async fn write_answered(&self) -> Option<i64> {
        let answer = poll_fn(|context| match self.unanswered.borrow_mut().as_mut() {
            Some(answer) => Pin::new(answer).poll(context).map(Some),
            None => Poll::Ready(None),
        })
        .await;
        self.unanswered.take();
        answer
    }

    /// Asks the resource that a lock protects. What it asks may travel longer by `extra`.
    fn request(&self, lock: LockId, request: ResourceRequest, extra: Duration) -> Answer<i64> {
        let (answer, answered) = self.answers.completion();
        let asks = (self.id, lock);
        self.world().ask_resource(asks, request, extra, answer);
        answered
    }

    fn writing(&self, lock: LockId, token: Option<Token>) -> Recorded<'_, S> {
        let by = self.id;
        self.record(EventKind::Writing { by, lock, token })
    }
}
