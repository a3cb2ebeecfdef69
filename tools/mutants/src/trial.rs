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
/// All groups of the library, each with its service if it has only one: those in which most mutants are noticed first.
const GROUPS: [(&str, Option<&str>); 12] = [
    ("zookeeper", Some("zookeeper")),
    ("redis", Some("redis")),
    ("lease-server", Some("lease-server")),
    ("etcd", Some("etcd")),
    ("sql", Some("sql")),
    ("memcached", Some("memcached")),
    ("consul", Some("consul")),
    ("chubby", Some("chubby")),
    ("incidents", None),
    ("curator", Some("zookeeper")),
    ("kazoo", Some("zookeeper")),
    ("redisson", Some("redis")),
];
/// However quick a program is without a mutant, with one it has this long.
const LEAST: Duration = Duration::from_secs(20);
/// A test that takes longer than this is taken to hang.
const PATIENCE: Duration = Duration::from_secs(180);
/// What runs without a mutant has all the time that it takes.
const HOUR: Duration = Duration::from_secs(3_600);
/// And otherwise so many times as long.
const TIMES: u32 = 5;

/// What noticed.
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

/// How a group of the library comes out with some seeds, and how long that takes.
pub struct Usual {
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
    /// Runs what of the library these mutants can show in, without any of them.
    ///
    /// # Errors
    ///
    /// It does not run to its end without one, too: then nothing could be said.
    pub fn control(&self, mutants: &[(usize, &Mutant)]) -> Result<Vec<Usual>, String> {
        let wanted = |group: &str, round: usize| {
            let shows = |(_, mutant): &(usize, &Mutant)| shows_in(mutant, group, round);
            mutants.iter().any(shows)
        };
        let mut usual = Vec::new();
        for (round, seeds) in ROUNDS.into_iter().enumerate() {
            let groups = GROUPS.into_iter().map(|(group, _)| group);
            for group in groups.filter(|group| wanted(group, round)) {
                let began = now();
                let results = self.results.join("0.json");
                let ran = library(
                    (&self.built.program, &self.built.tree),
                    (group, seeds),
                    0,
                    HOUR,
                    &results,
                )?;
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
        Ok(usual)
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
        usual: &[Usual],
    ) -> Result<Option<Killer>, String> {
        if mutant.is_of_recipe() {
            return self.in_library(number, mutant, usual);
        }
        let (own, other) = concerned(mutant, &self.built.tests);
        if let Some(killer) = in_tests(number, &own)? {
            return Ok(Some(killer));
        }
        match self.in_library(number, mutant, usual)? {
            Some(killer) => Ok(Some(killer)),
            None => in_tests(number, &other),
        }
    }

    fn in_library(
        &self,
        number: usize,
        mutant: &Mutant,
        usual: &[Usual],
    ) -> Result<Option<Killer>, String> {
        let shows = |usual: &&Usual| shows_in(mutant, usual.group, usual.round);
        for usual in usual.iter().filter(shows) {
            let results = self.results.join(format!("{number}.json"));
            let part = (usual.group, ROUNDS[usual.round]);
            let limit = (usual.took * TIMES).max(LEAST);
            match library(
                (&self.built.program, &self.built.tree),
                part,
                number,
                limit,
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

/// Whether a mutant may show in a group of the library, with the seeds of this round.
fn shows_in(mutant: &Mutant, group: &str, round: usize) -> bool {
    let rounds = match mutant.is_of_recipe() {
        true => ROUNDS.len(),
        false => BEFORE_TESTS,
    };
    let (_, of) = GROUPS
        .into_iter()
        .find(|(name, _)| *name == group)
        .unwrap_or((group, None));
    round < rounds && of.is_none_or(|of| mutant.service().is_none_or(|service| service == of))
}

/// The tests of a mutant's crate, and those of the crates that stand on it.
fn concerned<'t>(
    mutant: &Mutant,
    tests: &'t [TestBinary],
) -> (Vec<&'t TestBinary>, Vec<&'t TestBinary>) {
    let own = mutant.package();
    let stands_on = |test: &&TestBinary| {
        let mut found = PACKAGES.iter().filter(|(name, _)| *name == test.package);
        found.any(|(name, on)| *name == own || on.contains(&own))
    };
    let concerned = tests.iter().filter(stands_on);
    concerned.partition(|test| test.package == own)
}

fn in_tests(number: usize, tests: &[&TestBinary]) -> Result<Option<Killer>, String> {
    for test in tests {
        if let Some(killer) = tested(test, number)? {
            return Ok(Some(killer));
        }
    }
    Ok(None)
}

/// The first test of a program that fails, if one does, and does not without the mutant.
fn tested(test: &TestBinary, number: usize) -> Result<Option<Killer>, String> {
    let TestBinary {
        package,
        name,
        path,
        folder,
    } = test;
    let place = format!("{package}, {name}");
    let mut failed = None;
    let end = run(
        (path, folder),
        &["--test-threads=1"],
        number,
        PATIENCE,
        |line| {
            let rest = line.strip_prefix("test ");
            let named = rest.and_then(|rest| rest.strip_suffix(" ... FAILED"));
            failed = named.map(str::to_owned);
            failed.is_some()
        },
    )?;
    let (only, killer) = match (failed, end) {
        (None, End::Exited(Some(0)) | End::Enough) => return Ok(None),
        (Some(failed), _) => {
            let killer = Killer::Test(format!("{place}: {failed}"));
            (vec![failed, "--exact".to_owned()], killer)
        }
        (None, End::TimedOut) => (Vec::new(), Killer::TimeOut(place.clone())),
        (None, End::Exited(_)) => (Vec::new(), Killer::Test(format!("{place}: all of it"))),
    };
    let only: Vec<&str> = only.iter().map(String::as_str).collect();
    match run((path, folder), &only, 0, HOUR, |_| false)? {
        End::Exited(Some(0)) => Ok(Some(killer)),
        _ => Err(format!("without a mutant, too: {killer:?}")),
    }
}

/// How long something took.
pub fn seconds(since: Instant) -> u64 {
    since.elapsed().as_secs()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::GROUPS;

    #[test]
    fn every_group_of_the_library_may_notice_a_mutant() {
        let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/library");
        let folders = fs::read_dir(library).expect("the library is there");
        let names = folders.map(|folder| folder.expect("it can be read").file_name());
        let names: BTreeSet<String> = names.filter_map(|name| name.into_string().ok()).collect();
        assert_eq!(names, GROUPS.map(|(group, _)| group.to_owned()).into());
    }
}
