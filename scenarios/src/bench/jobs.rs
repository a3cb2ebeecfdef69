//! Fixed jobs whose work can be counted: the same instructions each time, on a machine that is busy, too.

use std::sync::atomic::AtomicBool;

use picklock_checker::{check_all, invariants};
use picklock_sim::plan::Plan;
use picklock_sim::{engine_benches, simulate};

use super::{redis_run, short_run};
use crate::format::parse;
use crate::herd::Experiment;
use crate::library::BUILT_IN;
use crate::scenario::Catalogue;
use crate::shrink::{Budget, SearchLimit, shrink};

/// A fixed job.
#[derive(Debug)]
pub struct Job {
    /// Its name, as a command takes it.
    pub name: &'static str,
    /// What it does once, in a few words.
    pub what: &'static str,
    /// How often it is done, so that what the program does besides counts little.
    pub times: u64,
    /// Does it so often. What it answers depends on all that it did.
    pub run: fn(u64) -> u64,
}

/// All of them.
pub const JOBS: &[Job] = &[
    Job {
        name: "engine",
        what: "the bare engine: 3 servers, 5 clients, 100 messages",
        times: 10_000,
        run: |times| {
            (0..times).fold(0, |folded, seed| {
                folded ^ engine_benches::with_futures(seed)
            })
        },
    },
    Job {
        name: "zookeeper",
        what: "a short run: 3 servers, 5 contenders, 10 acquisitions each, checked",
        times: 300,
        run: |times| checked(&short_run(), times),
    },
    Job {
        name: "redis",
        what: "the same of Redis: one server, SET NX PX and DEL",
        times: 500,
        run: |times| checked(&redis_run(), times),
    },
    Job {
        name: "herd",
        what: "a herd of 1,000, zk-children-watch",
        times: 1,
        run: |times| (0..times).fold(0, |folded, _| folded ^ herd()),
    },
    Job {
        name: "shrink",
        what: "zookeeper/waiter-death, zk-no-recheck, seed 0, made smaller",
        times: 4,
        run: |times| (0..times).fold(0, |folded, _| folded ^ shrunk()),
    },
    Job {
        name: "library",
        what: "the scenario files that come with picklock, read",
        times: 8,
        run: |times| (0..times).fold(0, |folded, _| folded ^ cases_read()),
    },
];

fn checked(plan: &Plan, times: u64) -> u64 {
    (0..times).fold(0, |folded, seed| {
        let simulated = simulate(plan, seed).whole();
        folded ^ simulated.hash ^ check_all(&simulated.run).len() as u64
    })
}

fn herd() -> u64 {
    let recipe = picklock_algorithms::registry::find("zk-children-watch");
    recipe.map_or(0, |recipe| Experiment::of(*recipe, 1_000).run().hash)
}

fn shrunk() -> u64 {
    let name = "zookeeper/waiter-death";
    let text = BUILT_IN.iter().find(|(known, _)| *known == name);
    let scenario = text.and_then(|(name, text)| parse(name, text, &Catalogue::EVERYTHING).ok());
    let mut cases = scenario.iter().flat_map(|scenario| &scenario.cases);
    let case = cases.find(|case| case.name == "zk-no-recheck");
    let shrunk = case
        .zip(invariants::find("mutual-exclusion"))
        .and_then(|(case, invariant)| {
            let stop = AtomicBool::new(false);
            let limit = SearchLimit::until(&stop);
            shrink(case, 0, invariant, Budget::default(), &limit)
        });
    shrunk.map_or(0, |shrunk| shrunk.simulated.hash)
}

fn cases_read() -> u64 {
    let scenarios = BUILT_IN
        .iter()
        .filter_map(|(name, text)| parse(name, text, &Catalogue::EVERYTHING).ok());
    scenarios.map(|scenario| scenario.cases.len() as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the counts are compared with: a row for each job, its name, a tab, and its instructions.
    const TABLE: &str = include_str!("../../../.ci/instructions.tsv");

    #[test]
    fn the_table_of_instructions_has_a_row_for_each_job() {
        let rows = TABLE.lines().filter(|line| !line.starts_with('#'));
        let rows: Vec<&str> = rows.filter_map(|row| row.split('\t').next()).collect();
        let jobs: Vec<&str> = JOBS.iter().map(|job| job.name).collect();
        assert_eq!(rows, jobs);
        let counted = |row: &str| row.split('\t').nth(1)?.parse::<u64>().ok();
        let mut rows = TABLE.lines().filter(|line| !line.starts_with('#'));
        assert!(rows.all(|row| counted(row).is_some_and(|count| count > 0)));
    }

    #[test]
    fn a_job_that_does_nothing_is_found_out() {
        // A name that is no longer there would leave the job with nothing to do.
        assert_ne!(shrunk(), 0);
        assert!(cases_read() > BUILT_IN.len() as u64);
        assert!(picklock_algorithms::registry::find("zk-children-watch").is_some());
    }
}
