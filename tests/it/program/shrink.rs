//! `shrink`, `why`, and the files that shrinking leaves.

use std::fs;
use std::path::Path;

use super::common::{FAILING, Folder, UNDECIDED, picklock};
use picklock::scenarios::{Catalogue, load, runner};

const WAITER_DEATH: [&str; 5] = [
    "zookeeper/waiter-death",
    "--case",
    "zk-no-recheck",
    "--seed",
    "0",
];

/// Shrinks a run of the library into a folder: what was printed, and the file.
fn shrunk(folder: &Folder) -> (String, String) {
    let out = folder.at("kept");
    let done = picklock(&[&["shrink"], &WAITER_DEATH[..], &["--out", &out]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(done.stderr, "");
    let file = format!("{out}/waiter-death-zk-no-recheck-mutual-exclusion.toml");
    (done.stdout, file)
}

#[test]
fn a_shrunk_run_is_written_and_replayed_with_the_same_hash() {
    let folder = Folder::new();
    let (printed, file) = shrunk(&folder);
    let told = printed.replace(&folder.path().display().to_string(), "FOLDER");
    insta::assert_snapshot!("shrink", told);
    let replay = picklock(&["replay", &file]);
    assert_eq!(replay.code, Some(0), "{replay:?}");
    let last_lines = |text: &str| text.lines().rev().take(2).collect::<Vec<_>>().join("\n");
    assert_eq!(last_lines(&replay.stdout), last_lines(&printed));
    let run = picklock(&["run", &file, "--seeds", "3"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.contains("AS EXPECTED"), "{}", run.stdout);
}

#[test]
fn the_same_run_is_written_byte_for_byte() {
    let (one, two) = (Folder::new(), Folder::new());
    let read = |folder: &Folder| fs::read_to_string(shrunk(folder).1).unwrap_or_default();
    let text = read(&one);
    assert_eq!(text, read(&two));
    insta::assert_snapshot!("kept", text);
}

#[test]
fn a_file_that_was_edited_is_not_written_over() {
    let folder = Folder::new();
    let (_, file) = shrunk(&folder);
    let changed = fs::read_to_string(&file).unwrap_or_default() + "# mine\n";
    fs::write(&file, &changed).unwrap();
    for _ in 0..2 {
        let (printed, _) = shrunk(&folder);
        let other = file.replace(".toml", "-2.toml");
        assert!(
            printed.contains(&format!("picklock replay {other}")),
            "{printed}"
        );
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), changed);
    assert_eq!(fs::read_dir(folder.at("kept")).unwrap().count(), 2);
}

#[test]
fn a_hunt_with_what_cannot_strike_is_refused() {
    let done = picklock(&[
        "hunt",
        "zookeeper/waiter-death",
        "--case",
        "zk-hardened",
        "--kind",
        "evict-key",
    ]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(
        done.stderr
            .contains("nothing that `evict-key` could strike"),
        "{done:?}"
    );
}

#[test]
fn a_seed_that_holds_is_not_shrunk_and_nothing_is_written() {
    let folder = Folder::new();
    let out = folder.at("kept");
    let holds = ["shrink", "zookeeper/waiter-death", "--case", "zk-hardened"];
    let done = picklock(&[&holds[..], &["--seed", "3", "--out", &out]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.stdout.starts_with("seed 3 violates no promise"),
        "{}",
        done.stdout
    );
    assert_eq!(folder.names(), Vec::<String>::new());

    let other = ["--invariant", "fifo", "--out", &out];
    let done = picklock(&[&["shrink"], &WAITER_DEATH[..], &other].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    let said = "seed 0 does not violate fifo; it violates mutual-exclusion";
    assert!(done.stdout.starts_with(said), "{}", done.stdout);
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn what_no_lock_could_keep_is_shrunk_only_if_asked() {
    let excused = ["matrix/pause", "--case", "zk-hardened", "--seed", "1"];
    for verb in ["shrink", "why"] {
        let done = picklock(&[&[verb], &excused[..]].concat());
        assert_eq!(done.code, Some(0), "{done:?}");
        let said = "seed 1 violates only what no lock could keep (mutual-exclusion)";
        assert!(done.stdout.starts_with(said), "{}", done.stdout);
    }
    let asked = ["--invariant", "mutual-exclusion"];
    let done = picklock(&[&["shrink"], &excused[..], &asked].concat());
    assert!(done.stdout.contains("SHRUNK"), "{}", done.stdout);
}

#[test]
fn a_kept_run_is_told_as_what_it_was_kept_for() {
    let folder = Folder::new();
    let out = folder.at("kept");
    let run = ["zookeeper/shared-session", "--case", "zk-same-name"];
    let asked = ["--seed", "0", "--invariant", "honest-answer", "--out", &out];
    let done = picklock(&[&["shrink"], &run[..], &asked].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    let kept = format!("{out}/shared-session-zk-same-name-honest-answer.toml");
    for (verb, told) in [
        ("replay", "honest-answer violated: "),
        ("why", "honest-answer violated: "),
        ("shrink", "honest-answer violated: "),
    ] {
        let done = picklock(&[verb, &kept]);
        assert!(done.stdout.contains(told), "{}", done.stdout);
    }
    // It breaks others, which stand before it in the order of invariants.
    let text = fs::read_to_string(&kept).expect("a file");
    assert!(text.contains("expect.mutual-exclusion.violated"), "{text}");
    let first = |done: &str| {
        let mut lines = done
            .lines()
            .filter(|line| line.contains(" violated at seed"));
        lines.next().unwrap_or_default().trim().to_owned()
    };
    let done = picklock(&["run", &kept]).stdout;
    let told = "as expected    honest-answer violated at seed 0";
    assert!(first(&done).starts_with(told), "{done}");
    let expects = |line: &&str| !line.starts_with("expect.");
    let unexpected: Vec<&str> = text.lines().filter(expects).collect();
    let unexpected = folder.file("unexpected.toml", unexpected.join("\n"));
    let done = picklock(&["run", &unexpected]).stdout;
    let told = "fail    honest-answer violated at seed 0";
    assert!(first(&done).starts_with(told), "{done}");
    assert!(done.contains("\n  honest-answer violated: "), "{done}");
}

#[test]
fn what_is_said_of_the_end_is_what_runs_without_a_fault_say() {
    for (scenario, case, end) in [
        // A paused contender may overlap for less than a message takes if it is not.
        (
            "redis/eviction",
            "redis-compare-and-delete",
            "taken away from this way to fail",
        ),
        ("zookeeper/waiter-death", "zk-no-recheck", "taken away"),
    ] {
        let done = picklock(&["shrink", scenario, "--case", case, "--seed", "0"]).stdout;
        let mut lines = done.lines();
        let said = lines.find(|line| line.contains(" runs; nothing more can be "));
        assert!(said.is_some_and(|line| line.ends_with(end)), "{done}");
        let in_another_way = done.contains(" of 200 runs, each in another way");
        assert_eq!(in_another_way, end != "taken away", "{done}");
    }
}

#[test]
fn a_run_that_cannot_tell_does_not_hold() {
    let folder = Folder::new();
    let (path, out) = (folder.file("lock.toml", UNDECIDED), folder.at("kept"));
    let shrink: &[&str] = &["shrink", &path, "--seed", "0", "--out", &out];
    for command in [shrink, &["why", &path, "--seed", "0"]] {
        let done = picklock(command);
        assert_eq!(done.code, Some(3), "{done:?}");
        let said = "seed 0 is undecided: fault 1";
        assert!(done.stdout.starts_with(said), "{}", done.stdout);
    }
    assert_eq!(folder.names(), ["lock.toml"]);
}

#[test]
fn a_run_that_is_not_the_recorded_one_says_so_and_exits_with_2() {
    let folder = Folder::new();
    let (_, file) = shrunk(&folder);
    let text = fs::read_to_string(&file).unwrap_or_default();
    let version = format!("picklock = \"{}\"", env!("CARGO_PKG_VERSION"));
    let older = text.replace(&version, "picklock = \"0.0.7\"");
    let replay = |text: &str| picklock(&["replay", &folder.file("other.toml", text)]);

    let done = replay(&older);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.stdout.contains("recorded with picklock 0.0.7"),
        "{}",
        done.stdout
    );

    let done = replay(&older.replace("hold = \"20s\"", "hold = \"21s\""));
    assert_eq!(done.code, Some(2), "{done:?}");
    let words: Vec<&str> = done.stdout.split_whitespace().collect();
    let said = words.join(" ");
    assert!(
        said.contains("this is not the run that was recorded"),
        "{said}"
    );
    assert!(said.contains("with picklock 0.0.7, and this is"), "{said}");
    assert!(said.contains("ANOTHER RUN zk-no-recheck"), "{said}");
    assert!(!said.contains("AS EXPECTED"), "{said}");

    let done = replay(&text.replace("zk-no-recheck\"", "zk-no-rechek\""));
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(
        done.stderr.contains("did you mean `zk-no-recheck`?"),
        "{}",
        done.stderr
    );
}

#[test]
fn what_of_a_recorded_run_does_not_fit_any_more_is_said() {
    let folder = Folder::new();
    let kept = "regressions/unsorted-children-zk-unsorted-fencing-monotonic.toml";
    let text = fs::read_to_string(kept).expect("it is kept");
    let replay = |text: &str| {
        let done = picklock(&["replay", &folder.file("changed.toml", text)]);
        let words: Vec<&str> = done.stdout.split_whitespace().collect();
        (done.code, words.join(" "), done.stderr)
    };
    let (code, said, _) = replay(&text.replacen("choices = [", "choices = [4000000000, ", 1));
    assert_eq!(code, Some(2), "{said}");
    let expected = "choice 1 of the tape is 4000000000, and there are only";
    assert!(said.contains(expected), "{said}");

    let more = format!("{}1]", "1, ".repeat(5_000));
    let (before, after) = text.split_once("choices = [").expect("it has choices");
    let (choices, after) = after.split_once(']').expect("they end");
    let longer = format!("{before}choices = [{choices}{more}{after}");
    let (code, said, stderr) = replay(&longer);
    assert_eq!(code, Some(2), "{said}{stderr}");
    let expected = "choices were recorded, and the run makes only";
    assert!(said.contains(expected), "{said}");

    let other = text.replace("rounds = ", "rounds = 1");
    let path = folder.file("other.toml", &other);
    let run = picklock(&["run", &path]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let words: Vec<&str> = run.stdout.split_whitespace().collect();
    let said = words.join(" ");
    assert!(
        said.contains("it is not the run that was recorded"),
        "{said}"
    );

    let older = format!("picklock = \"{}\"", env!("CARGO_PKG_VERSION"));
    let older = text.replace(&older, "picklock = \"0.0.7\"");
    let run = picklock(&["run", &folder.file("older.toml", &older)]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let said = "recorded with picklock 0.0.7: the run is the same";
    assert!(run.stdout.contains(said), "{}", run.stdout);

    let gone = picklock(&["replay", kept, "--case", "zk-gone"]);
    assert_eq!(gone.code, Some(2), "{gone:?}");
    assert!(
        gone.stderr.contains("there is no case `zk-gone`"),
        "{gone:?}"
    );
}

#[test]
fn a_recorded_run_has_no_other_seed_and_other_cases_need_one() {
    let folder = Folder::new();
    let (_, file) = shrunk(&folder);
    let done = picklock(&["replay", &file, "--seed", "7"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("leave --seed away"), "{}", done.stderr);
    let done = picklock(&["replay", WAITER_DEATH[0], "--case", "zk-hardened"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("--seed 0"), "{}", done.stderr);
    let done = picklock(&[&["shrink"], &WAITER_DEATH[..], &["--invariant", "fivo"]].concat());
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(
        done.stderr.contains("did you mean `fifo`?"),
        "{}",
        done.stderr
    );
}

#[test]
fn an_unexpected_violation_is_told_by_its_shrunk_run() {
    let folder = Folder::new();
    let path = folder.file("lock.toml", FAILING);
    let done = picklock(&["run", &path, "--seeds", "3"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(
        (done.stdout).contains("\n  shrunk: simpler, and not smaller: 3 contenders"),
        "{}",
        done.stdout
    );
    let keep = format!("Keep     picklock shrink {path} --case zk-no-recheck --seed 0");
    assert!(done.stdout.contains(&keep), "{}", done.stdout);
    // The command that it ends with shows the run that was found, and knows it again.
    let mut lines = done.stdout.lines();
    let replay = lines.find_map(|line| line.strip_prefix("  Replay   picklock "));
    let again = picklock(&replay.expect("it is there").split(' ').collect::<Vec<_>>());
    assert!(replay.is_some_and(|line| line.contains(" --was ")));
    assert_eq!(again.code, Some(1), "{again:?}");

    let done = picklock(&["run", &path, "--seeds", "3", "--no-shrink"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(!done.stdout.contains("shrunk"), "{}", done.stdout);
    let mut lines = done.stdout.lines();
    let replay = lines.find(|line| line.starts_with("  Replay   picklock "));
    assert!(replay.is_some_and(|line| line.contains(" --was ")));
}

#[test]
fn what_a_report_offers_is_done_with_its_run_and_no_other() {
    let folder = Folder::new();
    let path = folder.file("lock.toml", FAILING);
    let done = picklock(&["run", &path, "--seeds", "3"]);
    for (label, command) in [("  Keep     ", "shrink"), ("  Why      ", "why")] {
        let mut lines = done.stdout.lines();
        let offered = lines.find_map(|line| line.strip_prefix(label));
        let offered = offered.and_then(|line| line.strip_prefix("picklock "));
        let out = format!("--out {}", folder.at("kept"));
        let offered = offered.expect("it is offered");
        let offered = offered.replace("--out regressions", &out);
        let offered: Vec<&str> = offered.split(' ').collect();
        assert_eq!(offered[0], command);
        let more: &[&str] = match command {
            "shrink" => &[],
            _ => &["--runs", "2", "--samples", "2"],
        };
        let again = picklock(&[&offered[..], more].concat());
        assert_eq!(again.code, Some(0), "{again:?}");
        let (_, run) = offered.split_last().expect("it has words");
        assert_eq!(run.last(), Some(&"--was"));
        let refused = picklock(&[run, &["0.0.7:00c0ffee00c0ffee"]].concat());
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stdout.is_empty(), "{refused:?}");
        for said in [
            "and not 00c0ffee00c0ffee",
            "it was found with picklock 0.0.7",
        ] {
            assert!(refused.stderr.contains(said), "{refused:?}");
        }
    }
}

#[test]
fn why_names_the_fault_that_it_needs() {
    let folder = Folder::new();
    let json = folder.at("why.json");
    let few = ["--runs", "20", "--samples", "10", "--json", &json];
    let done = picklock(&[&["why"], &WAITER_DEATH[..], &few].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    insta::assert_snapshot!("why", done.stdout);
    let text = fs::read_to_string(&json).unwrap_or_default();
    let read: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    assert_eq!(read["without"][0]["violated"], 20);
    assert_eq!(read["without"][1]["fault"], 1);
    assert_eq!(read["without"][1]["violated"], 0);
    assert_eq!(read["turning_choice"], serde_json::Value::Null);

    let holds = ["why", "zookeeper/waiter-death", "--case", "zk-hardened"];
    let done = picklock(&[&holds[..], &["--seed", "3"]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.stdout.starts_with("seed 3 violates no promise"),
        "{}",
        done.stdout
    );
}

#[test]
fn every_regression_is_still_the_run_that_was_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    let loaded = load(&folder, &Catalogue::EVERYTHING);
    let scenarios = loaded.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
    assert!(scenarios.len() >= 3);
    for scenario in scenarios {
        let case = &scenario.cases[0];
        let recorded = case.recorded.as_ref().expect("it is a recorded run");
        let simulated = runner::simulated(case, 0);
        assert_eq!(recorded.was.hash, Some(simulated.hash), "{}", scenario.path);
        picklock::assert_as_expected(&scenario.path, 0..1);
    }
}

/// What is added to [`FAILING`] for a run of which most promises cannot be judged, because a fault never fires: the
/// file looks at the one that is violated.
fn one_promise_alone() -> String {
    let rest = [
        "exclusive-ownership",
        "no-stale-effect",
        "fencing-monotonic",
        "progress",
        "no-orphan",
        "own-release-only",
        "fifo",
        "honest-answer",
        "timely-loss",
    ];
    let unchecked = rest.map(|invariant| format!("expect.{invariant} = \"unchecked\"\n"));
    let violated =
        "expect.mutual-exclusion.violated = { because = \"it sleeps\", within-seeds = 1 }";
    let never = "[[fault]]\nwhen.acquired = { by = \"contender-1\", nth = 9 }\n\
                 inject.cut = { target = \"contender-1\" }\n\n[[case]]";
    let file = FAILING.replace("[[case]]", never);
    format!(
        "{file}{violated}\n{}\n[replay]\nchoices = []\n",
        unchecked.concat()
    )
}

#[test]
fn run_and_replay_agree_on_every_run_that_was_kept() {
    let folder = Folder::new();
    let regressions = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    let kept = fs::read_dir(regressions).expect("a folder").map(|entry| {
        let path = entry.expect("a file").path();
        path.display().to_string()
    });
    let kept = kept.filter(|file| file.ends_with(".toml"));
    for file in kept.chain([folder.file("never.toml", one_promise_alone())]) {
        let (run, replay) = (picklock(&["run", &file]), picklock(&["replay", &file]));
        assert_eq!(run.code, replay.code, "{file}: {}", replay.stdout);
        assert_eq!(run.code, Some(0), "{file}: {}", run.stdout);
    }
}

#[test]
fn what_breaks_the_lease_server_is_shrunk_and_kept() {
    let folder = Folder::new();
    let any = "faults = \"any\"\n[[case]]\nalgorithm = \"lease-lock-by-pid\"\n";
    let (file, out) = (folder.file("any.toml", any), folder.at("kept.toml"));
    let done = picklock(&["shrink", &file, "--seed", "1", "--out", &out]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for verb in ["validate", "run", "replay"] {
        let done = picklock(&[verb, &out]);
        assert_eq!(done.code, Some(0), "{verb}: {done:?}");
    }
}
