//! Contenders: who wants the lock, what they do while they have it, and what they believe.

mod calls;
mod handle;

use std::cell::RefMut;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use futures_lite::future;
use picklock_algorithms::clients::completion::{Completions, completion};
use picklock_algorithms::{Env, Held, Lock, LockError};
use picklock_checker::{ContenderId, Failure, Token, What};

use crate::event::ResourceRequest;
use crate::plan::{Arrival, Hold, Section};
use crate::process::ProcessId;
use crate::resource::Write;
use crate::shared::{Shared, environment};
use crate::world::{LOCK, World};
use handle::{Handle, connect};

/// Whether a contender comes for the first time, or in the place of one that has died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    First,
    Again,
}

/// After a failed `acquire`, a contender comes back so much later.
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// Runs a contender: as many rounds as it has left, and then it has finished.
pub(crate) async fn run(shared: Rc<Shared>, id: ContenderId, start: Start) {
    let mut contender = Contender::new(shared, id);
    if start == Start::First {
        contender.arrive().await;
    }
    loop {
        let left = contender.shared.world.borrow().contenders[id.0 as usize].rounds_left;
        if left == 0 {
            break;
        }
        contender.round().await;
        contender.shared.world.borrow_mut().contenders[id.0 as usize].rounds_left = left - 1;
        if left > 1 {
            contender.think().await;
        }
    }
    let mut world = contender.shared.world.borrow_mut();
    world.record(What::Finished { by: id });
    world.leaves(contender.process);
}

struct Contender {
    shared: Rc<Shared>,
    id: ContenderId,
    process: ProcessId,
    env: Env,
    client: Handle,
    lock: Box<dyn Lock>,
    /// What sleeps and answers of the resource came in before, and others may again.
    sleeps: Completions<()>,
    answers: Completions<i64>,
}

/// How a section ended early.
struct Interrupted(LockError);

impl Contender {
    fn new(shared: Rc<Shared>, id: ContenderId) -> Self {
        let process = ProcessId(id.0);
        let env = environment(&shared, process);
        let (client, lock) = connect(&shared, process, &env);
        let helpers = lock.renews_sessions();
        shared.world.borrow_mut().contenders[id.0 as usize].has_helpers = helpers;
        Self {
            shared,
            id,
            process,
            env,
            client,
            lock,
            sleeps: Completions::default(),
            answers: Completions::default(),
        }
    }

