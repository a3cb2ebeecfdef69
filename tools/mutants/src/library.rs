//! The library of scenarios, run with a mutant: which of its cases come out otherwise than without one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::process::{End, run};

/// How each case came out, and each of its findings: `holds`, `as-expected`, `fail`, `undecided`.
pub type Standings = BTreeMap<(String, String), BTreeMap<String, String>>;

/// What is said of a case as a whole.
const WHOLE: &str = "";

/// What became of a run of the library.
pub enum Ran {
    To(Standings),
    TimedOut,
    /// It ended without results.
    Broken,
}

/// Runs a group of the library.
///
/// # Errors
///
/// The program cannot be started, or its results cannot be read.
pub fn library(
    program: (&Path, &Path),
    (group, seeds): (&str, &str),
    mutant: usize,
    limit: Duration,
    results: &Path,
) -> Result<Ran, String> {
    let path = results.to_string_lossy();
    let arguments = [
        "run",
        group,
        "--seeds",
        seeds,
        "--jobs",
        "1",
        "--no-shrink",
        "--quiet",
    ];
    let arguments = [&arguments[..], &["--json", &path]].concat();
    // Those of an earlier run are not its own.
    let _none = fs::remove_file(results);
    match run(program, &arguments, mutant, limit, |_| false)? {
        End::TimedOut => Ok(Ran::TimedOut),
        End::Enough => Ok(Ran::Broken),
        End::Exited(_) => match fs::read_to_string(results) {
            Ok(text) => Ok(Ran::To(standings(&text)?)),
            Err(_) => Ok(Ran::Broken),
        },
    }
}

fn standings(text: &str) -> Result<Standings, String> {
    let results: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let cases = results["cases"]
        .as_array()
        .ok_or("no cases in the results")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut standings = Standings::new();
    for case in cases {
        let findings = case["findings"].as_array().into_iter().flatten();
        let mut of_case: BTreeMap<String, String> = findings
            .map(|finding| (text(&finding["name"]), text(&finding["standing"])))
            .collect();
        of_case.insert(WHOLE.to_owned(), text(&case["standing"]));
        standings.insert((text(&case["scenario"]), text(&case["case"])), of_case);
    }
    Ok(standings)
}

/// Whatever comes out worse, by name: first what is broken, then what cannot be told any more though it held before.
/// What was expected to be broken and is not seen with so few seeds says nothing: with a mutant, seeds mean something
/// else.
pub fn differences(without: &Standings, with: &Standings) -> Vec<String> {
    let mut broken = Vec::new();
    let mut untold = Vec::new();
    for (key, before) in without {
        let Some(after) = with.get(key) else {
            continue;
        };
        let (scenario, case) = key;
        let differs = |(name, standing): &(&String, &String)| {
            !name.is_empty() && before.get(*name) != Some(*standing)
        };
        let mut other = after.iter().filter(differs);
        let whole = |standings: &BTreeMap<String, String>| standings.get(WHOLE).cloned();
        match (whole(before).as_deref(), whole(after).as_deref()) {
            (Some("fail" | "broken"), _) => {}
            (_, Some("fail" | "broken")) => {
                let named = other.find(|(_, standing)| *standing == "fail");
                let name = named.map_or("broken", |(name, _)| name.as_str());
                broken.push(format!("{scenario}, {case}: {name}"));
            }
            // Of a swarm, few seeds need not come through every moment that it is to come through.
            (Some("holds"), Some("undecided")) if !scenario.contains("/swarm") => {
                let name = other.next().map_or("vacuous", |(name, _)| name.as_str());
                untold.push(format!("{scenario}, {case}: {name} undecided"));
            }
            _ => {}
        }
    }
    broken.extend(untold);
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(whole: &str, progress: &str) -> Standings {
        let json = format!(
            r#"{{"cases": [{{"scenario": "a/b", "case": "c", "standing": "{whole}",
                "findings": [{{"name": "progress", "standing": "{progress}"}}]}}]}}"#
        );
        standings(&json).expect("results")
    }

    #[test]
    fn a_case_that_comes_out_otherwise_is_named_with_what_is_broken() {
        let (before, after) = (one("holds", "holds"), one("fail", "fail"));
        assert_eq!(differences(&before, &after), ["a/b, c: progress"]);
        assert!(differences(&before, &before).is_empty());
    }

    #[test]
    fn a_case_that_cannot_tell_any_more_says_so() {
        let (before, after) = (one("holds", "holds"), one("undecided", "undecided"));
        assert_eq!(differences(&before, &after), ["a/b, c: progress undecided"]);
        let vacuous = one("undecided", "holds");
        assert_eq!(
            differences(&before, &vacuous),
            ["a/b, c: vacuous undecided"]
        );
    }
}
