//! Histories in files, sorted by verdict: those in `good` keep the promise that their first line
//! names, those in `bad` break it, and say how.
//!
//! After the first line: `#` begins a comment, `fact` fixes a fact, `says` is the summary that is
//! expected, and all else is a history in the [notation](picklock_checker::notation).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use picklock_checker::{
    INVARIANTS, Invariant, PermitsLeft, Rendezvous, Run, Verdict, invariants, notation,
};

struct Case {
    path: PathBuf,
    invariant: &'static Invariant,
    run: Run,
    says: Option<String>,
}

fn cases(verdict: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/histories");
    let files = fs::read_dir(folder.join(verdict)).expect("the folder is there");
    let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    paths.into_iter().map(read).collect()
}

fn read(path: PathBuf) -> Case {
    let text = fs::read_to_string(&path).expect("a text");
    let mut lines = text.lines();
    let name = lines.next().unwrap_or_default();
    let invariant = invariants::find(name);
    let invariant = invariant.unwrap_or_else(|| panic!("{}: what is {name}?", path.display()));
    let (mut says, mut facts, mut history) = (None, Vec::new(), String::new());
    for line in lines {
        match line.split_once(' ') {
            Some(("#", _)) => {}
            Some(("fact", fact)) => facts.push(fact),
            Some(("says", summary)) => says = Some(summary.to_owned()),
            Some(_) | None => history.extend([line, "\n"]),
        }
    }
    let mut run = notation::run(&history);
    for fact in facts {
        state(&mut run, fact);
    }
    Case {
        path,
        invariant,
        run,
        says,
    }
}

fn state(run: &mut Run, fact: &str) {
    let (name, value) = fact.split_once(" = ").expect("a fact as in step = 1");
    let value: i64 = value.parse().expect("a whole number");
    match name {
        "lease" => run.facts.lease = Duration::from_secs(value.unsigned_abs()),
        "step" => run.facts.step = Some(value),
        "floor" => run.facts.floor = Some(value),
        "starvation-bound" => run.facts.starvation_bound = u32::try_from(value).ok(),
        "bypass-bound" => run.facts.bypass_bound = u32::try_from(value).ok(),
        "parties" => {
            let parties = u32::try_from(value).ok();
            run.facts.rendezvous = parties.map(|parties| Rendezvous::DoubleBarrier { parties });
        }
        "barrier" => run.facts.rendezvous = (value == 1).then_some(Rendezvous::Barrier),
        "count" => {
            let count = u32::try_from(value).ok();
            run.facts.rendezvous = count.map(|count| Rendezvous::CountDownLatch { count });
        }
        "permits" => run.facts.permits = u32::try_from(value).expect("a number of permits"),
        "free" => {
            let left = PermitsLeft {
                free: value,
                leased: None,
            };
            run.permits_left = vec![Some(left)];
        }
        "initial" => run.facts.initial_value = value,
        other => panic!("what is {other}?"),
    }
}

#[test]
fn good_histories_hold() {
    for case in cases("good") {
        let verdict = case.invariant.verdict(&case.run);
        assert_eq!(verdict, Verdict::Holds, "{}", case.path.display());
    }
}

#[test]
fn bad_histories_are_violations_and_say_why() {
    for case in cases("bad") {
        let path = case.path.display();
        let verdict = case.invariant.verdict(&case.run);
        let Verdict::Violated(witness) = verdict else {
            panic!("{path}: {verdict:?}");
        };
        assert_eq!(Some(witness.summary), case.says, "{path}");
        assert!(!witness.argument.is_empty(), "{path}: no argument");
        let events = case.run.history.events.len();
        assert!(witness.events.iter().all(|&index| index < events), "{path}");
    }
}

#[test]
fn every_invariant_has_a_good_and_a_bad_history() {
    for folder in ["good", "bad"] {
        let cases = cases(folder);
        for invariant in INVARIANTS {
            let has = cases
                .iter()
                .any(|case| case.invariant.name == invariant.name);
            assert!(has, "no {folder} history of {}", invariant.name);
        }
    }
}
