//! Tries one mutant after the other on whatever could notice it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use picklock_mutants::list::Mutant;

use crate::build::{Built, PACKAGES, TestBinary};
use crate::library::{Ran, Standings, differences, library};
use crate::process::{End, now, run};

/// The seeds that the library is run with, one range after the other: what is caught at all is mostly caught by the
/// first.
const ROUNDS: [&str; 3] = ["0..4", "4..20", "20..100"];
/// Where tests may notice, too, they are asked before the last.
const BEFORE_TESTS: usize = 2;
/// The groups of the library, by service.
const GROUPS: [&str; 2] = ["zookeeper", "redis"];
/// However quick a program is without a mutant, with one it has this long.
const LEAST: Duration = Duration::from_secs(20);
/// Tests that take less than this are quick.
const QUICK: Duration = Duration::from_secs(10);
/// And otherwise so many times as long.
const TIMES: u32 = 5;

/// Who noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Killer {
    /// The library: what of it, and how many cases.
    Library(String, usize),
    /// The program ended with a panic or a signal.
    Panic,
    /// A test.
    Test(String),
    /// What never ends is ended.
    TimeOut(String),
}

/// How everything is without a mutant.
pub struct Control {
    library: Vec<Usual>,
    tests: Vec<(TestBinary, Duration)>,
}

/// How a group of the library comes out with some seeds, and how long that takes.
struct Usual {
    group: &'static str,
    round: usize,
    standings: Standings,
    took: Duration,
}

/// What mutants are tried on.
pub struct Bench {
    pub built: Built,
    /// Where results are written.
    pub results: PathBuf,
}

impl Bench {
    /// Runs everything without a mutant.
    ///
    /// # Errors
    ///
    /// It fails without one, too: then nothing could be said.
    pub fn control(&self) -> Result<Control, String> {
        let hour = Duration::from_secs(3_600);
        let mut usual = Vec::new();
        for (round, seeds) in ROUNDS.into_iter().enumerate() {
            for group in GROUPS {
                let began = now();
                let results = self.results.join("0.json");
                let ran = library(&self.built.program, (group, seeds), 0, hour, &results)?;
                let Ran::To(standings) = ran else {
                    return Err(format!("the library does not run: {group}"));
                };
                let took = began.elapsed();
                usual.push(Usual {
                    group,
                    round,
                    standings,
                    took,
                });
            }
        }
        let mut tests = Vec::new();
        for test in &self.built.tests {
            let began = now();
            let failed = tested(test, 0, hour)?;
            if let Some(killer) = failed {
                return Err(format!("without a mutant, too: {killer:?}"));
            }
            tests.push((test.clone(), began.elapsed()));
        }
        let library = usual;
        Ok(Control { library, tests })
    }

    /// Tries one: on the library of scenarios, and, unless it is in a recipe, on tests. The quick ones of its own crate
    /// come first.
    ///
    /// # Errors
    ///
    /// A program cannot be started.
    pub fn tried(
        &self,
        number: usize,
        mutant: &Mutant,
        control: &Control,
    ) -> Result<Option<Killer>, String> {
        if mutant.is_of_recipe() {
            return self.in_library(number, mutant, control, ROUNDS.len());
        }
        let tests = concerned(mutant, &control.tests);
        let own = |test: &&&(TestBinary, Duration)| test.0.package == mutant.package();
        let first = |test: &&&(TestBinary, Duration)| own(test) && test.1 < QUICK;
        for (test, took) in tests.iter().filter(first) {
            if let Some(killer) = tested(test, number, limit(*took))? {
                return Ok(Some(killer));
            }
        }
        if let Some(killer) = self.in_library(number, mutant, control, BEFORE_TESTS)? {
            return Ok(Some(killer));
        }
        for (test, took) in tests.iter().filter(|test| !first(test)) {
            if let Some(killer) = tested(test, number, limit(*took))? {
                return Ok(Some(killer));
            }
        }
        Ok(None)
    }

    fn in_library(
        &self,
        number: usize,
        mutant: &Mutant,
        control: &Control,
        rounds: usize,
    ) -> Result<Option<Killer>, String> {
        let tells = |usual: &&Usual| {
            let of = mutant
                .service()
                .is_none_or(|service| service == usual.group);
            usual.round < rounds && of
        };
        for usual in control.library.iter().filter(tells) {
            let results = self.results.join(format!("{number}.json"));
            let part = (usual.group, ROUNDS[usual.round]);
            match library(
                &self.built.program,
                part,
                number,
                limit(usual.took),
                &results,
            )? {
                Ran::TimedOut => return Ok(Some(Killer::TimeOut("the library".to_owned()))),
                Ran::Broken => return Ok(Some(Killer::Panic)),
                Ran::To(with) => {
                    let mut different = differences(&usual.standings, &with).into_iter();
                    if let Some(first) = different.next() {
                        return Ok(Some(Killer::Library(first, 1 + different.count())));
                    }
                }
            }
        }
        Ok(None)
    }
}

/// How long something may take that took so long without a mutant.
fn limit(took: Duration) -> Duration {
    (took * TIMES).max(LEAST)
}

/// The tests of a mutant's crate, and then those of the crates that stand on it; the quick ones first.
fn concerned<'t>(
    mutant: &Mutant,
    tests: &'t [(TestBinary, Duration)],
) -> Vec<&'t (TestBinary, Duration)> {
    let own = mutant.package();
    let stands_on = |package: &str| {
        let mut found = PACKAGES.iter().filter(|(name, _)| *name == package);
        found.any(|(name, on)| *name == own || on.contains(&own))
    };
    let its = |(test, _): &&(TestBinary, Duration)| stands_on(test.package);
    let mut concerned: Vec<_> = tests.iter().filter(its).collect();
    concerned.sort_by_key(|(test, took)| (test.package != own, *took));
    concerned
}

/// The first test of a program that fails, if one does.
fn tested(test: &TestBinary, number: usize, limit: Duration) -> Result<Option<Killer>, String> {
    let TestBinary {
        package,
        name,
        path,
    } = test;
    let mut failed = None;
    let end = run(path, &["--test-threads=1"], number, limit, |line| {
        let rest = line.strip_prefix("test ");
        let named = rest.and_then(|rest| rest.strip_suffix(" ... FAILED"));
        failed = named.map(str::to_owned);
        failed.is_some()
    })?;
    let place = format!("{package}, {name}");
    Ok(match (failed, end) {
        (Some(failed), _) => Some(Killer::Test(format!("{place}: {failed}"))),
        (None, End::TimedOut) => Some(Killer::TimeOut(place)),
        (None, End::Exited(Some(0)) | End::Enough) => None,
        (None, End::Exited(_)) => Some(Killer::Test(format!("{place}: all of it"))),
    })
}

/// How long something took.
pub fn seconds(since: Instant) -> u64 {
    since.elapsed().as_secs()
}
