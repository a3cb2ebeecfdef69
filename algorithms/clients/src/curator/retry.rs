//! How often a call is repeated, and how long it waits in between.

use std::time::Duration;

use crate::env::Env;

/// How often the range that a pause is drawn from is doubled at most: `ExponentialBackoffRetry.MAX_RETRIES_LIMIT`.
const MOST_DOUBLINGS: u32 = 29;

/// A policy. All but the last give up some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryPolicy {
    /// So often, after pauses that double on average.
    ExponentialBackoffRetry {
        /// The first pause.
        base: Duration,
        /// How often.
        retries: u32,
    },
    /// So often, after the same pause each time.
    RetryNTimes {
        /// How often.
        retries: u32,
        /// The pause.
        pause: Duration,
    },
    /// Until so much time has passed.
    RetryUntilElapsed {
        /// How much.
        limit: Duration,
        /// The pause.
        pause: Duration,
    },
    /// For ever.
    RetryForever {
        /// The pause.
        pause: Duration,
    },
}

impl RetryPolicy {
    /// How long to wait before the next try, after so many retries and so much time; `None` to give up.
    pub fn allow_retry(self, retries: u32, elapsed: Duration, env: &Env) -> Option<Duration> {
        match self {
            Self::ExponentialBackoffRetry {
                base,
                retries: most,
            } => (retries < most).then(|| {
                let options = 1_u64 << (retries + 1).min(MOST_DOUBLINGS);
                let times = (env.random() % options).max(1);
                base.saturating_mul(u32::try_from(times).unwrap_or(u32::MAX))
            }),
            Self::RetryNTimes {
                retries: most,
                pause,
            } => (retries < most).then_some(pause),
            Self::RetryUntilElapsed { limit, pause } => (elapsed < limit).then_some(pause),
            Self::RetryForever { pause } => Some(pause),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;
    use crate::env::{Environment, LocalFuture};

    /// Its random numbers are the same each time, and it has no clock.
    struct Still(Cell<u64>);

    impl Environment for Still {
        fn monotonic(&self) -> Duration {
            Duration::ZERO
        }
        fn wall(&self) -> Duration {
            Duration::ZERO
        }
        fn sleep(&self, _: Duration) -> LocalFuture<'static, ()> {
            Box::pin(std::future::ready(()))
        }
        fn spawn(&self, _: LocalFuture<'static, ()>) {}
        fn random(&self) -> u64 {
            self.0.get()
        }
        fn host(&self) -> String {
            "here".to_owned()
        }
    }

    fn pauses(policy: RetryPolicy, random: u64, elapsed: u64) -> Vec<Option<u64>> {
        let env = Env::new(Rc::new(Still(Cell::new(random))));
        let seconds = |pause: Duration| pause.as_secs();
        let elapsed = Duration::from_secs(elapsed);
        let pauses = (0..5).map(|retries| policy.allow_retry(retries, elapsed, &env).map(seconds));
        pauses.collect()
    }

    #[test]
    fn an_exponential_back_off_has_a_budget_and_pauses_that_may_double() {
        let policy = RetryPolicy::ExponentialBackoffRetry {
            base: Duration::from_secs(1),
            retries: 3,
        };
        let most = [Some(1), Some(3), Some(7), None, None];
        assert_eq!(pauses(policy, u64::MAX, 0), most);
        let least = [Some(1), Some(1), Some(1), None, None];
        assert_eq!(pauses(policy, 0, 0), least);
    }

    #[test]
    fn the_other_policies_count_tries_or_time_or_nothing() {
        let pause = Duration::from_secs(2);
        let times = RetryPolicy::RetryNTimes { retries: 1, pause };
        assert_eq!(pauses(times, 0, 100), [Some(2), None, None, None, None]);
        let limit = Duration::from_secs(10);
        let until = RetryPolicy::RetryUntilElapsed { limit, pause };
        assert_eq!(pauses(until, 0, 9), [Some(2); 5]);
        assert_eq!(pauses(until, 0, 10), [None; 5]);
        assert_eq!(
            pauses(RetryPolicy::RetryForever { pause }, 0, 100),
            [Some(2); 5]
        );
    }
}
