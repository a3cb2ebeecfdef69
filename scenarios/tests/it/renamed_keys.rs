//! Keys that older files call otherwise.

use std::path::Path;

use picklock_scenarios::{Catalogue, Diagnostic, Scenario, parse, write};

/// What older files write, and what it is called now.
const RENAMED: [(&str, &str, &str); 2] = [
    ("patience", "acquire-timeout", "\"30s\""),
    ("entries", "reentrancy-depth", "3"),
];

fn read(workload: &str) -> Result<Scenario, String> {
    let text = format!("[workload]\n{workload}\n[[case]]\nalgorithm = \"curator-mutex\"\n");
    parse("mine", &text, &Catalogue::EVERYTHING).map_err(|mistakes| {
        let said: Vec<String> = mistakes.iter().map(Diagnostic::to_string).collect();
        said.join("\n\n")
    })
}

#[test]
fn a_file_with_the_old_keys_is_the_same_scenario_and_is_written_with_the_new_ones() {
    for (old, new, value) in RENAMED {
        let written = |key: &str| {
            read(&format!("{key} = {value}")).map(|scenario| write(&scenario, &scenario.cases[0]))
        };
        assert_eq!(written(old), written(new));
        let text = written(old).unwrap_or_default();
        assert!(text.contains(&format!("\n{new} = {value}\n")), "{text}");
        assert!(!text.contains(&format!("\n{old} = ")), "{text}");
    }
}

#[test]
fn a_key_under_both_of_its_names_is_a_mistake() {
    for (old, new, value) in RENAMED {
        let found = read(&format!("{old} = {value}\n{new} = {value}"));
        let found = found.err().unwrap_or_default();
        let said = format!("unknown key `{old}`");
        assert!(found.starts_with(&format!("error: {said}")), "{found}");
    }
}

#[test]
fn no_mistake_suggests_an_old_key() {
    let found = read("patiense = \"1s\"").err().unwrap_or_default();
    assert!(found.contains("nearest: `arrive`"), "{found}");
    assert!(!found.contains("`patience`"), "{found}");
}

#[test]
fn no_file_of_ours_has_an_old_key() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<_> = [
        "scenarios/library",
        "regressions",
        "examples/first-lock/scenarios",
    ]
    .map(|folder| root.join(folder))
    .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            for (old, ..) in RENAMED {
                let is_old = |line: &str| line.starts_with(&format!("{old} ="));
                assert!(!text.lines().any(is_old), "{}: {old}", path.display());
            }
        }
    }
}
