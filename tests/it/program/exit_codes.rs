//! Exit codes, and what goes where.

use super::common::{FAILING, Folder, UNDECIDED, command, picklock};

#[test]
fn what_is_as_expected_exits_with_0_and_says_nothing_on_stderr() {
    let done = picklock(&["run", "zookeeper/waiter-death", "--seeds", "10"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(done.stderr, "");
    assert!(done.stdout.starts_with("zookeeper/waiter-death\n"));
    assert!(done.stdout.contains("all as expected"));
    assert!(done.stdout.ends_with("exit 0\n"));
}

#[test]
fn what_is_not_as_expected_exits_with_1_and_ends_with_a_command() {
    let folder = Folder::new();
    let path = folder.file("a lock.toml", FAILING);
    let done = picklock(&["run", &path, "--seeds", "10", "--ascii"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert_eq!(done.stderr, "");
    assert!(done.stdout.is_ascii());
    assert!(done.stdout.contains("mutual-exclusion violated"));
    let replay = format!("Replay   picklock replay '{path}' --case zk-no-recheck --seed 0");
    assert!(done.stdout.contains(&replay), "{}", done.stdout);

    let replay = ["replay", &path, "--seed", "0"];
    let done = picklock(&replay);
    assert_eq!(done.code, Some(1), "{done:?}");
    let last = done.stdout.lines().last().unwrap_or_default();
    assert!(last.starts_with("  Replay   picklock replay"), "{last}");
}

#[test]
fn what_should_break_and_holds_ends_with_a_command_that_runs_it_again() {
    let folder = Folder::new();
    let expected = r#"expect.progress.violated = { because = "it is not", within-seeds = 3 }"#;
    let path = folder.file(
        "a lock.toml",
        format!("{FAILING}{expected}\n").replace("zk-no-recheck", "zk-hardened"),
    );
    let done = picklock(&["run", &path, "--seeds", "3"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    let again = format!(
        "  Replay   picklock replay '{path}' --case zk-hardened --seed 0\n  \
         Again    picklock run '{path}' --seeds 3\n"
    );
    assert!(done.stdout.contains(&again), "{}", done.stdout);
}

#[test]
fn what_cannot_be_told_exits_with_3_and_the_reason() {
    let folder = Folder::new();
    let path = folder.file("undecided.toml", UNDECIDED);
    for arguments in [
        ["run", &path, "--seeds", "3"],
        ["replay", &path, "--seed", "3"],
    ] {
        let done = picklock(&arguments);
        assert_eq!(done.code, Some(3), "{done:?}");
        assert!(done.stdout.contains("UNDECIDED"), "{}", done.stdout);
        let told = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "fault 1 never fired",
            "it waited until contender-1 has acquired for the 2nd time: that had come 1 of 2 times when",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
}

#[test]
fn one_failure_outweighs_what_is_undecided() {
    let folder = Folder::new();
    folder.file("a.toml", UNDECIDED);
    folder.file("b.toml", FAILING);
    let json = folder.at("results.json");
    let path = folder.path().display().to_string();
    let done = picklock(&["run", &path, "--seeds", "2", "--json", &json]);
    assert_eq!(done.code, Some(1), "{done:?}");
    let results = std::fs::read_to_string(&json).unwrap_or_default();
    assert!(results.contains(r#""as_expected": false"#));
    assert_eq!(folder.names(), ["a.toml", "b.toml", "results.json"]);
}

#[test]
fn quiet_shows_only_what_is_not_as_expected() {
    let folder = Folder::new();
    folder.file("b.toml", FAILING);
    let path = folder.path().display().to_string();
    let both = ["run", "zookeeper/waiter-death", &path, "--quiet"];
    let done = picklock(&[&both[..], &["--seeds", "10"]].concat());
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stdout.starts_with("b\n"), "{}", done.stdout);
    assert!(
        done.stdout
            .contains("2 scenarios, 5 cases: 4 as expected, 1 not.")
    );
}

#[test]
fn a_replay_of_what_is_expected_exits_with_0_whether_it_is_violated_or_not() {
    let replay = |case, seed| {
        let scenario = "zookeeper/waiter-death";
        let done = picklock(&["replay", scenario, "--case", case, "--seed", seed]);
        assert_eq!(done.code, Some(0), "{done:?}");
        done.stdout
    };
    let violated = replay("zk-no-recheck", "0");
    assert!(violated.contains("mutual-exclusion violated"), "{violated}");
    let kept = replay("zk-predecessor-watch", "0");
    assert!(kept.contains("seed 0 violates nothing"), "{kept}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let mut child = command(&["list", "faults"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    let stderr = child.stderr.take().expect("a pipe");
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(0));
    assert_eq!(BufReader::new(stderr).lines().count(), 0);
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_at_once_says_what_was_done_and_leaves_nothing_behind() {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};

    let folder = Folder::new();
    let json = folder.at("results.json");
    let slow = ["run", "zookeeper/waiter-death", "zookeeper/stock"];
    let mut child = command(&[&slow[..], &["--seeds", "2000", "--json", &json]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("the first scenario");
    assert!(line.starts_with("zookeeper/waiter-death "), "{line}");
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.is_ok_and(|status| status.success()));
    let mut told = String::new();
    let stderr = child.stderr.take().expect("a pipe");
    let read = BufReader::new(stderr).read_to_string(&mut told);
    assert!(read.is_ok());
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{told}");
    assert!(
        told.starts_with("picklock: stopped after 4 of 7 cases and 8"),
        "{told}"
    );
    assert_eq!(folder.names(), Vec::<String>::new());
}

/// A hunt may go on for hours: what it has found is not lost with it.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_hunt_and_keeps_what_it_has_found() {
    use std::process::{Command, Stdio};

    let folder = Folder::new();
    let file = folder.file("mine.toml", FAILING);
    let (out, runs) = (folder.at("found"), "1000000000");
    let child = command(&["hunt", &file, "--runs", runs, "--jobs", "1", "--out", &out])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    // By then it has looked at thousands of runs, however slow the machine is.
    let later = format!("sleep 5; kill -INT {}", child.id());
    let kill = Command::new("sh").args(["-c", &later]).status();
    assert!(kill.is_ok_and(|status| status.success()));
    let done = child.wait_with_output().expect("it ends");
    let (said, told) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    assert_eq!(done.status.code(), Some(130), "{said}{told}");
    assert!(told.starts_with("picklock: stopped after "), "{told}");
    let all = " of 1000000000 runs; what was found comes now, Ctrl-C again ends it at once";
    assert!(told.contains(all), "{told}");
    assert!(said.contains("\n  stopped after "), "{said}");
    assert!(said.contains("mutual-exclusion broken after "), "{said}");
    let kept = std::fs::read_dir(&out).map_or(0, Iterator::count);
    assert_eq!(said.matches(" broken after ").count(), kept, "{said}");
    // The name of a file says the promise, and how it was broken.
    let begins = "mine-zk-no-recheck-mutual-exclusion-";
    let files = std::fs::read_dir(&out).expect("it is there");
    let mut names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    let found = names
        .find(|name| name.starts_with(begins))
        .expect("name is kept");
    let replay = picklock(&["replay", &format!("{out}/{found}")]);
    assert_eq!(replay.code, Some(0), "{replay:?}");
}

#[cfg(not(feature = "verify"))]
#[test]
fn verify_says_how_to_build_with_it() {
    let done = picklock(&["verify", "zookeeper"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert_eq!(done.stdout, "");
    assert!(done.stderr.contains("--features verify"), "{done:?}");
}

#[cfg(feature = "verify")]
#[test]
fn verify_says_how_to_install_a_server() {
    let done = picklock(&["verify", "zookeeper", "--jars", "no-such-folder"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert_eq!(done.stdout, "");
    assert!(done.stderr.contains("apt-get install"), "{done:?}");
}

/// A case that breaks its promise with some seeds only, and says how many it needs.
fn rare() -> String {
    let within = "within-seeds = 40 }";
    let expected = format!("expect.progress.violated = {{ because = \"it is not\", {within}\n");
    format!("{FAILING}{expected}").replace("zk-no-recheck", "zk-hardened")
}

#[test]
fn a_case_that_needs_more_seeds_is_skipped_and_says_so() {
    let folder = Folder::new();
    let rare = folder.file("rare.toml", rare());
    let line = "1 skipped: progress may need 40 seeds to be violated; 5";
    let done = picklock(&["run", &rare, "zookeeper/waiter-death", "--seeds", "0..5"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains(line), "{}", done.stdout);
    assert!(
        done.stdout.contains("4 as expected, 1 skipped."),
        "{}",
        done.stdout
    );
    // Alone it has found nothing out.
    let done = picklock(&["run", &rare, "--seeds", "5"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    // And with as many as it needs it is judged.
    let done = picklock(&["run", &rare, "--seeds", "40", "--no-shrink"]);
    assert_eq!(done.code, Some(1), "{done:?}");
}

#[test]
fn many_scenarios_have_a_line_each_and_a_failure_its_story() {
    let folder = Folder::new();
    let failing = folder.file("mine.toml", FAILING);
    let run = [
        "run",
        &failing,
        "zookeeper/waiter-death",
        "zookeeper/gc-pause",
        "--seeds",
        "2",
    ];
    let done = picklock(&[&run[..], &["--no-shrink"]].concat());
    assert_eq!(done.code, Some(1), "{done:?}");
    let lines: Vec<&str> = done.stdout.lines().collect();
    let starts = |name: &str| lines.iter().filter(|line| line.starts_with(name)).count();
    assert_eq!(
        (starts("zookeeper/waiter-death"), starts("  Replay")),
        (1, 1)
    );
    assert!(
        done.stdout.contains("4 cases as expected"),
        "{}",
        done.stdout
    );
    assert!(!done.stdout.contains("HOLDS"), "{}", done.stdout);
    assert!(
        done.stdout.contains("\n  folder     scenarios  cases"),
        "{}",
        done.stdout
    );
    let done = picklock(&[&run[..], &["--no-shrink", "-v"]].concat());
    assert!(
        done.stdout.contains("HOLDS  zk-hardened"),
        "{}",
        done.stdout
    );
    let done = picklock(&[&run[..], &["--no-shrink", "-q"]].concat());
    assert!(
        !done.stdout.contains("zookeeper/waiter-death"),
        "{}",
        done.stdout
    );
}

#[test]
fn with_fail_fast_the_first_failure_is_the_last_case() {
    let folder = Folder::new();
    folder.file("a.toml", FAILING);
    folder.file("b.toml", FAILING);
    let path = folder.path().display().to_string();
    let run = [
        "run",
        &path,
        "--seeds",
        "2",
        "--no-shrink",
        "--fail-fast",
        "-j",
        "1",
    ];
    let done = picklock(&run);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(
        done.stdout
            .contains("1 scenario, 1 case: 0 as expected, 1 not."),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout.contains("1 other case did not run"),
        "{}",
        done.stdout
    );
}
