//! What a seed settles can be seen, saved, run again, and shrunk.

use super::common::{Folder, picklock};

const SWARM: &str = "zookeeper/swarm";

/// The hash of a run, as `picklock replay` says it.
fn hash(arguments: &[&str]) -> String {
    let said = picklock(&[&["replay"], arguments].concat()).stdout;
    let mut lines = said.lines();
    let hash = lines.find_map(|line| line.strip_prefix("  Hash     "));
    hash.unwrap_or_else(|| panic!("{said}")).to_owned()
}

#[test]
fn a_plan_that_is_saved_is_the_run_that_was_seen() {
    let folder = Folder::new();
    for seed in ["0", "7", "1164"] {
        let run = [SWARM, "--case", "zk-hardened", "--seed", seed];
        let plan = picklock(&[&["plan"], &run[..]].concat());
        assert_eq!(plan.code, Some(0), "{plan:?}");
        assert!(!plan.stdout.contains("faults ="), "{}", plan.stdout);
        let file = folder.file("saved.toml", &plan.stdout);
        assert_eq!(hash(&[&file, "--seed", seed]), hash(&run));
        assert_eq!(hash(&[&file]), hash(&run));
        assert!(plan.stdout.contains(&format!("hash = \"{}\"", hash(&run))));
    }
}

#[test]
fn a_saved_plan_is_judged_as_the_seed_that_drew_it() {
    let folder = Folder::new();
    let mut marked = Vec::new();
    for (scenario, case) in [
        (SWARM, "zk-hardened"),
        (SWARM, "zk-unsorted"),
        ("redis/swarm", "redis-set-nx-px-del"),
    ] {
        for seed in 0..8 {
            let seed = seed.to_string();
            let run = [scenario, "--case", case, "--seed", &seed];
            let plan = picklock(&[&["plan"], &run[..]].concat());
            let file = folder.file("saved.toml", &plan.stdout);
            let saved = picklock(&["replay", &file]);
            let drawn = picklock(&[&["replay"], &run[..]].concat());
            assert_eq!(saved.code, drawn.code, "{run:?} {}", saved.stdout);
            marked.push(plan.stdout.contains("drawn = true"));
        }
    }
    assert!(marked.iter().all(|drawn| *drawn));
}

#[test]
fn a_saved_plan_says_when_it_has_become_another_run() {
    let folder = Folder::new();
    let plan = picklock(&["plan", SWARM, "--case", "zk-hardened", "--seed", "7"]).stdout;
    let replay = |text: &str, more: &[&str]| {
        let file = folder.file("saved.toml", text);
        let done = picklock(&[&["replay", &file], more].concat());
        let words: Vec<&str> = done.stdout.split_whitespace().collect();
        (done.code, words.join(" "))
    };
    let version = format!("picklock = \"{}\"", env!("CARGO_PKG_VERSION"));
    let older = plan.replace(&version, "picklock = \"0.0.7\"");
    let (code, said) = replay(&older, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("it was saved with picklock 0.0.7"), "{said}");
    let changed = plan.replace("fsync = \"", "fsync = \"1");
    let (code, said) = replay(&changed, &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("this is not the run that was saved"),
        "{said}"
    );
    assert!(said.contains("has been changed"), "{said}");
    // Another seed is another run, of which nothing is known.
    let (_, said) = replay(&changed, &["--seed", "8"]);
    assert!(!said.contains("not the run"), "{said}");
    // The plan is run with as many seeds as any other.
    let run = picklock(&["run", &folder.file("saved.toml", &plan), "--seeds", "3"]);
    assert!(run.stdout.contains("3 seeds"), "{}", run.stdout);
}

#[test]
fn a_replay_says_when_it_is_not_the_run_that_the_command_was_printed_for() {
    let run = [
        "replay",
        "zookeeper/waiter-death",
        "--case",
        "zk-no-recheck",
        "--seed",
        "4",
    ];
    let done = picklock(&run);
    let command = done.stdout.lines().last().expect("it ends with a command");
    let (_, was) = command
        .split_once(" --was ")
        .expect("it says which run it was");
    let (version, hash) = was.split_once(':').expect("by version and hash");
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    let again = |was: &str| {
        let done = picklock(&[&run[..], &["--was", was]].concat());
        let words: Vec<&str> = done.stdout.split_whitespace().collect();
        (done.code, words.join(" "))
    };
    let (code, said) = again(was);
    assert_eq!(code, done.code, "{said}");
    assert!(!said.contains("it was found with"), "{said}");
    let (code, said) = again(&format!("0.0.7:{hash}"));
    assert_eq!(code, done.code, "{said}");
    let other = format!("it was found with picklock 0.0.7, and this is {version}");
    assert!(said.contains(&other), "{said}");
    let (code, said) = again("0.0.7:00c0ffee00c0ffee");
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains(&format!("{hash}, and not 00c0ffee00c0ffee")),
        "{said}"
    );
    assert!(said.contains(&other), "{said}");
}

#[test]
fn what_no_lock_can_keep_is_said_in_the_saved_plan() {
    let run = ["plan", SWARM, "--case", "zk-hardened", "--seed"];
    let said: Vec<String> = (0..40)
        .map(|seed| picklock(&[&run[..], &[&seed.to_string()]].concat()).stdout)
        .collect();
    let excused = |said: &&String| said.contains("expect.mutual-exclusion.excused");
    let excused = said.iter().filter(excused).count();
    assert!((5..35).contains(&excused), "{excused} of 40");
}

