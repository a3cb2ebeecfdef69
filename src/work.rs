//! Long work: a progress bar on standard error, and Ctrl-C.

use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use picklock::reports::files::{self, FileError};
use picklock::reports::words::count;

use crate::console;
use crate::exit;
use crate::failure::Failure;

/// Work that takes a while: how far it is, and whether it is to stop.
pub struct Work {
    shared: Arc<Shared>,
}

struct Shared {
    bar: ProgressBar,
    stop: AtomicBool,
    /// Held while a file is written: nobody ends the program then.
    writing: Mutex<()>,
    cases: AtomicU64,
    cases_in_all: u64,
    seeds: AtomicU64,
    seeds_in_all: u64,
}

impl Work {
    /// Begins: shows the bar, if standard error is a terminal and it is wanted, and listens to
    /// Ctrl-C.
    pub fn begin(cases: u64, seeds: u64, show: bool) -> Self {
        let target = if show {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(seeds), target).with_style(style());
        if show && !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        let shared = Arc::new(Shared {
            bar,
            stop: AtomicBool::new(false),
            writing: Mutex::new(()),
            cases: AtomicU64::new(0),
            cases_in_all: cases,
            seeds: AtomicU64::new(0),
            seeds_in_all: seeds,
        });
        let heard = Arc::clone(&shared);
        // Without a handler, Ctrl-C ends the program as it ends any other: that will do.
        let _ = ctrlc::set_handler(move || heard.interrupt());
        Self { shared }
    }

    /// Says what is being worked on.
    pub fn at(&self, what: String) {
        self.shared.bar.set_message(what);
    }

    /// A seed is done.
    pub fn seed_done(&self) {
        self.shared.seeds.fetch_add(1, Ordering::Relaxed);
        self.shared.bar.inc(1);
    }

    /// A case is done.
    pub fn case_done(&self) {
        self.shared.cases.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether somebody asked to stop.
    pub fn stop(&self) -> &AtomicBool {
        &self.shared.stop
    }

    /// Prints results while the bar is out of the way.
    ///
    /// # Errors
    ///
    /// As [`console::print`].
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        self.shared.bar.suspend(|| console::print(text))
    }

    /// Takes the bar away.
    pub fn end(&self) {
        self.shared.bar.finish_and_clear();
    }

    /// Checks that a file can be written.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn can_write(&self, path: &Path) -> Result<(), Failure> {
        self.writing(|| files::can_write(path))
    }

    /// Writes a file, all of it or nothing, whenever Ctrl-C comes.
    ///
    /// # Errors
    ///
    /// Why it could not be written.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        self.writing(|| files::write_whole(path, bytes))
    }

    fn writing(&self, write: impl FnOnce() -> Result<(), FileError>) -> Result<(), Failure> {
        let writing = self.shared.writing();
        let written = write();
        let stop = self.shared.stop.load(Ordering::SeqCst);
        drop(writing);
        if stop {
            return Err(Failure::Interrupted);
        }
        Ok(written?)
    }
}

impl Shared {
    fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody pressed Ctrl-C. The first time, a file that is being written is finished; nothing
    /// else is.
    fn interrupt(&self) {
        if self.stop.swap(true, Ordering::SeqCst) {
            process::exit(exit::INTERRUPTED.into());
        }
        let writes = matches!(self.writing.try_lock(), Err(TryLockError::WouldBlock));
        // The bar may be locked by somebody who waits for the reader of standard output: wipe it
        // without.
        let wipe = if self.bar.is_hidden() {
            ""
        } else {
            "\r\x1b[2K"
        };
        console::tell(&format!(
            "{wipe}picklock: stopped after {} of {} and {} of {}\n",
            self.cases.load(Ordering::Relaxed),
            count(self.cases_in_all, "case"),
            self.seeds.load(Ordering::Relaxed),
            count(self.seeds_in_all, "seed"),
        ));
        if !writes {
            let _nobody_writes_from_now_on = self.writing();
            process::exit(exit::INTERRUPTED.into());
        }
    }
}

fn style() -> ProgressStyle {
    let template = "  {wide_bar} {pos}/{len} seeds  {eta} left  {msg:36}";
    // The template is a constant, so a mistake in it would show at once.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
