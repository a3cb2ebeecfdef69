//! Recipes that break off: the program is built with the feature `broken-recipes` for that, which no release has.

use crate::common::{Folder, command, picklock};

/// A world in which nothing breaks.
const WORLD: &str = r#"
claim = "A lock works where nothing breaks."
because = "It does."
source = "a test"

[service.zookeeper]

[workload]
contenders = 3
arrive = "in-order"
hold = "20ms"
"#;

/// A scenario file with a case for each of these recipes.
fn scenario(folder: &Folder, name: &str, recipes: &[&str]) -> String {
    let cases = recipes
        .iter()
        .map(|recipe| format!("[[case]]\nalgorithm = \"{recipe}\"\n"));
    folder.file(name, format!("{WORLD}{}", cases.collect::<String>()))
}

const WHY: &str = "contender-2's acquire panicked: out of luck (";

#[test]
fn a_panic_ends_its_case_with_exit_code_5_and_all_others_are_reported() {
    let folder = Folder::new();
    scenario(&folder, "a.toml", &["panics-in-acquire", "zk-hardened"]);
    scenario(&folder, "b.toml", &["zk-predecessor-watch"]);
    let (path, json) = (folder.path().display().to_string(), folder.at("r.json"));
    let done = picklock(&["run", &path, "--seeds", "20", "--json", &json]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(5), ""), "{done:?}");
    let lines = [
        "      BROKEN  panics-in-acquire",
        "seed 0, 20 of 20 seeds broken",
        "       HOLDS  zk-hardened",
        "b  1 case as expected",
        "  seed 0 broke off: contender-2's acquire panicked: out of luck",
        "  2 scenarios, 3 cases: 2 as expected, 1 broken.",
        "a.toml --case panics-in-acquire --seed 0 --was ",
    ];
    for line in lines {
        assert!(done.stdout.contains(line), "{line}\n{}", done.stdout);
    }
    assert!(done.stdout.ends_with("exit 5\n"));
    let results = std::fs::read_to_string(&json).expect("it was written");
    let results: serde_json::Value = serde_json::from_str(&results).expect("it is JSON");
    let standings = results["cases"].as_array().expect("there are cases");
    let standings: Vec<_> = standings.iter().map(|case| &case["standing"]).collect();
    assert_eq!(standings, ["broken", "holds", "holds"]);
    let broken = &results["cases"][0]["broken"];
    assert_eq!((&broken["seed"], &broken["seeds"]), (&0.into(), &20.into()));
    assert!(
        broken["why"]
            .as_str()
            .is_some_and(|why| why.starts_with(WHY))
    );
    let place = broken["place"].as_str().expect("a panic has a place");
    assert!(place.contains("broken/src/lib.rs:"), "{place}");
    assert!(results["cases"][1].get("broken").is_none());
}

#[test]
fn what_is_asked_of_a_run_that_broke_off_is_answered_with_why_and_exit_code_5() {
    let folder = Folder::new();
    let path = scenario(&folder, "a.toml", &["panics-in-acquire"]);
    let done = picklock(&["replay", &path, "--seed", "7"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(5), ""), "{done:?}");
    assert!(
        done.stdout
            .contains("the run broke off: contender-2's acquire panicked: out of luck\n"),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout.contains("the run ends: it broke off\n"),
        "{}",
        done.stdout
    );
    for ask in ["why", "shrink"] {
        let done = picklock(&[ask, &path, "--seed", "7"]);
        assert_eq!((done.code, done.stdout.as_str()), (Some(5), ""), "{done:?}");
        let told = format!("picklock: the run broke off: {WHY}");
        assert!(done.stderr.starts_with(&told), "{}", done.stderr);
        let replay =
            format!("replay   cargo run -- replay {path} --case panics-in-acquire --seed 7\n");
        assert!(done.stderr.ends_with(&replay), "{}", done.stderr);
    }
    let done = picklock(&[
        "herd",
        "--algorithm",
        "panics-in-acquire",
        "--contenders",
        "3",
    ]);
    assert_eq!(done.code, Some(5), "{done:?}");
}

#[test]
fn the_yield_of_a_case_that_breaks_off_is_not_measured_and_it_is_named() {
    let folder = Folder::new();
    let path = scenario(&folder, "a.toml", &["panics-in-acquire"]);
    let text = std::fs::read_to_string(&path).expect("it is there");
    let expected = "expect.fifo.violated = { because = \"it is not\", within-seeds = 1 }\n";
    std::fs::write(&path, text + expected).expect("it can be written");
    let done = picklock(&["yield", &path, "--bases", "1", "--limit", "1"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(5), ""), "{done:?}");
    let told = format!("picklock: a run broke off: {WHY}");
    assert!(done.stderr.starts_with(&told), "{}", done.stderr);
    let again = format!("again    cargo run -- yield {path} --case panics-in-acquire\n");
    assert!(done.stderr.ends_with(&again), "{}", done.stderr);
}

