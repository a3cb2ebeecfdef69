//! `picklock matrix`: what it shows, what it refuses, and that docs/matrix.md is what it prints.

use std::fs;

use super::common::{Folder, picklock};
use super::readme::run;

const PAGE: &str = include_str!("../../../docs/matrix.md");

fn refused(arguments: &[&str]) -> String {
    let done = picklock(&[&["matrix"], arguments].concat());
    assert_eq!(done.code, Some(2), "{done:?}");
    assert_eq!(done.stdout, "");
    done.stderr
}

#[test]
fn what_there_is_not_is_refused_with_what_comes_nearest() {
    let told = refused(&["zk-hardend"]);
    assert!(
        told.contains("there is no algorithm `zk-hardend`"),
        "{told}"
    );
    assert!(told.contains("did you mean `zk-hardened`?"), "{told}");
    let told = refused(&["--fault", "pause,session-expiri"]);
    assert!(
        told.contains("there is no class of faults `session-expiri`"),
        "{told}"
    );
    assert!(told.contains("did you mean `session-expiry`?"), "{told}");
    let told = refused(&["--fault", "lose-reply"]);
    assert!(
        told.contains("`lose-reply` is a fault, and no class of faults"),
        "{told}"
    );
    assert!(
        told.contains("it is of the class `connection-loss`"),
        "{told}"
    );
    let told = refused(&["--kind", "mutexx"]);
    assert!(told.contains("did you mean `mutex`?"), "{told}");
    let told = refused(&["redlock", "--family", "zookeeper"]);
    assert!(
        told.contains("none of these algorithms is of this family and kind"),
        "{told}"
    );
    let told = refused(&["redlock", "--json", "mine.toml"]);
    assert!(told.contains("which is a scenario"), "{told}");
}

#[test]
fn a_cell_is_shown_again_by_its_replay_command_and_does_not_depend_on_the_number_of_jobs() {
    let folder = Folder::new();
    let write = |jobs: &str, name: &str| {
        let (json, page) = (folder.at(name), folder.at(&format!("{name}.html")));
        let asked = [
            "matrix",
            "zk-no-recheck",
            "--fault",
            "none,session-expiry",
            "--seeds",
            "40",
        ];
        let files = ["--jobs", jobs, "--json", &json, "--html", &page];
        let done = picklock(&[&asked[..], &files].concat());
        let text = fs::read_to_string(json).expect("it was written");
        let page = fs::read_to_string(page).expect("it was written");
        (done, text, page)
    };
    let (done, text, page) = write("1", "one.json");
    assert_eq!(done.code, Some(0), "{done:?}");
    let (again, same, same_page) = write("2", "two.json");
    assert_eq!(
        (&text, &page, &done.stdout),
        (&same, &same_page, &again.stdout)
    );
    let document: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let cells = document["rows"][0]["cells"]
        .as_array()
        .expect("it has cells");
    assert_eq!(cells[0]["word"], "safe");
    assert_eq!(cells[1]["word"], "overlap");
    assert_eq!(cells[1]["standing"], "not-claimed");
    let finding = &cells[1]["findings"][0];
    assert_eq!(finding["shown_by"], "zookeeper/waiter-expiry");
    let replay = finding["replay"].as_str().expect("it has a command");
    let (code, told) = run(&format!("$ {replay}"), &folder);
    assert_eq!(code, Some(0), "{told}");
    let summary = finding["summary"].as_str().expect("it says what happened");
    assert!(
        told.contains(&format!("mutual-exclusion violated: {summary}")),
        "{told}"
    );
    assert!(page.contains("overlap"), "{page}");
}

#[test]
fn a_promise_that_the_run_keeps_is_not_reported() {
    let asked = [
        "replay",
        "matrix/none",
        "--case",
        "zk-hardened",
        "--seed",
        "0",
    ];
    let done = picklock(&[&asked[..], &["--invariant", "progress"]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.stdout.contains("progress is not violated by this run"),
        "{done:?}"
    );
    let done = picklock(&[&asked[..], &["--invariant", "progres"]].concat());
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("did you mean `progress`?"), "{done:?}");
}

#[test]
fn a_story_ends_with_a_command_for_the_promise_asked_for() {
    let asked = ["replay", "matrix/pause", "--case", "redlock", "--seed", "0"];
    let done = picklock(&[&asked[..], &["--invariant", "no-stale-effect"]].concat());
    let mut lines = done.stdout.lines();
    let line = lines
        .find(|line| line.contains("picklock replay "))
        .expect("the story ends with a command");
    assert!(line.contains(" --invariant no-stale-effect"), "{line}");
}

#[test]
fn the_scenarios_of_the_matrix_are_known_by_name() {
    let done = picklock(&["run", "matrix/paus"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(
        done.stderr.contains("did you mean `matrix/pause`?"),
        "{done:?}"
    );
    let done = picklock(&[
        "run",
        "matrix/crash",
        "--case",
        "zk-hardened",
        "--seeds",
        "40",
    ]);
    assert_eq!(done.code, Some(0), "{done:?}");
}

#[test]
fn the_page_has_the_rows_that_are_measured() {
    // All of it takes too long here: .ci/run compares the whole page.
    let some = ["zk-no-recheck", "kazoo-semaphore", "redlock", "lease-lock"];
    let done = picklock(&[&["matrix", "--markdown"], &some[..]].concat());
    for name in some {
        let start = format!("| `{name}` |");
        let row = done.stdout.lines().find(|line| line.starts_with(&start));
        let row = row.unwrap_or_else(|| panic!("no row of {name}: {done:?}"));
        assert!(
            PAGE.lines().any(|line| line == row),
            "picklock matrix --markdown prints\n{row}"
        );
    }
}
