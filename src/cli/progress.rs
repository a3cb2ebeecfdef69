//! Long work: a progress bar on standard error, and Ctrl-C.

mod bar;

use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use crate::reports::files::{self, FileError};
use crate::reports::words::{count, harmless};
use bar::{TIME, TIME_AND_RUNS, style, style_of};
use indicatif::{ProgressBar, ProgressDrawTarget};

use crate::cli::console;
use crate::cli::exit;
use crate::cli::failure::Failure;

/// Work that takes a while: how far it is, and whether it is to stop.
pub struct Work {
    shared: Arc<ProgressState>,
}

struct ProgressState {
    bar: ProgressBar,
    stop: AtomicBool,
    /// Whether what there is by then is still worth telling when the user asks to stop.
    keeps: bool,
    /// The files that are to be written. Held while one of them is written, so that Ctrl-C waits for it.
    writing: Mutex<Vec<PathBuf>>,
    parts: Vec<Counted>,
    /// The bar shows how much of the time is over, and not how many of the last part are done.
    by_time: bool,
}

/// What work is made of: so many of these are done, of so many, if anybody knows of how many.
struct Counted {
    one: &'static str,
    done: AtomicU64,
    all: Option<u64>,
}

impl Counted {
    /// How many are done, in words.
    fn words(&self) -> String {
        let done = self.done.load(Ordering::Relaxed);
        match self.all {
            Some(all) => format!("{done} of {}", count(all, self.one)),
            None => count(done, self.one),
        }
    }
}

impl Work {
    /// Begins to run so many seeds of so many cases: shows the bar, if standard error is a terminal and it is wanted,
    /// and listens to Ctrl-C: what was found when the user asks to stop is told.
    pub fn begin(cases: u64, seeds: u64, show: bool) -> Self {
        Self::of(&[("case", cases), ("seed", seeds)], true, show)
    }

    /// Begins to run seeds of so many cases for a time: the bar shows how much of it is over.
    pub fn timed(cases: u64, time: Duration, show: bool) -> Self {
        let work = Self::new(&[("case", Some(cases))], true, show, true);
        let bar = &work.shared.bar;
        bar.set_length(time.as_secs().max(1));
        bar.set_style(style_of(TIME));
        work
    }

    /// Begins to measure so many things.
    pub fn measuring(figures: u64) -> Self {
        Self::of(&[("measurement", figures)], false, true)
    }

    /// Begins something that is done whole or not at all.
    pub fn whole() -> Self {
        Self::of(&[], false, false)
    }

    /// The same, of something that may take a while: shows that it goes on.
    pub fn explaining() -> Self {
        Self::of(&[], false, true)
    }

    /// Begins something of which each part is worth telling, and whose parts are not counted.
    pub fn in_parts() -> Self {
        Self::of(&[], true, true)
    }

    /// Begins to search: how long that takes is unknown, and what was found when the user asks to stop is kept.
    pub fn search() -> Self {
        Self::of(&[], true, true)
    }

    /// Begins a search of so many runs, if that is known: the bar shows how many of them are done. If a time is given,
    /// it shows how much of it is over, and says how many runs are done.
    pub fn hunting(runs: Option<u64>, time: Option<Duration>) -> Self {
        let work = Self::new(&[("run", runs)], true, true, time.is_some());
        if let Some(time) = time {
            let bar = &work.shared.bar;
            bar.set_length(time.as_secs().max(1));
            bar.set_style(style_of(TIME_AND_RUNS));
        }
        work
    }