#[test]
fn a_drawn_failure_shrinks_to_a_file_that_fails_alike() {
    let folder = Folder::new();
    let file = folder.at("small.toml");
    let run = [SWARM, "--case", "zk-unsorted", "--seed", "0"];
    let asked = ["--invariant", "mutual-exclusion", "--out", &file];
    let shrunk = picklock(&[&["shrink"], &run[..], &asked].concat());
    assert_eq!(shrunk.code, Some(0), "{shrunk:?}");
    let again = picklock(&["replay", &file]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.stdout.contains("both inside"), "{}", again.stdout);
}

#[test]
fn a_yield_is_the_same_for_any_number_of_jobs() {
    let of = |jobs: &str| {
        let measured = ["yield", "zookeeper/waiter-death", "--bases", "5"];
        let done = picklock(&[&measured[..], &["--limit", "40", "--jobs", jobs]].concat());
        assert_eq!(done.code, Some(0), "{done:?}");
        done.stdout
    };
    let alone = of("1");
    assert!(
        alone.contains("  zk-no-recheck  mutual-exclusion "),
        "{alone}"
    );
    assert_eq!(alone, of("2"));
}

#[test]
fn shards_of_drawn_plans_join_to_the_whole() {
    let folder = Folder::new();
    let run = |more: &[&str], name: &str| {
        let json = folder.at(name);
        let all = [&["run", SWARM, "--seeds", "60", "--json", &json], more].concat();
        picklock(&all);
        json
    };
    let whole = run(&[], "whole.json");
    let (first, second) = (
        run(&["--shard", "1/2"], "1.json"),
        run(&["--shard", "2/2"], "2.json"),
    );
    let joined = folder.at("joined.json");
    let merged = picklock(&["merge", &first, &second, "--json", &joined]);
    assert_eq!(merged.code, Some(0), "{merged:?}");
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    assert!(read(&whole).contains("60"), "{}", read(&whole));
    assert_eq!(read(&whole), read(&joined));
}

/// No contender waits, so nothing that the scenario is about comes to pass.
const NEVER: &str = r#"
claim = "A waiter's session may end."
because = "Others wait on."
source = "a test"
sometimes = ["two-wait", "expired-while-queued"]

[service.zookeeper]

[workload]
contenders = 3
arrive = "together"

[[case]]
algorithm = "zk-hardened"
"#;

#[test]
fn a_moment_that_never_came_makes_a_case_undecided_by_name() {
    let folder = Folder::new();
    let path = folder.file("never.toml", NEVER);
    let json = folder.at("results.json");
    let done = picklock(&["run", &path, "--seeds", "20", "--json", &json]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(
        done.stdout.contains("expired-while-queued never occurred"),
        "{}",
        done.stdout
    );
    let read = std::fs::read_to_string(&json).unwrap_or_default();
    let read: serde_json::Value = serde_json::from_str(&read).unwrap_or_default();
    assert_eq!(read["cases"][0]["standing"], "undecided");
    assert_eq!(read["cases"][0]["reached"]["two-wait"], 20);
}

#[test]
fn a_hunt_finds_what_breaks_a_lock_and_keeps_it() {
    let folder = Folder::new();
    let out = folder.at("found");
    let hunt = ["hunt", "zookeeper/leader-crash", "--case", "zk-same-name"];
    let kinds = ["--kind", "cancel", "--kind", "pause", "--runs", "300"];
    let done = picklock(&[&hunt[..], &kinds, &["--out", &out]].concat());
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(
        done.stdout.contains("progress broken after"),
        "{}",
        done.stdout
    );
    let again = picklock(&["run", &out]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.stdout.contains("all as expected") || again.stdout.contains("as expected"));
}

#[test]
fn a_hunt_that_finds_nothing_says_so_and_writes_nothing() {
    let folder = Folder::new();
    let out = folder.at("found");
    let hunt = ["hunt", "zookeeper/leader-crash", "--case", "zk-hardened"];
    let done = picklock(&[&hunt[..], &["--runs", "400", "--out", &out]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.stdout.contains("every promise was kept"),
        "{}",
        done.stdout
    );
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[test]
fn a_hunt_for_a_time_ends_and_says_how_many_runs_that_were() {
    let folder = Folder::new();
    let out = folder.at("found");
    let hunt = ["hunt", "zookeeper/leader-crash", "--case", "zk-hardened"];
    let done = picklock(&[&hunt[..], &["--time", "1s", "--out", &out]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    let told = " runs; the time was 1s. The same again on any machine: --runs ";
    assert!(done.stdout.contains(told), "{}", done.stdout);
}

#[test]
fn a_hunt_tells_two_causes_of_one_promise_apart_and_keeps_both() {
    let folder = Folder::new();
    let out = folder.at("found");
    let hunt = ["hunt", "redis/pause", "--case", "redis-compare-and-delete"];
    let kinds = ["--kind", "pause", "--kind", "evict-key", "--runs", "60"];
    let done = picklock(&[&hunt[..], &kinds, &["--out", &out]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    for cause in [
        "by pause of the holder, the lock expired",
        "by evict-key of the primary, the lock was taken from outside",
    ] {
        assert!(done.stdout.contains(cause), "{cause}\n{}", done.stdout);
    }
    assert!(done.stdout.contains("broke it alike"), "{}", done.stdout);
    let kept = std::fs::read_dir(&out).map_or(0, Iterator::count);
    assert_eq!(done.stdout.matches(" broken after ").count(), kept);
    let again = picklock(&["run", &out]);
    assert_eq!(again.code, Some(0), "{again:?}");
}

#[test]
fn a_hunt_for_an_unknown_fault_names_the_nearest() {
    let done = picklock(&[
        "hunt",
        "zookeeper/leader-crash",
        "--case",
        "zk-hardened",
        "--kind",
        "pauze",
    ]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("`pause`"), "{}", done.stderr);
}
