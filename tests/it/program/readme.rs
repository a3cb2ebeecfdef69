//! What README.md and the pages of docs/ show is what comes out.

use std::fs;

use super::common::{Folder, command};

const INCIDENTS: &str = include_str!("../../../docs/incidents.md");
const README: &str = include_str!("../../../README.md");
const SCENARIOS: &str = include_str!("../../../docs/scenarios.md");
const SEARCH: &str = include_str!("../../../docs/search.md");

/// The blocks of a kind, such as `toml`.
pub fn blocks(page: &str, kind: &str) -> Vec<String> {
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
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

/// Runs a line of a shell in a folder: the exit code, and what was printed. `> FILE` at its end writes that to a file.
pub fn run(line: &str, folder: &Folder) -> (Option<i32>, String) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (words, to) = match words.as_slice() {
        [words @ .., ">", file] => (words, Some(*file)),
        words => (words, None),
    };
    let arguments = match words {
        ["$", "cargo", "run", "--release", "--", arguments @ ..]
        | ["$", "picklock", arguments @ ..] => arguments,
        _ => panic!("this is no command of picklock: {line}"),
    };
    let output = command(arguments).current_dir(folder.path()).output();
    let output = output.expect("the program runs");
    let printed = String::from_utf8(output.stdout).expect("output is UTF-8");
    if let Some(file) = to {
        folder.file(file, &printed);
    }
    (output.status.code(), printed)
}

/// Runs the command that a block begins with: it prints the lines below it, in that order. Lines may be left out of
/// what is shown, and nothing else.
pub fn prints_what_is_shown(block: &str) {
    let (line, rest) = block
        .split_once('\n')
        .expect("a command, and what it prints");
    let (code, printed) = run(line, &Folder::new());
    assert_eq!(code, Some(0), "{line}");
    let mut lines = printed.lines();
    for shown in rest.lines().filter(|line| !line.is_empty()) {
        assert!(
            lines.any(|line| line == shown),
            "{line}\nnot there, or not there any more: {shown}"
        );
    }
}

#[test]
fn what_commands_are_shown_to_print_is_printed_line_by_line_in_that_order() {
    // In README every block is of a command; the page on searching shows pieces of reports, too.
    let of_commands = |page| {
        let mut shown = blocks(page, "text");
        shown.retain(|block| block.starts_with("$ "));
        shown
    };
    let mut shown = blocks(README, "text");
    assert_eq!(shown.len(), 2, "{shown:?}");
    let more = of_commands(SEARCH);
    assert_eq!(more.len(), 1, "{more:?}");
    shown.extend(more);
    for block in shown {
        prints_what_is_shown(&block);
    }
}

#[test]
fn the_commands_of_the_jobs_do_as_they_are_said_to() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("my-locks")).expect("it can be made");
    let mine = folder.path().join("my-locks/mine.toml");
    fs::write(mine, blocks(SCENARIOS, "toml").remove(0)).expect("it can be written");
    let shown = blocks(README, "sh");
    assert_eq!(shown.len(), 2, "{shown:?}");
    for line in shown.iter().flat_map(|block| block.lines()) {
        let (code, printed) = run(&format!("$ {line}"), &folder);
        assert_eq!(code, Some(0), "{line}\n{printed}");
    }
    assert!(folder.path().join("results.json").is_file());
}

#[test]
fn the_scenario_to_begin_with_is_as_expected_and_says_why_it_is_not_any_more() {
    let folder = Folder::new();
    let text = blocks(SCENARIOS, "toml").remove(0);
    fs::write(folder.path().join("mine.toml"), &text).expect("it can be written");
    let (code, printed) = run("$ picklock run mine.toml", &folder);
    assert_eq!(code, Some(0), "{printed}");
    // No contender is inside any more when the session of the dead one ends.
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

#[test]
fn every_incident_of_the_page_is_told_by_its_command() {
    let folder = Folder::new();
    let rows = INCIDENTS.lines();
    let rows = rows.filter(|line| line.contains("(../scenarios/library/incidents/"));
    let mut told = 0;
    for row in rows {
        let command = row
            .split('`')
            .find(|part| part.starts_with("picklock replay "));
        let command = command.unwrap_or_else(|| panic!("no command: {row}"));
        let (code, text) = run(&format!("$ {command}"), &folder);
        assert_eq!(code, Some(0), "{command}\n{text}");
        assert!(text.contains(" violated: "), "{command}\n{text}");
        told += 1;
    }
    assert_eq!(told, 20);
}

#[test]
fn an_incident_of_four_sentences_is_a_file_of_a_few_lines_and_is_told_as_it_was_reported() {
    let folder = Folder::new();
    let text = blocks(INCIDENTS, "toml").remove(0);
    assert!(text.lines().count() <= 25, "{text}");
    fs::write(folder.path().join("nightly.toml"), &text).expect("it can be written");
    let (code, printed) = run("$ picklock run nightly.toml --seeds 20", &folder);
    assert_eq!(code, Some(1), "{printed}");
    let (_, told) = run("$ picklock replay nightly.toml --seed 0", &folder);
    let mut rest = told.as_str();
    for step in [
        "enters",
        "fault 1: black-hole contender-1 both ways for 20s",
        "disconnected",
        "expired",
        "both inside",
        "fault 2: pause contender-1 for 30s",
        "fault 3: crash-server leader and restart it after 4s",
        "is LEADING in epoch 2",
        "is back with its log",
        "resumes",
        "could have known",
        "loss is reported",
    ] {
        let at = rest
            .find(step)
            .unwrap_or_else(|| panic!("{step} is not told in its turn: {told}"));
        rest = &rest[at + step.len()..];
    }
}
