//! What README.md shows is what comes out.

use std::fs;

use super::common::{Folder, command};

const README: &str = include_str!("../../README.md");

/// The blocks of a kind, such as `toml`.
fn blocks(kind: &str) -> Vec<String> {
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    let mut inside = false;
    for line in README.lines() {
        match line.strip_prefix("```") {
            Some(fence) if !inside => {
                inside = fence == kind;
                blocks.extend(inside.then(Vec::new));
            }
            Some(_) => inside = false,
            None if inside => blocks.last_mut().expect("a block has begun").push(line),
            None => {}
        }
    }
    blocks.iter().map(|lines| lines.join("\n")).collect()
}

/// Runs a line of a shell in a folder: the exit code, and what was printed.
fn run(line: &str, folder: &Folder) -> (Option<i32>, String) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let arguments = match words.as_slice() {
        ["$", "cargo", "run", "--release", "--", arguments @ ..]
        | ["$", "picklock", arguments @ ..] => arguments,
        _ => panic!("this is no command of picklock: {line}"),
    };
    let output = command(arguments).current_dir(folder.path()).output();
    let output = output.expect("the program runs");
    let printed = String::from_utf8(output.stdout).expect("output is UTF-8");
    (output.status.code(), printed)
}

#[test]
fn what_commands_are_shown_to_print_is_printed_line_by_line_in_that_order() {
    let shown = blocks("text");
    assert!(shown.len() >= 3, "{shown:?}");
    for block in shown {
        let (line, rest) = block
            .split_once('\n')
            .expect("a command, and what it prints");
        let (code, printed) = run(line, &Folder::new());
        assert_eq!(code, Some(0), "{line}");
        // Lines may be left out of what is shown, and nothing else.
        let mut lines = printed.lines();
        for shown in rest.lines().filter(|line| !line.is_empty()) {
            assert!(
                lines.any(|line| line == shown),
                "{line}\nnot there, or not there any more: {shown}"
            );
        }
    }
}

#[test]
fn the_scenario_to_begin_with_is_as_expected_and_says_why_it_is_not_any_more() {
    let folder = Folder::new();
    let text = blocks("toml").remove(0);
    fs::write(folder.path().join("mine.toml"), &text).expect("it can be written");
    let (code, printed) = run("$ picklock run mine.toml", &folder);
    assert_eq!(code, Some(0), "{printed}");
    // Nobody is inside any more when the session of the dead one ends.
    let changed = text.replace(r#"hold = "20s""#, r#"hold = "2s""#);
    fs::write(folder.path().join("mine.toml"), changed).expect("it can be written");
    let (code, printed) = run("$ picklock run mine.toml --seeds 1", &folder);
    assert_eq!(code, Some(1), "{printed}");
    let replay = "picklock replay mine.toml --case zk-no-recheck --seed 0";
    assert!(printed.contains(replay), "{printed}");
    let (code, told) = run(&format!("$ {replay}"), &folder);
    assert_eq!(code, Some(0), "{told}");
    assert!(
        told.contains("mutual-exclusion is to be violated within 1 seed, and this one keeps it")
    );
    let at = |what: &str| told.find(what).unwrap_or_else(|| panic!("{what}: {told}"));
    assert!(at("leaves") < at("expired"), "{told}");
}