#[test]
fn a_hunt_tells_and_keeps_a_run_that_broke_off() {
    let folder = Folder::new();
    let (path, out) = (
        scenario(&folder, "a.toml", &["panics-with-some-seeds"]),
        folder.at("found"),
    );
    let done = picklock(&["hunt", &path, "--runs", "100", "--out", &out]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(5), ""), "{done:?}");
    let kept = format!("{out}/a-panics-with-some-seeds-broken.toml");
    assert!(
        done.stdout.contains(&format!("cargo run -- replay {kept}")),
        "{}",
        done.stdout
    );
    let done = picklock(&["replay", &kept]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(5), ""), "{done:?}");
    assert!(
        done.stdout.contains("panicked: a multiple of three"),
        "{}",
        done.stdout
    );
}

#[test]
fn shards_carry_what_broke_off_into_what_they_are_merged_to() {
    let folder = Folder::new();
    let path = scenario(
        &folder,
        "a.toml",
        &["panics-with-some-seeds", "zk-hardened"],
    );
    let seeds = ["--seeds", "30"];
    let whole = folder.at("whole.json");
    let run = ["run", &path, "--json", &whole];
    let done = command(&run)
        .args(seeds)
        .output()
        .expect("the program runs");
    assert_eq!(done.status.code(), Some(5));
    let parts = ["1/2", "2/2"].map(|shard| {
        let part = folder.at(&format!("{}.json", &shard[..1]));
        let run = ["run", &path, "--shard", shard, "--json", &part];
        let done = command(&run)
            .args(seeds)
            .output()
            .expect("the program runs");
        assert_eq!(done.status.code(), Some(5), "{shard}");
        part
    });
    let merged = folder.at("merged.json");
    let done = picklock(&["merge", &parts[0], &parts[1], "--json", &merged]);
    assert_eq!(done.code, Some(5), "{done:?}");
    let read = |path: &str| std::fs::read_to_string(path).expect("it was written");
    assert_eq!(read(&merged), read(&whole));
}

#[test]
fn code_that_never_waits_is_ended_also_where_time_is_the_limit() {
    let folder = Folder::new();
    let path = scenario(&folder, "a.toml", &["yields-for-ever", "zk-hardened"]);
    let done = picklock(&["run", &path, "--time", "1s"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(5), ""), "{done:?}");
    assert!(
        done.stdout
            .contains("contender-2's acquire never waits: 103001 polls")
    );
    assert!(
        done.stdout.contains("       HOLDS  zk-hardened"),
        "{}",
        done.stdout
    );
}

#[test]
fn what_is_not_deterministic_is_found_by_a_plain_run() {
    let folder = Folder::new();
    for recipe in ["goes-by-a-hash", "goes-by-a-counter"] {
        let path = scenario(&folder, "a.toml", &[recipe]);
        let done = picklock(&["run", &path, "--seeds", "3"]);
        assert_eq!(done.code, Some(4), "{done:?}");
        assert!(
            done.stderr.contains(&format!("case {recipe}, seed 0")),
            "{}",
            done.stderr
        );
    }
}

#[test]
fn code_that_never_comes_back_is_named_by_the_watchdog_and_what_is_done_is_reported() {
    let folder = Folder::new();
    scenario(&folder, "a.toml", &["zk-hardened"]);
    scenario(
        &folder,
        "b.toml",
        &["zk-predecessor-watch", "never-comes-back", "zk-same-name"],
    );
    let (path, json) = (folder.path().display().to_string(), folder.at("r.json"));
    let mut run = command(&["run", &path, "--seeds", "5", "--json", &json]);
    let done = run
        .env("PICKLOCK_STUCK_AFTER", "2")
        .output()
        .expect("the program runs");
    let (stdout, stderr) = (
        String::from_utf8(done.stdout).expect("output is UTF-8"),
        String::from_utf8(done.stderr).expect("output is UTF-8"),
    );
    assert_eq!(done.status.code(), Some(5), "{stdout}{stderr}");
    assert!(stderr.contains("case never-comes-back, seed "), "{stderr}");
    assert!(
        stderr.contains("b.toml --case never-comes-back --seed "),
        "{stderr}"
    );
    for line in [
        "a  1 case as expected",
        "       HOLDS  zk-predecessor-watch",
        "      BROKEN  never-comes-back",
        "  2 scenarios, 3 cases: 2 as expected, 1 broken.",
        "exit 5\n",
    ] {
        assert!(stdout.contains(line), "{line}\n{stdout}");
    }
    let results = std::fs::read_to_string(&json).expect("it was written");
    assert_eq!(
        results.matches("\"standing\": \"broken\"").count(),
        2,
        "{results}"
    );
}

#[test]
fn two_panics_at_once_name_the_run_before_they_end_the_program() {
    let folder = Folder::new();
    let path = scenario(&folder, "a.toml", &["panics-twice-at-once"]);
    let done = picklock(&["run", &path, "--seeds", "1"]);
    assert!(!matches!(done.code, Some(0..=4)), "{done:?}");
    for line in [
        "picklock panicked: the first (",
        "picklock panicked: dropped (",
        "case panics-twice-at-once, seed 0\n",
    ] {
        assert!(done.stderr.contains(line), "{line}\n{}", done.stderr);
    }
}
