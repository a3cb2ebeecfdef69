//! What breaks a run off without a panic: above all code of the contenders that never waits for anything, so that
//! nothing else would ever happen.
//!
//! Budgets are counted, and none is a time: what breaks off does so on every machine, with the same history.

use picklock_checker::{Broken, VirtualTime};

use crate::plan::Plan;

/// How much the code of the contenders may do before anything else happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// So often their tasks may run.
    pub polls: u64,
    /// So much their calls may cost.
    pub calls: u64,
}

impl Budget {
    /// What is enough for everybody to be woken at once, many times over.
    pub(crate) fn of(plan: &Plan) -> Self {
        let contenders = u64::from(plan.workload.contenders);
        Self {
            polls: 100_000 + contenders * 1_000,
            calls: 1_000_000 + contenders * 1_000,
        }
    }
}

/// That whoever runs never waits for anything.
pub(crate) fn never_waits(did: &str, now: VirtualTime) -> Broken {
    Broken {
        who: None,
        what: format!("never waits: {did} at {now}, and no time passes"),
        place: None,
    }
}

/// That another thread has woken a task.
pub(crate) fn woken_from_outside() -> Broken {
    Broken {
        who: Some("the recipe".to_owned()),
        what: "started a thread, and that woke it: no two runs are alike then. What is to be done in the background \
               belongs to `Env::spawn`"
            .to_owned(),
        place: None,
    }
}
