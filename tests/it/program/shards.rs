//! Shards: what several processes run in parts is what one runs, and nothing else can be joined.

use super::common::{FAILING, Folder, UNDECIDED, command, picklock};

/// Runs all four shards with these arguments, and answers their files.
fn four(folder: &Folder, arguments: &[&str]) -> Vec<String> {
    let shards = 1..=4;
    let run = |index: i32| {
        let file = folder.at(&format!("{index}.json"));
        let shard = format!("{index}/4");
        let done = picklock(&[&["run"], arguments, &["--shard", &shard, "--json", &file]].concat());
        assert!(matches!(done.code, Some(0 | 1)), "{done:?}");
        file
    };
    shards.map(run).collect()
}

fn merged(files: &[String], more: &[&str]) -> super::common::Done {
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    picklock(&[&["merge"], &files[..], more].concat())
}

/// What is said, without the times that it took.
fn untimed(text: &str) -> String {
    let ends = |line: &str| match line
        .strip_suffix(" s")
        .and_then(|line| line.rsplit_once(' '))
    {
        Some((line, _)) => line.trim_end().to_owned(),
        None => line.to_owned(),
    };
    text.lines().map(ends).collect::<Vec<_>>().join("\n")
}

#[test]
fn four_shards_and_a_merge_are_one_run_byte_for_byte() {
    let folder = Folder::new();
    let failing = folder.file("failing.toml", FAILING);
    let undecided = folder.file("undecided.toml", UNDECIDED);
    let library = [
        "zookeeper/waiter-death",
        "zookeeper/gc-pause",
        "zookeeper/herd",
    ];
    for (paths, seeds, code) in [
        (&library[..], "3..24", 0),
        (&[&failing, "zookeeper/waiter-death"], "10", 1),
        (&[&undecided, "zookeeper/waiter-death"], "2", 3),
    ] {
        let arguments = [paths, &["--seeds", seeds]].concat();
        let (whole, joined) = (folder.at("whole.json"), folder.at("joined.json"));
        let one = picklock(&[&["run"], &arguments[..], &["--json", &whole]].concat());
        let files = four(&folder, &arguments);
        let all = merged(&files, &["--json", &joined]);
        assert_eq!((one.code, all.code), (Some(code), Some(code)), "{all:?}");
        let read = |path: &str| std::fs::read_to_string(path).expect("it was written");
        assert_eq!(read(&whole), read(&joined));
        assert_eq!(untimed(&one.stdout), untimed(&all.stdout));
    }
}

#[test]
fn the_page_of_a_merge_is_the_page_of_the_run_that_was_not_split() {
    let folder = Folder::new();
    let failing = folder.file("failing.toml", FAILING);
    for (paths, code) in [
        (&["zookeeper/gc-pause", "zookeeper/waiter-death"][..], 0),
        (&[&failing, "zookeeper/waiter-death"], 1),
    ] {
        let arguments = [paths, &["--seeds", "12"]].concat();
        let (whole, joined) = (folder.at("whole.html"), folder.at("joined.html"));
        let one = picklock(&[&["run"], &arguments[..], &["--html", &whole]].concat());
        let files = four(&folder, &arguments);
        let all = merged(&files, &["--html", &joined]);
        assert_eq!((one.code, all.code), (Some(code), Some(code)), "{all:?}");
        let read = |path: &str| std::fs::read_to_string(path).expect("it was written");
        let page = read(&joined);
        assert!(page.contains("<section id=\"summary\">") && page.contains("id=\"data-1\""));
        assert!(page.contains(" violated:</strong>"), "a story");
        assert!(page == read(&whole), "{paths:?} has another page");
    }
}

#[test]
fn names_in_the_file_of_a_shard_cannot_put_markup_into_the_page_of_a_merge() {
    let folder = Folder::new();
    let evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";
    let text = FAILING
        .replace("The death of a waiter", evil)
        .replace("source = \"a test\"", &format!("source = \"{evil}\""));
    let file = folder.file("a<img src=x onerror=alert(3)>b.toml", text);
    let files = four(&folder, &[&file, "--seeds", "8"]);
    let html = folder.at("report.html");
    let done = merged(&files, &["--html", &html]);
    assert_eq!(done.code, Some(1), "{done:?}");
    let page = std::fs::read_to_string(&html).expect("it was written");
    assert_eq!(page.matches("<script").count(), 2, "the data and the code");
    assert!(page.contains("&lt;img src=x") && !page.contains("<img"));
}

