//! What the sandbox catches, and what it does not: docs/verify.md and ARCHITECTURE.md say what these tests find.

#![expect(
    clippy::disallowed_methods,
    reason = "this is what a recipe might do that does not know better"
)]

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::Read as _;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use picklock_sim::broken::caught;
use picklock_sim::engine::sandbox::Sandbox;

const SANDBOX: bool = cfg!(madsim);

/// Looks twice, each time from a sandbox of its own, whether something is the same.
fn is_same<T: PartialEq>(look: impl Fn(&mut Sandbox) -> T) -> bool {
    let looked = || Sandbox::run(0, |mut sandbox| look(&mut sandbox));
    let (first, second) = (looked(), looked());
    first == second
}

#[test]
fn the_clocks_of_the_standard_library_are_virtual_in_the_sandbox_and_real_without() {
    let passes = Sandbox::run(0, |mut sandbox| {
        let before = (Instant::now(), SystemTime::now());
        sandbox.advance_to(3_600_000_000);
        let wall = before.1.elapsed().unwrap_or_default();
        (before.0.elapsed(), wall)
    });
    let hour = Duration::from_secs(3_600);
    assert_eq!(passes.0 >= hour, SANDBOX, "{passes:?}");
    assert_eq!(passes.1 >= hour, SANDBOX, "{passes:?}");
    assert_eq!(is_same(|_| SystemTime::now()), SANDBOX);
}

#[test]
fn a_thread_that_sleeps_sleeps_for_real_and_no_time_passes_in_the_run() {
    let outside = Instant::now();
    let inside = Sandbox::run(0, |_| {
        let before = Instant::now();
        thread::sleep(Duration::from_millis(20));
        before.elapsed()
    });
    assert!(outside.elapsed() >= Duration::from_millis(20));
    assert_eq!(inside < Duration::from_millis(20), SANDBOX, "{inside:?}");
}

#[test]
fn threads_are_refused_in_the_sandbox_with_a_panic_that_can_be_caught() {
    let start = || Sandbox::run(0, |_| caught(|| thread::spawn(|| 7).join().ok()));
    let done = start().map_err(|why| why.what);
    let refused = "started a thread, which the sandbox refuses".to_owned();
    assert_eq!(done, if SANDBOX { Err(refused) } else { Ok(Some(7)) });
}

/// A number that the standard library makes of chance when a thread asks for the first time.
fn hash() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[test]
fn the_order_of_a_hash_map_differs_from_map_to_map_with_and_without() {
    assert!(!is_same(|_| hash()));
}

#[test]
fn the_first_order_of_a_thread_is_seeded_in_the_sandbox() {
    let on_a_new_thread = || {
        let thread = thread::spawn(|| Sandbox::run(0, |_| hash()));
        thread.join().expect("it does not panic")
    };
    assert_eq!(on_a_new_thread() == on_a_new_thread(), SANDBOX);
}

#[test]
fn the_kernels_random_numbers_come_through_as_a_file() {
    let read = |_: &mut Sandbox| {
        let mut bytes = [0; 16];
        let source = std::fs::File::open("/dev/urandom");
        source
            .and_then(|mut file| file.read_exact(&mut bytes))
            .expect("it can be read");
        bytes
    };
    assert!(!is_same(read));
}

#[test]
fn statics_files_and_variables_come_through() {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    static RUNS: AtomicU64 = AtomicU64::new(0);
    assert!(!is_same(|_| RUNS.fetch_add(1, Relaxed)));
    let (here, there) = (std::env::current_dir().ok(), std::env::var_os("PATH"));
    Sandbox::run(0, |_| {
        assert_eq!(std::env::current_dir().ok(), here);
        assert_eq!(std::env::var_os("PATH"), there);
        assert!(std::fs::exists("Cargo.toml").unwrap_or_default());
        // Where something lies in memory is another matter than what a run goes by, but it can be seen.
        assert_ne!(std::ptr::from_ref(&*Box::new(1)).addr(), 0);
    });
}