    fn of(parts: &[(&'static str, u64)], keeps: bool, show: bool) -> Self {
        let known = parts.iter().map(|(one, all)| (*one, Some(*all)));
        Self::new(&known.collect::<Vec<_>>(), keeps, show, false)
    }

    fn new(parts: &[(&'static str, Option<u64>)], keeps: bool, show: bool, by_time: bool) -> Self {
        let target = if show {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let last = parts.last();
        let bar = ProgressBar::with_draw_target(last.and_then(|(_, all)| *all), target)
            .with_style(style(last.map(|(one, _)| *one)));
        if show && !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        let shared = Arc::new(ProgressState {
            bar,
            stop: AtomicBool::new(false),
            keeps,
            writing: Mutex::default(),
            parts: parts
                .iter()
                .map(|(one, all)| Counted {
                    one,
                    done: AtomicU64::new(0),
                    all: *all,
                })
                .collect(),
            by_time,
        });
        let heard = Arc::clone(&shared);
        // Without a handler, Ctrl-C ends the program as it ends any other: that will do.
        let _ = ctrlc::set_handler(move || heard.interrupt());
        Self { shared }
    }

    /// Says what is being worked on.
    pub fn at(&self, what: String) {
        self.shared.bar.set_message(harmless(&what));
    }

    /// Shows what is being shrunk, beside the bar: how long that takes is not known.
    pub fn shrinks(&self, case: &str, seed: u64, runs: u32) {
        let bar = &self.shared.bar;
        if runs <= 1 {
            bar.set_style(style(None));
        }
        let runs = count(runs.into(), "run");
        bar.set_message(format!("shrinking {case} seed {seed}: {runs}"));
    }

    /// Goes on with what the bar counts: a case is done, or as much of it as was run.
    pub fn advance(&self, is_whole: bool) {
        if is_whole {
            self.shared.done(self.shared.parts.first());
        }
        let counted = self.shared.parts.last().map(|part| part.one);
        if !self.shared.by_time {
            self.shared.bar.set_style(style(counted));
        }
        self.shared.bar.set_message("");
    }

    /// A seed is done, or a measurement.
    pub fn seed_done(&self) {
        let ProgressState { bar, by_time, .. } = &*self.shared;
        if *by_time {
            bar.set_position(bar.elapsed().as_secs());
            return;
        }
        self.shared.done(self.shared.parts.last());
        bar.inc(1);
    }

    /// A run of a search is done.
    pub fn run_done(&self) {
        let ProgressState {
            bar,
            by_time,
            parts,
            ..
        } = &*self.shared;
        self.shared.done(parts.last());
        if !*by_time {
            bar.inc(1);
            return;
        }
        bar.set_position(bar.elapsed().as_secs());
        if let Some(runs) = parts.last() {
            bar.set_prefix(runs.words());
        }
    }

    /// Whether the user asked to stop.
    pub fn stop(&self) -> &AtomicBool {
        &self.shared.stop
    }

    /// Whether the user asked to stop, at the moment.
    pub fn is_stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
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
        let place = files::canonical_path(path);
        let mut outputs = self.shared.writing();
        if outputs.contains(&place) {
            let problem = format!("two outputs are to be written to {}", path.display());
            let hint = "the one would replace the other: name a file for each";
            return Err(Failure::usage(problem, [hint.to_owned()]));
        }
        outputs.push(place);
        drop(outputs);
        self.writing(|| files::can_write(path))
    }

    /// Checks that results can be written as JSON to a file.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn can_write_results(&self, path: &Path) -> Result<(), Failure> {
        self.can_write_report(path, "--json", "results.json")
    }

    /// Checks that the file that an option names, such as this example, can be written. Not over a scenario: of
    /// `--json my/*.toml`, a shell makes `--json my/a.toml my/b.toml`.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn can_write_report(
        &self,
        path: &Path,
        option: &str,
        example: &str,
    ) -> Result<(), Failure> {
        if path.extension().is_some_and(|ending| ending == "toml") {
            let problem = format!("{option} names {}, which is a scenario", path.display());
            let hint = format!("results need a file of their own, as in {option} {example}");
            return Err(Failure::usage(problem, [hint]));
        }
        self.can_write(path)
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
        if stop && !self.shared.keeps {
            return Err(Failure::Interrupted);
        }
        Ok(written?)
    }
}

impl ProgressState {
    fn writing(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn done(&self, part: Option<&Counted>) {
        if let Some(part) = part {
            part.done.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The user pressed Ctrl-C. The first time, a file that is being written is finished, and a search comes to its
    /// end with what it has found; nothing else does.
    fn interrupt(&self) {
        if self.stop.swap(true, Ordering::SeqCst) {
            process::exit(exit::INTERRUPTED.into());
        }
        let wipe = self.wipe();
        let again = "Ctrl-C again ends it at once";
        if self.keeps && self.parts.is_empty() {
            let keeps = "stopping, and keeping what was found";
            console::print_message(&format!("{wipe}picklock: {keeps}; {again}\n"));
            return;
        }
        let after = self.after();
        if self.keeps {
            let tells = "what was found comes now";
            console::print_message(&format!(
                "{wipe}picklock: stopped{after}; {tells}, {again}\n"
            ));
            return;
        }
        let writes = matches!(self.writing.try_lock(), Err(TryLockError::WouldBlock));
        console::print_message(&format!("{wipe}picklock: stopped{after}\n"));
        if !writes {
            let _no_more_writes = self.writing();
            process::exit(exit::INTERRUPTED.into());
        }
    }

    /// How much is done, in words, if anybody counts.
    fn after(&self) -> String {
        let done = self.parts.iter().map(Counted::words);
        match done.collect::<Vec<_>>().join(" and ") {
            nothing if nothing.is_empty() => nothing,
            done => format!(" after {done}"),
        }
    }

    /// What takes the bar away. It may be locked by a thread that waits for the reader of standard output, so this
    /// does without.
    fn wipe(&self) -> &'static str {
        if self.bar.is_hidden() {
            ""
        } else {
            "\r\x1b[2K"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_counts_its_runs_and_says_of_how_many_if_that_is_known() {
        let time = Some(Duration::from_secs(60));
        for (runs, time, said) in [
            (Some(40), None, " after 2 of 40 runs"),
            (Some(40), time, " after 2 of 40 runs"),
            (None, time, " after 2 runs"),
        ] {
            let work = Work::hunting(runs, time);
            work.run_done();
            work.run_done();
            assert_eq!(work.shared.after(), said);
            let counted = if time.is_some() { 0 } else { 2 };
            assert_eq!(work.shared.bar.position(), counted, "{runs:?} {time:?}");
        }
    }
}
