//! The JSON Schemas that are published are those of this version.

use std::fs;
use std::path::Path;

use super::common::picklock;
use super::documents::is_made;

/// Their names and versions, as the program lists them.
fn listed() -> Vec<(String, String)> {
    let all = picklock(&["schema"]);
    assert_eq!(all.code, Some(0), "{all:?}");
    let named = all.stdout.lines().map(|line| {
        let mut words = line.split_whitespace();
        let mut word = || words.next().unwrap_or_default().to_owned();
        let (name, _, version) = (word(), word(), word());
        (name, version)
    });
    named.collect()
}

#[test]
fn the_schemas_of_the_documents_are_those_that_are_printed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas");
    let mut names = Vec::new();
    for (name, version) in listed() {
        let printed = picklock(&["schema", &name]);
        assert_eq!(printed.code, Some(0), "{printed:?}");
        let file = format!("{name}-{version}.json");
        is_made(&format!("docs/schemas/{file}"), |_| printed.stdout);
        names.push(file);
    }
    let entries = fs::read_dir(&folder).expect("it is there");
    let mut there: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    there.sort();
    names.sort();
    assert_eq!(there, names);
}

#[test]
fn every_schema_is_in_the_table_of_its_page() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas.md");
    let page = fs::read_to_string(page).expect("it is there");
    let all = listed();
    assert!(all.len() >= 8, "{all:?}");
    for (name, version) in all {
        let row = format!("| `{name}` | ");
        let file = format!("(schemas/{name}-{version}.json) |");
        let has = |line: &str| line.starts_with(&row) && line.ends_with(&file);
        assert!(page.lines().any(has), "{name} {version}");
    }
}

#[test]
fn a_schema_that_there_is_not_is_refused_with_the_nearest() {
    let done = picklock(&["schema", "scenarios"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
    assert!(
        done.stderr.contains("did you mean `scenario`?"),
        "{}",
        done.stderr
    );
}
