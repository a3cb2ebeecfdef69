//! A hold that a task renews, and how its holder is told that it is over.

use std::time::Duration;

use crate::Env;
use crate::clients::StopChannel;

/// What a hold and the task that renews it know of each other. A new hold has a new one.
#[derive(Clone, Default)]
pub struct Renewed {
    given_back: StopChannel,
    over: StopChannel,
}

impl Renewed {
    /// Renews the hold each time that so long has passed, as long as that says that the hold is still there.
    pub fn begin(env: &Env, every: Duration, renew: impl AsyncFn() -> bool + 'static) -> Self {
        let (hold, in_task) = (Self::default(), env.clone());
        let of_task = hold.clone();
        env.spawn(async move {
            loop {
                in_task.sleep(every).await;
                if of_task.given_back.is_closed() {
                    return;
                }
                if !renew().await {
                    of_task.over.close();
                    return;
                }
            }
        });
        hold
    }

    /// The holder gives it back, and no renewal begins any more.
    pub fn stop(&self) {
        self.given_back.close();
    }

    /// Whether a renewal has said that the hold is over.
    pub fn is_over(&self) -> bool {
        self.over.is_closed()
    }

    /// Resolves when a renewal has said that the hold is over.
    pub async fn over(&self) {
        self.over.closed().await;
    }
}
