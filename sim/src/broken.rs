//! Panics: caught where a run begins, and reported as the reason why it broke off.
//!
//! The standard library's message of a caught panic is suppressed: the caller that ran a thousand seeds reports a
//! recipe that panics with each of them once. With `RUST_BACKTRACE`, the first panic of the program is printed with its
//! backtrace.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use picklock_checker::Broken;

use crate::watchdog;

thread_local! {
    /// In how many things that catch panics this thread is.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The last panics, of which one will be caught.
    static LAST: RefCell<Vec<PanicText>> = const { RefCell::new(Vec::new()) };
}

/// What a panic says of itself.
struct PanicText {
    message: String,
    place: Option<String>,
}

/// Does something, and answers why it broke off if it panicked.
///
/// # Errors
///
/// Why it broke off.
pub fn caught<T>(doing: impl FnOnce() -> T) -> Result<T, Broken> {
    listen();
    let inside = NestedCatch::enter();
    // Unwind safe: the caller discards what the run was about to change, and reads on only what is whole after each
    // step: the history, its hash, and the tape.
    let done = panic::catch_unwind(AssertUnwindSafe(doing));
    drop(inside);
    done.map_err(|payload| broken(payload.as_ref()))
}

/// Breaks off what [`caught`] has begun, for this reason, and not as a panic.
pub fn break_off(why: Broken) -> ! {
    panic::resume_unwind(Box::new(why))
}

/// Drops something that may panic, and answers with what: what else is to be dropped must not be lost by it.
pub(crate) fn dropped<T>(value: T) -> Result<(), Box<dyn Any + Send>> {
    panic::catch_unwind(AssertUnwindSafe(|| drop(value)))
}

fn broken(payload: &(dyn Any + Send)) -> Broken {
    if let Some(why) = payload.downcast_ref::<Broken>() {
        return why.clone();
    }
    let message = message(payload);
    let mut told = LAST.take().into_iter().rev();
    let told = told.find(|told| told.message == message);
    let place = told.and_then(|told| told.place);
    if place.as_deref().is_some_and(is_start_of_a_thread) {
        return refused_thread();
    }
    Broken::panic(&message, place)
}

/// Whether the standard library panics there because no thread could be started. It asserts that the system is ready
/// for one, and the sandbox sees to it that it is not.
fn is_start_of_a_thread(place: &str) -> bool {
    let place = place.replace('\\', "/");
    cfg!(madsim) && place.contains("std/src/sys/") && place.contains("thread")
}

fn refused_thread() -> Broken {
    Broken {
        who: None,
        what: "started a thread, which the sandbox refuses".to_owned(),
        place: None,
    }
}

fn message(payload: &dyn Any) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "what it says is no text".to_owned())
}

/// Counts how many catchers of panics are nested, so that runs can be, too.
struct NestedCatch;

impl NestedCatch {
    fn enter() -> Self {
        DEPTH.set(DEPTH.get() + 1);
        Self
    }
}

impl Drop for NestedCatch {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get().saturating_sub(1));
    }
}

/// From now on, panics that will be caught are noted, and all others go where they went before.
fn listen() {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let caught = DEPTH.try_with(Cell::get).is_ok_and(|depth| depth > 0);
            if !caught || wants_backtrace() {
                before(info);
            }
            if caught {
                note(info);
                if !can_be_caught(info) {
                    report_run_of_double_panic();
                }
            }
        }));
    });
}

/// Whether this is the first panic, and `RUST_BACKTRACE` asks where it comes from.
fn wants_backtrace() -> bool {
    static SHOWN: AtomicBool = AtomicBool::new(false);
    let wanted = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
    wanted && !SHOWN.swap(true, Ordering::Relaxed)
}

/// Whether the program goes on after a panic. It does not after one that comes while another is being cleaned up
/// behind, nor where the caller is not made for it.
fn can_be_caught(info: &PanicHookInfo<'_>) -> bool {
    let message = message(info.payload());
    ![
        "panic in a destructor during cleanup",
        "panic in a function that cannot unwind",
    ]
    .iter()
    .any(|start| message.starts_with(start))
}

/// Says which run ends the program.
fn report_run_of_double_panic() {
    let told = match watchdog::current() {
        Some((job, seed)) => format!("\n{}", job.location(seed)),
        None => String::new(),
    };
    let panics = LAST.take().into_iter().map(|panic| {
        let why = Broken::panic(&panic.message, panic.place);
        format!("\n  {why}")
    });
    let panics: String = panics.collect();
    // The program ends here: a failed write is not reported.
    let _ = writeln!(
        std::io::stderr(),
        "picklock: a destructor panicked while the run was being cleaned up behind another panic, which nothing \
         survives{panics}{told}"
    );
}

fn note(info: &PanicHookInfo<'_>) {
    let told = PanicText {
        message: message(info.payload()),
        place: info.location().map(ToString::to_string),
    };
    // At the end of a thread `LAST` is gone, and so is its reader.
    let _ = LAST.try_with(|last| {
        let mut last = last.borrow_mut();
        // A recipe may catch its own, again and again.
        if last.len() == 8 {
            last.remove(0);
        }
        last.push(told);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_with_its_message_and_its_place() {
        let why = caught(|| panic!("no {}", "luck")).unwrap_err();
        assert_eq!(why.what, "panicked: no luck");
        assert!(why.place.unwrap().starts_with("sim/src/broken.rs:"));
    }

    #[test]
    fn what_does_not_panic_is_answered() {
        assert_eq!(caught(|| 7), Ok(7));
    }

    #[test]
    fn a_panic_that_was_caught_before_is_not_taken_for_the_one_that_was_not() {
        let why = caught(|| {
            let first = panic::catch_unwind(|| panic!("the first"));
            drop(first);
            panic::resume_unwind(Box::new("the second"));
        });
        assert_eq!(why, Err::<(), _>(Broken::panic("the second", None)));
    }

    #[test]
    fn a_reason_is_told_as_it_was_given() {
        let why = Broken {
            who: Some("contender-1's acquire".to_owned()),
            what: "would not end".to_owned(),
            place: None,
        };
        assert_eq!(caught(|| break_off(why.clone())), Err::<(), _>(why));
    }
}
