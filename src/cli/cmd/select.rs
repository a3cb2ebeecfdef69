//! Which scenarios and which of their cases a command line means.

use std::path::PathBuf;

use crate::scenarios::{Case, Diagnostic, Scenario, program};
use crate::sources;

use crate::cli::failure::Failure;

/// The scenarios that were named, or all that come with picklock; of each, only the cases that were
/// named, if any were.
pub fn scenarios(paths: &[PathBuf], cases: &[String]) -> Result<Vec<Scenario>, Failure> {
    let mut scenarios = if paths.is_empty() {
        sources::library(&program::catalogue())?
    } else {
        named(paths)?
    };
    for wanted in cases {
        let mut all = scenarios.iter().flat_map(|scenario| &scenario.cases);
        if !all.any(|case| case.name == *wanted) {
            return Err(no_case(wanted, &scenarios));
        }
    }
    if !cases.is_empty() {
        for scenario in &mut scenarios {
            scenario.cases.retain(|case| cases.contains(&case.name));
        }
        scenarios.retain(|scenario| !scenario.cases.is_empty());
    }
    Ok(scenarios)
}

/// One case of one scenario.
pub fn case(path: &PathBuf, case: Option<&str>) -> Result<(Scenario, Case), Failure> {
    let mut scenarios = scenarios(std::slice::from_ref(path), &[])?;
    if scenarios.len() != 1 {
        let all: Vec<_> = scenarios.iter().map(|own| own.path.as_str()).collect();
        let problem = format!("{} holds {} scenarios", path.display(), all.len());
        let hint = format!("name one of them: {}", all.join(", "));
        return Err(Failure::usage(problem, [hint]));
    }
    let found = match (case, &scenarios[0].cases[..]) {
        (None, [only]) => Some(only.clone()),
        (None, several) => {
            let all: Vec<_> = several.iter().map(|case| case.name.as_str()).collect();
            let problem = format!("{} has {} cases", scenarios[0].name, all.len());
            let hint = format!("name one of them with --case: {}", all.join(", "));
            return Err(Failure::usage(problem, [hint]));
        }
        (Some(name), all) => all.iter().find(|case| case.name == name).cloned(),
    };
    match found {
        Some(found) => Ok((scenarios.remove(0), found)),
        None => Err(no_case(case.unwrap_or_default(), &scenarios)),
    }
}

/// One run: a case of a scenario as its seed settles it, and the seed. If both are missing, both are asked for.
pub fn run(
    path: &PathBuf,
    case: Option<&str>,
    seed: Option<u64>,
) -> Result<(Scenario, Case, u64), Failure> {
    match self::case(path, case) {
        Ok((scenario, case)) => {
            let seed = self::seed(&case, seed)?;
            let settled = case.settled(seed).into_owned();
            Ok((scenario, settled, seed))
        }
        Err(Failure::Usage { problem, mut hints }) => {
            if seed.is_none() {
                hints.push("name one of its runs, too: --seed 0".to_owned());
            }
            Err(Failure::Usage { problem, hints })
        }
        Err(other) => Err(other),
    }
}

/// The seed of a case. A run that was recorded has one only, and needs none to be named.
fn seed(case: &Case, asked: Option<u64>) -> Result<u64, Failure> {
    let asked = asked.or(case.saved.as_ref().map(|saved| saved.seed));
    match (&case.recorded, asked) {
        (Some(_), None | Some(0)) => Ok(0),
        (Some(_), Some(seed)) => Err(Failure::usage(
            format!("{} is one recorded run, and has no seed {seed}", case.name),
            ["leave --seed away".to_owned()],
        )),
        (None, Some(seed)) => Ok(seed),
        (None, None) => Err(Failure::usage(
            format!("{} has many runs, one for each seed", case.name),
            ["name one of them: --seed 0".to_owned()],
        )),
    }
}

/// The scenarios behind these words, each once. All mistakes are told together.
fn named(paths: &[PathBuf]) -> Result<Vec<Scenario>, Failure> {
    let mut scenarios: Vec<Scenario> = Vec::new();
    let mut mistakes: Vec<Diagnostic> = Vec::new();
    for path in paths {
        match sources::find(path, &program::catalogue()) {
            Ok(found) => {
                for scenario in found {
                    if scenarios.iter().all(|other| other.path != scenario.path) {
                        scenarios.push(scenario);
                    }
                }
            }
            Err(found) => mistakes.extend(found),
        }
    }
    if mistakes.is_empty() {
        Ok(scenarios)
    } else {
        Err(Failure::Mistakes(mistakes))
    }
}

fn no_case(name: &str, scenarios: &[Scenario]) -> Failure {
    let all = scenarios.iter().flat_map(|scenario| &scenario.cases);
    let mut names: Vec<&str> = all.map(|case| case.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    Failure::unknown("case", name, &names)
}