#[test]
fn a_page_that_a_merge_cannot_write_is_refused_before_anything_runs_and_the_old_one_kept() {
    let folder = Folder::new();
    let files = four(&folder, &["zookeeper/waiter-death", "--seeds", "8"]);
    let (nowhere, scenario) = (folder.at("not/there.html"), folder.at("mine.toml"));
    for (path, why) in [(&nowhere, "mkdir -p"), (&scenario, "which is a scenario")] {
        let done = merged(&files, &["--html", path]);
        assert_eq!((done.code, &*done.stdout), (Some(2), ""), "{done:?}");
        assert!(done.stderr.contains(why), "{}", done.stderr);
    }
    let html = folder.file("report.html", "old");
    let done = merged(&files[..3], &["--html", &html]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert_eq!(std::fs::read_to_string(&html).expect("it is there"), "old");
}

#[test]
fn what_a_shard_cannot_tell_is_left_to_the_merge() {
    let folder = Folder::new();
    let undecided = folder.file("undecided.toml", UNDECIDED);
    let done = picklock(&["run", &undecided, "--seeds", "8", "--shard", "2/4"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("UNDECIDED"), "{}", done.stdout);
    assert!(
        done.stdout.contains("Shard 2/4 of the seeds 0..8"),
        "{}",
        done.stdout
    );
    let failing = folder.file("failing.toml", FAILING);
    let done = picklock(&["run", &failing, "--seeds", "8", "--shard", "2/4"]);
    assert_eq!(done.code, Some(1), "{done:?}");
}

#[test]
fn the_environment_names_the_shard() {
    let run = [
        "run",
        "zookeeper/waiter-death",
        "--seeds",
        "8",
        "--shard",
        "auto",
    ];
    let output = command(&run)
        .env("JOB_COMPLETION_INDEX", "1")
        .env("PICKLOCK_SHARDS", "4")
        .env_remove("CI_NODE_INDEX")
        .env_remove("PICKLOCK_SHARD")
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("Shard 2/4 of"), "{said}");
}

#[test]
fn shards_that_do_not_fit_are_refused_by_name() {
    let folder = Folder::new();
    let files = four(&folder, &["zookeeper/waiter-death", "--seeds", "8"]);
    let other = folder.at("other.json");
    let wrong = |replace: &[&str], parts: &[&str]| {
        if let [from, to] = replace {
            let text = std::fs::read_to_string(&files[3]).expect("it was written");
            let text = text.replace(from, to);
            std::fs::write(&other, text).expect("a file can be written");
        }
        let all = [&files[..3], std::slice::from_ref(&other)].concat();
        let done = merged(&all, &[]);
        assert_eq!((done.code, &*done.stdout), (Some(2), ""), "{done:?}");
        for part in parts.iter().copied().chain([&*other]) {
            assert!(
                done.stderr.contains(part),
                "{part:?} is not in: {}",
                done.stderr
            );
        }
    };
    let run = |scenario: &str, seeds: &str, shard: &str| {
        let run = [
            "run", scenario, "--seeds", seeds, "--shard", shard, "--json", &other,
        ];
        let done = picklock(&run);
        assert_eq!(done.code, Some(0), "{done:?}");
    };
    wrong(
        &["\"picklock\": \"", "\"picklock\": \"9"],
        &["picklock 90.1.0"],
    );
    wrong(
        &["\"version\": 2", "\"version\": 7"],
        &["schema is version 7"],
    );
    wrong(&["A", "B"], &["not as a shard wrote it"]);
    run("zookeeper/gc-pause", "8", "4/4");
    wrong(&[], &["not shards of one run", "zookeeper/gc-pause"]);
    run("zookeeper/waiter-death", "9", "4/4");
    wrong(&[], &["seeds 0..8 and 0..9"]);
    run("zookeeper/waiter-death", "8", "4/5");
    wrong(&[], &["shard 1/4 and shard 4/5"]);
    run("zookeeper/waiter-death", "8", "3/4");
    wrong(&[], &["both shard 3/4"]);
    std::fs::write(&other, "{}").expect("a file can be written");
    wrong(&[], &["not what a shard wrote"]);
    std::fs::write(&other, "no").expect("a file can be written");
    wrong(&[], &["not JSON"]);
    std::fs::remove_file(&other).expect("it can be removed");
    wrong(&[], &["cannot be read"]);
    let yesterday = [
        "--seed-base",
        "20777000000",
        "--shard",
        "4/4",
        "--json",
        &other,
    ];
    let done = picklock(&[&["run", "zookeeper/waiter-death"], &yesterday[..]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    wrong(&[], &["20777000000..20777000100", "--seed-base"]);
    let done = merged(&files[..2], &[]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("3/4, 4/4 missing"), "{}", done.stderr);
}

#[test]
fn without_seeds_every_day_has_its_own_and_one_command_runs_them_again() {
    let folder = Folder::new();
    let (today, again) = (folder.at("today.json"), folder.at("again.json"));
    let done = picklock(&["run", "zookeeper/waiter-death", "--json", &today]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let mut lines = done.stdout.lines();
    let told = lines
        .by_ref()
        .find(|line| line.contains("To run the same again:"));
    assert!(told.is_some_and(|line| line.contains("each day has others")));
    let command = lines.next().expect("the command follows").trim();
    let words: Vec<&str> = command.split(' ').collect();
    let [
        "picklock",
        "run",
        "zookeeper/waiter-death",
        "--seed-base",
        base,
    ] = words[..]
    else {
        panic!("{command}");
    };
    let base: u64 = base.parse().expect("it is a number");
    // A day between 2026 and 2099.
    assert!(base.is_multiple_of(1_000_000) && (20_454..47_482).contains(&(base / 1_000_000)));
    let done = picklock(&[&words[1..], &["--json", &again]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    let read = |path: &str| std::fs::read_to_string(path).expect("it was written");
    assert_eq!(read(&today), read(&again));
    assert!(read(&today).contains(&format!("\"from\": {base}")));
    // A command that names its seeds gets these.
    let done = picklock(&["run", "zookeeper/waiter-death", "--seeds", "2"]);
    assert!(!done.stdout.contains("same again"), "{}", done.stdout);
}

#[test]
fn a_limit_of_time_runs_what_fits_and_the_same_seeds_say_the_same() {
    let folder = Folder::new();
    let (timed, again) = (folder.at("timed.json"), folder.at("again.json"));
    let run = ["run", "zookeeper/waiter-death", "--seed-base", "7000000"];
    let done = picklock(&[&run[..], &["--time", "1ms", "--json", &timed]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.stdout.contains("--seed-base 7000000"),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout
            .contains("64 seeds of each case ran; the time was 1ms"),
        "{}",
        done.stdout
    );
    let pinned = "picklock run zookeeper/waiter-death --seeds 0..64 --seed-base 7000000";
    assert!(done.stdout.contains(pinned), "{}", done.stdout);
    let done = picklock(&[&run[..], &["--seeds", "64", "--json", &again]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    let read = |path: &str| std::fs::read_to_string(path).expect("it was written");
    assert_eq!(read(&timed), read(&again));
    assert!(read(&timed).contains("\"from\": 7000000"));
}

#[test]
fn a_recorded_run_is_run_once_whatever_the_seeds_and_shards() {
    let folder = Folder::new();
    let recorded = "regressions/unsorted-children-zk-unsorted-fencing-monotonic.toml";
    let arguments = [recorded, "zookeeper/waiter-death", "--seeds", "7..24"];
    let (whole, joined) = (folder.at("whole.json"), folder.at("joined.json"));
    let one = picklock(&[&["run"], &arguments[..], &["--json", &whole]].concat());
    assert_eq!(one.code, Some(0), "{one:?}");
    let files = four(&folder, &arguments);
    let all = merged(&files, &["--json", &joined]);
    assert_eq!(all.code, Some(0), "{all:?}");
    let read = |path: &str| std::fs::read_to_string(path).expect("it was written");
    assert_eq!(read(&whole), read(&joined));
    assert_eq!(untimed(&one.stdout), untimed(&all.stdout));
    let results: serde_json::Value = serde_json::from_str(&read(&whole)).expect("it is JSON");
    assert_eq!(results["cases"][0]["seeds"], 1);
    assert_eq!(results["cases"][1]["seeds"], 17);
}

/// A scenario whose file is content with 20 seeds.
const FEW: &str = r#"
seeds-at-most = 20
workload.contenders = 2

[[case]]
algorithm = "zk-hardened"
"#;

#[test]
fn a_file_may_take_fewer_seeds_and_the_run_says_so() {
    let folder = Folder::new();
    let few = folder.file("few.toml", FEW);
    let json = folder.at("few.json");
    for (arguments, seeds, is_cut) in [
        (&["--seeds", "7..57"][..], 20, true),
        (&["--seeds", "20"], 20, false),
        (&["--seeds", "7..57", "--all-seeds"], 50, false),
    ] {
        let done = picklock(&[&["run", &few, "--json", &json], arguments].concat());
        assert_eq!(done.code, Some(0), "{done:?}");
        let said = format!(
            "{seeds} seeds{}, 0 undecided",
            if is_cut { " (seeds-at-most 20)" } else { "" }
        );
        assert!(done.stdout.contains(&said), "{done:?}");
        let note =
            "Fewer seeds of 1 case, by `seeds-at-most` of their files; --all-seeds takes all.";
        assert_eq!(done.stdout.contains(note), is_cut, "{done:?}");
        let results = std::fs::read_to_string(&json).expect("it was written");
        assert!(
            results.contains(&format!("\"seeds\": {seeds}")),
            "{results}"
        );
        assert_eq!(
            results.contains("\"seeds_at_most\": 20"),
            is_cut,
            "{results}"
        );
    }
    let whole = picklock(&["run", &few, "--seeds", "50", "--json", &json]);
    let files = four(&folder, &[&few, "--seeds", "50"]);
    let joined = folder.at("joined.json");
    let all = merged(&files, &["--json", &joined]);
    assert_eq!(untimed(&whole.stdout), untimed(&all.stdout));
    let read = |path: &str| std::fs::read_to_string(path).expect("it was written");
    assert_eq!(read(&json), read(&joined));
    let rest = picklock(&[
        "run",
        &few,
        "--seeds",
        "50",
        "--all-seeds",
        "--shard",
        "4/4",
        "--json",
        &files[3],
    ]);
    assert_eq!(rest.code, Some(0), "{rest:?}");
    assert_eq!(
        merged(&files, &[]).code,
        Some(2),
        "three shards of 20 seeds, and one of 50"
    );
}
