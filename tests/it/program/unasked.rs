//! Shrinking unasked: bounded, told as what it is, and nothing that was found is lost with it.

use std::fs;

#[cfg(unix)]
use super::common::command;
use super::common::{FAILING, Folder, picklock};

/// A scenario of the library that is expected to break nothing, with one of its cases.
fn unexpected(folder: &Folder, scenario: &str, case: &str) -> String {
    let library = format!(
        "{}/scenarios/library/{scenario}.toml",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = fs::read_to_string(library).expect("it is in the library");
    let (world, _) = text.split_once("[[case]]").expect("it has cases");
    folder.file(
        "mine.toml",
        format!("{world}[[case]]\nalgorithm = \"{case}\"\n"),
    )
}

#[test]
fn failures_of_sentinels_and_clusters_are_shrunk_with_failover() {
    for scenario in ["redis/sentinel-failover", "redis/cluster-failover"] {
        let folder = Folder::new();
        let file = unexpected(&folder, scenario, "redis-compare-and-delete");
        let done = picklock(&["run", &file, "--seeds", "3"]);
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(done.stdout.contains("\n  shrunk: "), "{}", done.stdout);
        assert!(done.stdout.contains("is promoted by "), "{}", done.stdout);
        let cause = "and never had the";
        assert!(done.stdout.contains(cause), "{}", done.stdout);
        let keep = format!("Keep     picklock shrink {file}");
        assert!(done.stdout.contains(&keep), "{}", done.stdout);
    }
}

#[test]
fn a_hunt_says_of_what_it_has_found_whether_more_may_be_taken_away() {
    let folder = Folder::new();
    let file = folder.file("mine.toml", FAILING);
    let out = folder.at("found");
    let kind = ["--kind", "expire-session", "--runs", "2000"];
    let done = picklock(&[&["hunt", &file, "--out", &out][..], &kind].concat());
    assert_eq!(done.code, Some(1), "{done:?}");
    let shrunk = done
        .stdout
        .lines()
        .filter(|line| line.starts_with("  shrunk: "));
    let kept = fs::read_dir(&out).map_or(0, Iterator::count);
    assert!(kept > 0);
    assert_eq!(shrunk.count(), kept, "{}", done.stdout);
}

/// It fails at its first seed, and would run for hours.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_run_and_tells_what_it_has_found() {
    use std::process::Stdio;

    let folder = Folder::new();
    let file = unexpected(
        &folder,
        "redis/sentinel-failover",
        "redis-compare-and-delete",
    );
    let json = folder.at("results.json");
    let child = command(&["run", &file, "--seeds", "100000000", "--json", &json])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    interrupt_later(child.id());
    let done = child.wait_with_output().expect("it ends");
    let (said, told) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    assert_eq!(done.status.code(), Some(130), "{said}{told}");
    assert!(
        told.starts_with("picklock: stopped after 0 of 1 case and "),
        "{told}"
    );
    assert!(said.contains("mutual-exclusion violated: "), "{said}");
    assert!(said.contains("not tried: interrupted"), "{said}");
    let keep = format!("Keep     picklock shrink {file}");
    assert!(said.contains(&keep), "{said}");
    assert!(
        said.ends_with("Stopped: this is what was found by then.\n"),
        "{said}"
    );
    // Results of a part are no results.
    assert_eq!(folder.names(), ["mine.toml"]);
}

/// Where nothing was found, there is nothing to tell.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_run_that_has_found_nothing_and_tells_nothing_of_it() {
    use std::process::Stdio;

    let seeds = ["--case", "zk-hardened", "--seeds", "100000000"];
    let child = command(&[&["run", "zookeeper/waiter-death"][..], &seeds].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    interrupt_later(child.id());
    let done = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&done.stdout);
    assert_eq!(done.status.code(), Some(130), "{said}");
    assert!(said.contains("nothing ran"), "{said}");
    assert!(
        said.ends_with("Stopped: this is what was found by then.\n"),
        "{said}"
    );
}

#[cfg(unix)]
fn interrupt_later(id: u32) {
    use std::process::Command;

    // By then it has run many seeds, however slow the machine is.
    let later = format!("sleep 4; kill -INT {id}");
    let kill = Command::new("sh").args(["-c", &later]).status();
    assert!(kill.is_ok_and(|status| status.success()));
}
