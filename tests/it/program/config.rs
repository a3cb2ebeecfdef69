//! `picklock.toml`: what a project always passes.

use std::fs;

use super::common::{Done, FAILING, Folder, command};

/// Runs the program in a folder of a project.
fn run(folder: &Folder, below: &str, arguments: &[&str]) -> Done {
    let mut command = command(arguments);
    let output = command
        .current_dir(folder.path().join(below))
        .env_remove("PICKLOCK_CONFIG")
        .output()
        .expect("the program runs");
    Done {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("output is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("output is UTF-8"),
    }
}

fn project(config: &str) -> Folder {
    let folder = Folder::new();
    fs::create_dir_all(folder.path().join("locks/deep")).expect("it can be made");
    folder.file("locks/mine.toml", FAILING);
    folder.file("picklock.toml", config);
    folder
}

#[test]
fn it_is_found_above_its_paths_are_from_its_folder_and_the_command_line_wins() {
    let folder = project(
        r#"
width = 80
[run]
paths = ["locks"]
seeds = "0..3"
json = "results.json"
no-shrink = true
"#,
    );
    let plain = run(&folder, "locks/deep", &["run"]);
    assert_eq!(plain.code, Some(1), "{plain:?}");
    assert!(plain.stdout.contains("all 3 seeds"), "{}", plain.stdout);
    assert!(
        plain
            .stdout
            .contains("picklock replay ../../locks/mine.toml"),
        "{}",
        plain.stdout
    );
    assert!(!plain.stdout.contains("shrunk: "), "{}", plain.stdout);
    assert!(
        plain.stdout.lines().all(|line| line.chars().count() <= 80),
        "{}",
        plain.stdout
    );
    assert!(folder.path().join("results.json").is_file());

    let (other, json) = (
        ["run", "zookeeper/waiter-death", "--seeds", "2"],
        folder.at("2.json"),
    );
    let done = run(&folder, "", &[&other[..], &["--json", &json]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("2 seeds"), "{}", done.stdout);
    let before = fs::read_to_string(folder.path().join("results.json")).unwrap_or_default();
    assert!(before.contains("mine"), "it was replaced: {before}");
    assert!(folder.path().join("2.json").is_file());
}

#[test]
fn what_cannot_stand_beside_the_words_of_the_command_line_is_put_aside() {
    let folder = project(
        "[run]\npaths = [\"zookeeper/waiter-death\"]\nfail-fast = true\nhtml = \"page.html\"\n",
    );
    for more in [
        &["--time", "1s", "--seeds", "2"][..],
        &["--shard", "1/2", "--seeds", "2"],
    ] {
        let _ = fs::remove_file(folder.path().join("page.html"));
        let done = run(&folder, "", &[&["run"], more].concat());
        assert_eq!(done.code, Some(0), "{more:?}: {done:?}");
        let is_sharded = more.contains(&"--shard");
        assert_eq!(
            folder.path().join("page.html").is_file(),
            !is_sharded,
            "{more:?}"
        );
    }
}

#[test]
fn every_mistake_is_told_with_its_place_and_nothing_runs() {
    let folder = project(
        r#"jobs = 0
widht = 80

[run]
seeds = "5..2"
sed = "0..3"
fail-fast = "yes"

[rum]
seeds = "0..3"

[hunt]
runs = [1]
"#,
    );
    let done = run(&folder, "", &["run"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{done:?}");
    insta::assert_snapshot!(done.stderr);
    // Help does not need it, and says which file it is.
    let help = run(&folder, "locks", &["help", "config"]);
    assert_eq!(help.code, Some(0), "{help:?}");
    assert!(
        help.stdout.ends_with("In use here: ../picklock.toml\n"),
        "{}",
        help.stdout
    );
    folder.file("picklock.toml", "jobs =\n");
    let done = run(&folder, "", &["list", "metrics"]);
    assert!(done.stderr.contains("this is not TOML"), "{done:?}");
    let none = command(&["list", "metrics"])
        .current_dir(folder.path())
        .output();
    assert!(none.is_ok_and(|output| output.status.success()));
}

#[test]
fn the_example_of_the_page_has_no_mistakes() {
    let page = include_str!("../../../docs/command-line.md");
    let config = super::readme::blocks(page, "toml").remove(0);
    let folder = project(&config.replace("my-locks/", "locks/"));
    let done = run(&folder, "", &["run", "--seeds", "1"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    let junit = fs::read_to_string(folder.path().join("results.xml")).unwrap_or_default();
    assert!(junit.contains("<failure"), "{junit}");
    let shrink = run(&folder, "", &["shrink", "locks/mine.toml", "--seed", "0"]);
    assert_eq!(shrink.code, Some(0), "{shrink:?}");
    assert!(folder.path().join("regressions").is_dir());
}
