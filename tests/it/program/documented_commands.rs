//! Every command that README.md and a page of docs/ show, wherever it stands, is one that picklock understands, and
//! what takes no time is run.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::common::{Folder, command};
use super::guide::files;
use super::readme::blocks;

const SCENARIOS: &str = include_str!("../../../docs/scenarios.md");
const INCIDENT: &str = include_str!("../../../docs/guide/your-incident.md");
const NIGHTLY: &str = include_str!("../../../docs/incidents.md");

/// Verbs that only look something up, or run a run or two.
const QUICK: [&str; 10] = [
    "completions",
    "explain",
    "help",
    "list",
    "man",
    "new",
    "plan",
    "replay",
    "schema",
    "validate",
];
/// A run of one scenario with so many seeds takes no time.
const FEW: [&str; 2] = ["--seeds 20", "--seeds 1"];

/// The commands of a page: lines of blocks, with or without a prompt, and what stands between backticks. A line that
/// ends with a backslash goes on.
fn commands(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut block: Option<&str> = None;
    let mut begun = String::new();
    for line in page.lines() {
        if let Some(kind) = line.trim_start().strip_prefix("```") {
            block = match block {
                None => Some(kind),
                Some(_) => None,
            };
            continue;
        }
        match block {
            Some("toml" | "rust" | "json") => {}
            Some(_) => {
                let joined = format!("{begun}{}", line.trim());
                match joined.strip_suffix('\\') {
                    Some(start) => begun = start.to_owned(),
                    None => {
                        begun.clear();
                        let bare = joined.strip_prefix("$ ").unwrap_or(&joined);
                        found.push(bare.to_owned());
                    }
                }
            }
            None => {
                let spans = line.split('`').skip(1).step_by(2);
                found.extend(spans.map(str::to_owned));
            }
        }
    }
    let ours = found.into_iter().filter_map(|text| {
        // A comment, or what stands beside a command in a column.
        let text = text.split("  ").next()?.trim().to_owned();
        let released = text
            .strip_prefix("cargo run --release -- ")
            .map(str::to_owned);
        released.or_else(|| text.strip_prefix("picklock ").map(str::to_owned))
    });
    ours.filter(|command| is_command(command)).collect()
}

/// Whether it is whole: SCENARIO, I/N, and the like stand for something; a line of Cargo.toml and a sentence are none.
fn is_command(arguments: &str) -> bool {
    let stands_for = |word: &str| {
        let mut letters = word.trim_matches(['<', '>']).chars();
        letters.all(|letter| letter.is_ascii_uppercase() || "/…|".contains(letter))
    };
    let mut words = arguments.split_whitespace();
    !arguments.starts_with('=') && !words.any(stands_for)
}

/// The words of a command, and the file that its output goes to.
fn words(arguments: &str) -> (Vec<&str>, Option<&str>) {
    let (command, to) = match arguments.split_once(" > ") {
        Some((command, to)) => (command, Some(to.trim())),
        None => (arguments, None),
    };
    let command = command.split(" | ").next().unwrap_or(command);
    (command.split_whitespace().collect(), to)
}

fn is_quick(words: &[&str]) -> bool {
    let line = words.join(" ");
    let is_few = FEW.iter().any(|few| line.ends_with(few)) && words.len() == 4;
    match words.first() {
        Some(&"run") => is_few,
        // A verb alone, or with an option, stands for all that it can do.
        Some(verb) => {
            QUICK.contains(verb) && words.get(1).is_some_and(|word| !word.starts_with('-'))
        }
        None => false,
    }
}

/// A folder with the files that the pages speak of.
fn folder() -> Folder {
    let folder = Folder::new();
    let scenario = blocks(SCENARIOS, "toml").remove(0);
    fs::create_dir(folder.path().join("my-locks")).expect("it can be made");
    folder.file("my-locks/mine.toml", &scenario);
    folder.file("mine.toml", scenario);
    folder.file("incident.toml", blocks(INCIDENT, "toml").remove(0));
    folder.file("nightly.toml", blocks(NIGHTLY, "toml").remove(0));
    folder
}

#[test]
fn every_command_of_every_page_is_understood_and_quick_ones_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = folder();
    let (mut seen, mut ran, mut wrong) = (BTreeSet::new(), 0, Vec::new());
    let readme = root.join("README.md");
    for path in files(&root.join("docs"), ".md").into_iter().chain([readme]) {
        let page = fs::read_to_string(&path).expect("a page can be read");
        for arguments in commands(&page) {
            if !seen.insert(arguments.clone()) {
                continue;
            }
            let (mut words, to) = words(&arguments);
            // `verify` is there only where it was built in.
            if words.first() == Some(&"verify") {
                continue;
            }
            // A report that a page shows may be of a file that is elsewhere.
            let is_there =
                |word: &&str| !word.ends_with(".toml") || folder.path().join(word).exists();
            let mut files = words.iter();
            let is_run = is_quick(&words) && !arguments.contains('~') && files.all(is_there);
            if !is_run {
                words.push("--help");
            }
            let done = command(&words).current_dir(folder.path()).output();
            let done = done.expect("the program runs");
            // Of a violation that is not expected a replay ends with 1.
            let is_shown = words[0] == "replay" && done.status.code() == Some(1);
            if done.status.code() != Some(0) && !is_shown {
                let told = String::from_utf8_lossy(&done.stderr);
                let code = done.status.code();
                wrong.push(format!("{}: {arguments}: {code:?}: {told}", path.display()));
            }
            if let Some(to) = to.filter(|_| is_run) {
                folder.file(to, &done.stdout);
            }
            ran += usize::from(is_run);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen.len() > 100 && ran > 50, "{} and {ran}", seen.len());
}
