//! The guide, `docs/guide` and what `docs/SUMMARY.md` lists besides, says what is true.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::common::{Folder, picklock};
use super::documents::{are_written, is_made};
use super::readme::{blocks, prints_what_is_shown, run};
use picklock::checker::invariants::INVARIANTS;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a folder whose names end so.
pub fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let below = paths.into_iter().flat_map(|path| match path.is_dir() {
        true => files(&path, end),
        false => vec![path],
    });
    below
        .filter(|path| path.to_string_lossy().ends_with(end))
        .collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn pages() -> Vec<(PathBuf, String)> {
    let paths = files(&root().join("docs/guide"), ".md");
    paths
        .into_iter()
        .map(|path| (path.clone(), read(&path)))
        .collect()
}

/// What stands between backticks, outside of blocks.
fn code_spans(page: &str) -> Vec<String> {
    let mut outside = Vec::new();
    let mut in_block = false;
    for line in page.lines() {
        match line.starts_with("```") {
            true => in_block = !in_block,
            false if in_block => {}
            false => outside.push(line),
        }
    }
    let text = outside.join("\n");
    text.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// A page with the stories of its blocks as they are told now.
fn redrawn(page: &str) -> String {
    let mut text = page.to_owned();
    for block in blocks(page, "text") {
        let line = block.lines().next().expect("a block has a line");
        if !line.starts_with("$ picklock replay ") {
            continue;
        }
        let (_, printed) = run(line, &Folder::new());
        let told = printed
            .lines()
            .skip_while(|line| !line.contains(" violated: "));
        let told = told.take_while(|line| !line.starts_with("  Hash"));
        let told: Vec<&str> = told.collect();
        let new = format!("{line}\n\n{}", told.join("\n").trim_end());
        text = text.replace(&block, &new);
    }
    text
}

#[test]
fn every_picture_of_the_documents_is_what_its_command_tells() {
    if are_written() {
        for (path, _) in pages() {
            let path = path.strip_prefix(root()).expect("it is of the repository");
            is_made(&path.display().to_string(), redrawn);
        }
    }
    let mut pictures = 0;
    for (_, page) in pages() {
        let mut shown = blocks(&page, "text");
        shown.retain(|block| block.starts_with("$ "));
        for block in &shown {
            prints_what_is_shown(block);
        }
        pictures += shown.len();
    }
    assert!(pictures > INVARIANTS.len(), "{pictures}");
}

#[test]
fn every_command_of_the_guide_runs() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("my-locks")).expect("it can be made");
    let scenarios = include_str!("../../../docs/scenarios.md");
    folder.file("my-locks/mine.toml", blocks(scenarios, "toml").remove(0));
    let incident = include_str!("../../../docs/guide/your-incident.md");
    folder.file("incident.toml", blocks(incident, "toml").remove(0));
    let mut ran = 0;
    for (path, page) in pages() {
        for line in blocks(&page, "sh").iter().flat_map(|block| block.lines()) {
            let (code, printed) = run(&format!("$ {line}"), &folder);
            assert_eq!(code, Some(0), "{}: {line}\n{printed}", path.display());
            ran += 1;
        }
        let told = [
            "picklock replay ",
            "picklock why ",
            "picklock explain ",
            "picklock list ",
        ];
        for line in code_spans(&page) {
            let is_told = told.iter().any(|verb| line.starts_with(verb));
            // SCENARIO, NAME, and the like stand for something.
            let stands_for = |word: &str| word.chars().all(|char| char.is_ascii_uppercase());
            if is_told && !line.split_whitespace().any(stands_for) {
                let (code, printed) = run(&format!("$ {line}"), &folder);
                assert_eq!(code, Some(0), "{}: {line}\n{printed}", path.display());
                ran += 1;
            }
        }
    }
    assert!(ran > 10, "{ran}");
}

