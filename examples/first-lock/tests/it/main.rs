//! The program with two locks of its own, as `docs/your-lock.md` runs it.

use std::path::Path;
use std::process::{Command, Output};

fn first_lock(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_first-lock"))
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .env("PICKLOCK_CONFIG", "")
        .output()
        .expect("the program runs")
}

#[test]
fn the_first_lock_fails_and_its_replay_command_works() {
    let run = first_lock(&["run", "scenarios", "--seeds", "20"]);
    let report = String::from_utf8_lossy(&run.stdout);
    assert_eq!(run.status.code(), Some(1), "{report}");
    assert!(report.contains("HOLDS  second-lock"), "{report}");
    assert!(report.contains("FAIL  set-semaphore "), "{report}");
    assert!(
        report.contains("HOLDS  set-semaphore-in-script"),
        "{report}"
    );
    let replay = report
        .lines()
        .filter(|line| line.contains("--case first-lock"))
        .find_map(|line| line.split_once("-- replay "))
        .map(|(_, arguments)| arguments.split_whitespace().collect::<Vec<_>>())
        .expect("a failure ends with a command");
    assert!(replay.contains(&"first-lock"), "{replay:?}");
    let replayed = first_lock(&[&["replay"], replay.as_slice()].concat());
    let story = String::from_utf8_lossy(&replayed.stdout);
    assert_eq!(replayed.status.code(), Some(1), "{story}");
    assert!(story.contains("mutual-exclusion"), "{story}");
}