    fn world(&self) -> RefMut<'_, World> {
        self.shared.world.borrow_mut()
    }

    async fn sleep(&self, duration: Duration) {
        let (done, slept) = self.sleeps.completion();
        self.world().sleep(self.process, duration, done);
        slept.await;
    }

    /// Waits for its turn to come to the lock at all.
    async fn arrive(&self) {
        let arrive = self.shared.world.borrow().plan.workload.arrive;
        match arrive {
            Arrival::Together => self.world().start(self.process),
            Arrival::Within(span) => {
                let wait = self.world().draw((Duration::ZERO, span));
                self.sleep(wait).await;
                self.world().start(self.process);
            }
            Arrival::InOrder | Arrival::BehindHolder => {
                let (go, gone) = completion();
                if self.world().wait_to_start(self.process, go) {
                    gone.await;
                }
            }
        }
    }

    async fn think(&self) {
        let think = {
            let mut world = self.world();
            let range = world.plan.workload.think;
            world.draw(range)
        };
        if !think.is_zero() {
            self.sleep(think).await;
        }
    }

    /// Gets the lock, uses it, and gives it back; tries until it has had it, or is cancelled.
    async fn round(&mut self) {
        loop {
            self.renew_if_closed();
            self.say(What::AcquireStarted {
                by: self.id,
                lock: LOCK,
            })
            .await;
            match self.acquire().await {
                None => {
                    self.say(What::Cancelled {
                        by: self.id,
                        lock: LOCK,
                    })
                    .await;
                    return;
                }
                Some(Ok(held)) => {
                    self.use_lock(held).await;
                    return;
                }
                Some(Err(error)) => {
                    let (by, lock, why, definite) =
                        (self.id, LOCK, failure(error), error.definite());
                    self.say(What::AcquireFailed {
                        by,
                        lock,
                        why,
                        definite,
                    })
                    .await;
                    self.sleep(TRY_AGAIN_AFTER).await;
                }
            }
        }
    }

    async fn use_lock(&mut self, held: Held) {
        let token = held.token.map(Token);
        self.say(What::Acquired {
            by: self.id,
            lock: LOCK,
            token,
        })
        .await;
        let entered = self.enter_again().await;
        let ended = if let Err(error) = entered {
            Err(Interrupted(error))
        } else {
            let lost = async { Err(Interrupted(self.lock.lost(&held).await)) };
            // Who has decided to write when it stood still writes before it hears of anything.
            future::or(self.section(token), lost).await
        };
        match ended {
            Ok(()) => {
                self.say(What::ReleaseStarted {
                    by: self.id,
                    lock: LOCK,
                })
                .await;
                let what = match self.lock.release(held).await {
                    Ok(()) => What::Released {
                        by: self.id,
                        lock: LOCK,
                    },
                    Err(error) => What::ReleaseFailed {
                        by: self.id,
                        lock: LOCK,
                        why: failure(error),
                    },
                };
                self.say(what).await;
            }
            Err(Interrupted(error)) => {
                self.say(What::Lost {
                    by: self.id,
                    lock: LOCK,
                    why: failure(error),
                })
                .await;
                // Whatever is left of it is given back; if the session is gone, nothing is.
                let _nothing_left = self.lock.release(held).await;
            }
        }
    }

    async fn section(&self, token: Option<Token>) -> Result<(), Interrupted> {
        let workload = Rc::clone(&self.shared.world.borrow().plan);
        match workload.workload.section {
            Section::Nothing => self.hold().await,
            Section::Write => {
                self.hold().await;
                let value = self.world().next_value();
                self.write(Write {
                    value,
                    based_on: None,
                    token,
                })
                .await?;
            }
            Section::Count => {
                let read = self.read().await;
                self.hold().await;
                self.write(Write {
                    value: read + 1,
                    based_on: Some(read),
                    token,
                })
                .await?;
            }
            Section::Sell { .. } => {
                let read = self.read().await;
                self.hold().await;
                if read > 0 {
                    self.write(Write {
                        value: read - 1,
                        based_on: Some(read),
                        token,
                    })
                    .await?;
                }
            }
            Section::DelayedWrite { delay } => {
                let (value, delay) = {
                    let mut world = self.world();
                    (world.next_value(), world.draw((Duration::ZERO, delay)))
                };
                let write = Write {
                    value,
                    based_on: None,
                    token,
                };
                // Nobody waits for the answer: the call has timed out, or was never meant to be waited for.
                let _unheard = self.send(write, delay).await;
                self.hold().await;
            }
        }
        Ok(())
    }

    async fn hold(&self) {
        let (hold, first) = {
            let world = self.shared.world.borrow();
            let first = world.plan.workload.arrive == Arrival::BehindHolder && !world.draining;
            (world.plan.workload.hold, first)
        };
        if first || hold == Hold::Settled {
            let (settled, all_settled) = completion();
            self.world().wait_until_settled(self.process, settled);
            all_settled.await;
        }
        if let Hold::For(hold) = hold
            && !hold.is_zero()
        {
            self.sleep(hold).await;
        }
    }

    async fn read(&self) -> i64 {
        let (answer, answered) = self.answers.completion();
        self.world()
            .ask_resource(self.process, ResourceRequest::Read, Duration::ZERO, answer);
        answered.await
    }

    async fn write(&self, write: Write) -> Result<(), Interrupted> {
        let accepted = self.send(write, Duration::ZERO).await.await == 1;
        self.say(What::Written {
            by: self.id,
            lock: LOCK,
            accepted,
        })
        .await;
        if accepted {
            Ok(())
        } else {
            Err(Interrupted(LockError::Refused))
        }
    }

    async fn send(
        &self,
        write: Write,
        delay: Duration,
    ) -> picklock_algorithms::clients::completion::Answer<i64> {
        self.say(What::Writing {
            by: self.id,
            lock: LOCK,
            token: write.token,
        })
        .await;
        let (answer, answered) = self.answers.completion();
        self.world()
            .ask_resource(self.process, ResourceRequest::Write(write), delay, answer);
        answered
    }

    /// Says what has happened. A fault that waits for it may stop the process right here.
    async fn say(&self, what: What) {
        let runs = {
            let mut world = self.world();
            world.contender_says(self.process, what);
            world.runs(self.process)
        };
        if !runs {
            poll_fn(|context| {
                if self.world().runs(self.process) {
                    return Poll::Ready(());
                }
                context.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        }
    }

    /// A closed session never comes back: a new one takes its place.
    fn renew_if_closed(&mut self) {
        if !self.lock.renews_sessions() && self.client.is_closed() {
            (self.client, self.lock) = connect(&self.shared, self.process, &self.env);
        }
    }
}

fn failure(error: LockError) -> Failure {
    match error {
        LockError::SessionExpired => Failure::SessionExpired,
        LockError::ConnectionLoss => Failure::ConnectionLoss,
        LockError::PlaceLost => Failure::PlaceLost,
        LockError::Disconnected => Failure::Disconnected,
        LockError::Refused | LockError::NotHeld => Failure::Refused,
        LockError::TimedOut | LockError::NotInTime | LockError::LeaseLapsed => Failure::TimedOut,
    }
}