#[test]
fn every_command_that_a_page_names_in_its_text_is_understood() {
    let folder = Folder::new();
    let mut understood = 0;
    let readme = root().join("README.md");
    for path in files(&root().join("docs"), ".md")
        .into_iter()
        .chain([readme])
    {
        for span in code_spans(&read(&path)) {
            let line = span.split_whitespace().collect::<Vec<_>>().join(" ");
            // SCENARIO, I/N, and the like stand for something.
            let stands_for = |word: &str| {
                word.chars()
                    .all(|letter| letter.is_ascii_uppercase() || "/…".contains(letter))
            };
            // Nor is a line of Cargo.toml a command.
            let is_command = line.starts_with("picklock ") && !line.starts_with("picklock =");
            if !is_command || line.split(' ').any(stands_for) {
                continue;
            }
            // What stands before `--help` is taken apart, and nothing runs.
            let (code, printed) = run(&format!("$ {line} --help"), &folder);
            assert_eq!(code, Some(0), "{}: {line}\n{printed}", path.display());
            understood += 1;
        }
    }
    assert!(understood > 40, "{understood}");
}

#[test]
fn every_scenario_that_the_guide_names_is_there() {
    let listed = picklock(&["list", "scenarios"]).stdout;
    let names = listed
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let scenarios: BTreeSet<&str> = names.collect();
    let groups: BTreeSet<&str> = scenarios
        .iter()
        .filter_map(|name| Some(name.split_once('/')?.0))
        .collect();
    let mut named = 0;
    for (path, page) in pages() {
        for span in code_spans(&page) {
            let group = span.split('/').next().unwrap_or_default();
            if groups.contains(group) && group != span {
                assert!(
                    scenarios.contains(span.as_str()),
                    "{}: {span}",
                    path.display()
                );
                named += 1;
            }
        }
    }
    assert!(named > 40, "{named}");
}

#[test]
fn every_invariant_has_a_page_that_begins_with_what_it_means() {
    let folder = root().join("docs/guide/invariants");
    for invariant in INVARIANTS {
        let name = invariant.name;
        let page = read(&folder.join(format!("{name}.md")));
        let begins = format!("# {name}\n\n{}\n", invariant.meaning);
        assert!(page.starts_with(&begins), "{name}");
        assert!(
            page.contains("\n```text\n$ picklock replay "),
            "{name} has no picture"
        );
        assert!(
            page.contains(&format!("\n  {name} violated: ")),
            "{name} has another picture"
        );
    }
}

#[test]
fn the_guide_has_every_page_of_docs_and_every_link_leads_somewhere() {
    let docs = root().join("docs");
    let summary = read(&docs.join("SUMMARY.md"));
    for path in files(&docs, ".md") {
        let page = path
            .strip_prefix(&docs)
            .expect("it is in docs")
            .display()
            .to_string();
        let is_listed = page == "SUMMARY.md" || summary.contains(&format!("]({page})"));
        assert!(is_listed, "docs/{page} is not in docs/SUMMARY.md");
    }
    let of_root = [
        "README.md",
        "ARCHITECTURE.md",
        "STYLE.md",
        "TRACK_RECORD.md",
        "CHANGELOG.md",
    ];
    let of_root = of_root.iter().map(|name| root().join(name));
    for path in files(&docs, ".md").into_iter().chain(of_root) {
        let page = read(&path);
        let folder = path.parent().expect("a file is in a folder");
        let links = page
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split_once(')'));
        for (link, _) in
            links.filter(|(link, _)| !link.contains("://") && !link.contains([' ', '`']))
        {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                path.clone()
            } else {
                folder.join(file)
            };
            assert!(target.exists(), "{}: {link}", path.display());
            if !anchor.is_empty() {
                let headings = headings(&read(&target));
                assert!(
                    headings.contains(anchor),
                    "{}: {link}: {headings:?}",
                    path.display()
                );
            }
        }
    }
}

/// The headings of a page as links name them.
fn headings(page: &str) -> BTreeSet<String> {
    let lines = page.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| {
        let text = line.trim_start_matches('#').trim().to_lowercase();
        let kept = text
            .chars()
            .filter(|char| char.is_alphanumeric() || [' ', '-', '_'].contains(char));
        kept.map(|char| if char == ' ' { '-' } else { char })
            .collect()
    };
    lines.map(anchor).collect()
}
