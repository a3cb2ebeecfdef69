//! What a contender does to the resource while it has the lock.

use std::future::{Future as _, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use picklock_algorithms::LockError;
use picklock_checker::{EventKind, Mode, Token};
use picklock_clients::completion::{Answer, completion};

use super::{Contender, Interrupted, Recorded};
use crate::event::ResourceRequest;
use crate::plan::{ContenderName, Hold, Section};
use crate::resource::Write;
use crate::world::SimulatedService;

impl<S: SimulatedService> Contender<S> {
    pub(super) async fn section(&self, token: Option<Token>) -> Result<(), Interrupted> {
        let section = self.world().plan.workload.section;
        if self.mode == Mode::Shared {
            self.reads_only(section).await;
            return Ok(());
        }
        if let Section::DelayedWrite { delay } = section {
            let (value, delay) = {
                let mut world = self.world();
                (world.next_value(), world.draw((Duration::ZERO, delay)))
            };
            // Nobody waits for the answer: the call has timed out, or was never meant to be waited for.
            let write = Write {
                value,
                based_on: None,
                token,
            };
            self.writing(token).await;
            drop(self.request(ResourceRequest::Write(write), delay));
        }
        let mut based_on = None;
        if section.step().is_some() {
            based_on = Some(self.request(ResourceRequest::Read, Duration::ZERO).await);
        }
        self.hold().await;
        let value = match (section, based_on) {
            (Section::Count, Some(read)) => read + 1,
            (Section::Sell { .. }, Some(read)) if read > 0 => read - 1,
            (Section::Write, _) => self.world().next_value(),
            _ => return Ok(()),
        };
        self.write(Write {
            value,
            based_on,
            token,
        })
        .await
    }

    /// What a reader does under the lock.
    async fn reads_only(&self, section: Section) {
        if section != Section::Nothing {
            self.request(ResourceRequest::Read, Duration::ZERO).await;
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

    async fn write(&self, write: Write) -> Result<(), Interrupted> {
        self.writing(write.token).await;
        let answer = self.request(ResourceRequest::Write(write), Duration::ZERO);
        *self.unanswered.borrow_mut() = Some(answer);
        let accepted = self.write_answered().await == Some(1);
        let (by, lock) = (self.id, self.lock);
        self.record(EventKind::Written { by, lock, accepted }).await;
        if accepted {
            Ok(())
        } else {
            Err(Interrupted(LockError::Refused))
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

    /// Asks the resource. What it asks may travel longer by `extra`.
    fn request(&self, request: ResourceRequest, extra: Duration) -> Answer<i64> {
        let (answer, answered) = self.answers.completion();
        self.world().ask_resource(self.id, request, extra, answer);
        answered
    }

    fn writing(&self, token: Option<Token>) -> Recorded<'_, S> {
        let (by, lock) = (self.id, self.lock);
        self.record(EventKind::Writing { by, lock, token })
    }
}
