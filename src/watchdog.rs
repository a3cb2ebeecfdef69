//! The watchdog: code of a recipe that never comes back, and touches nothing of the simulator meanwhile, cannot be
//! stopped by anything on its own thread. So another thread looks at it, names the run, and ends the program.

use std::io::Write as _;
use std::process;
use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use std::time::Duration;

use picklock_checker::Broken;
use picklock_sim::watchdog::{Stuck, Watchdog};

/// The exit code of a program that it ends: that of a run that broke off.
pub const EXIT: u8 = 5;

/// The variable of the environment that sets another limit, in seconds.
const VARIABLE: &str = "PICKLOCK_STUCK_AFTER";

/// It looks so often.
const EVERY: Duration = Duration::from_millis(250);

/// What is to be done before the program ends.
type StuckHandler = Box<dyn FnOnce(&Stuck) + Send>;

static STUCK_HANDLER: Mutex<Option<StuckHandler>> = Mutex::new(None);

/// Begins to watch the runs of this program, unless it does already. Where no thread can be started, nothing watches.
pub fn start() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let thread = thread::Builder::new().name("watchdog".to_owned());
        drop(thread.spawn(watch));
    });
}

/// From now on, this is done before the program is ended: results that are there already are told.
pub fn before_the_end(last_words: impl FnOnce(&Stuck) + Send + 'static) {
    let mut before = STUCK_HANDLER.lock().unwrap_or_else(PoisonError::into_inner);
    *before = Some(Box::new(last_words));
}

/// Why a run that is stuck breaks off.
pub fn why(stuck: &Stuck) -> Broken {
    Broken {
        who: Some("the recipe".to_owned()),
        what: format!(
            "does not come back: nothing has happened for {} s of real time. It touches nothing of the simulator, so \
             nothing but the end of the program stops it",
            stuck.length.as_secs()
        ),
        place: None,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "it watches from outside, where time is real"
)]
fn watch() {
    let limit = limit(std::env::var(VARIABLE).ok().as_deref());
    let mut watchdog = Watchdog::default();
    loop {
        // How long it really takes does not matter: a machine that stood still is not a run that did.
        thread::sleep(EVERY);
        if let Some(stuck) = watchdog.check(EVERY, limit) {
            end(&stuck);
        }
    }
}

/// How long nothing may happen.
fn limit(set: Option<&str>) -> Duration {
    let seconds = set.and_then(|text| text.parse().ok());
    let seconds = seconds.filter(|seconds| *seconds > 0);
    let usual = match cfg!(debug_assertions) {
        true => 300,
        false => 30,
    };
    Duration::from_secs(seconds.unwrap_or(usual))
}

fn end(stuck: &Stuck) -> ! {
    let mut text = format!("picklock: {}", why(stuck));
    if let Some((job, seed)) = &stuck.run {
        text.push('\n');
        text.push_str(&job.location(*seed));
    }
    // If that fails, nothing can be reported. Tests do not keep this for themselves, as they would what is printed.
    let _ = writeln!(std::io::stderr(), "{text}");
    let last_words = STUCK_HANDLER
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    if let Some(last_words) = last_words {
        last_words(stuck);
    }
    process::exit(EXIT.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_a_number_of_seconds() {
        assert_eq!(limit(Some("2")), Duration::from_secs(2));
        for wrong in [None, Some(""), Some("0"), Some("2s"), Some("-1")] {
            assert_eq!(limit(wrong), limit(None));
        }
    }
}
