//! The results as SARIF 2.1.0, which code scanning shows: a rule per promise, and a result for each that is not as
//! expected or is undecided, at the line of its case.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use picklock_checker::outcome::{CaseLocation, CaseOutcome, ScenarioOutcome, Standing};
use picklock_checker::{INVARIANTS, METRICS, SOMETIMES, Truth};
use serde_json::{Value, json};

use crate::json::to_text;
use crate::problem::{Problem, Remark, problems};

/// Where its schema is.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// What files are relative to: the folder in which the program ran.
const HERE: &str = "SRCROOT";
/// What the scenarios that come with picklock are relative to.
const LIBRARY: &str = "PICKLOCK";

/// The results as SARIF, ended by a line break. `picklock` is the version of the program, and `exit` its exit code.
pub fn sarif(outcomes: &[ScenarioOutcome], remarks: &[Remark], exit: u8, picklock: &str) -> String {
    let found: Vec<Problem> = problems(outcomes).collect();
    let rules = rules(&found, remarks);
    let place = |id: &str| rules.iter().position(|rule| rule.id == id);
    let of_cases = found
        .iter()
        .map(|problem| result(problem, place(problem.rule)));
    let of_the_run = remarks
        .iter()
        .map(|remark| self::remark(remark, place(&remark.about)));
    let results: Vec<Value> = of_cases.chain(of_the_run).collect();
    let rules: Vec<Value> = rules.iter().map(Rule::describe).collect();
    to_text(&json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "picklock",
                "semanticVersion": picklock,
                "rules": rules,
            }},
            "invocations": [{ "executionSuccessful": true, "exitCode": exit }],
            "originalUriBaseIds": {
                HERE: { "description": { "text": "The folder in which picklock ran." } },
                LIBRARY: { "description": { "text": "The sources of picklock." } },
            },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    }))
}

/// What results can be about.
struct Rule {
    id: String,
    /// A sentence.
    meaning: String,
    /// What else there is to say.
    more: String,
}

/// The invariants, and whatever else something was found of.
fn rules(found: &[Problem], remarks: &[Remark]) -> Vec<Rule> {
    let mut rules: Vec<Rule> = INVARIANTS
        .iter()
        .map(|invariant| Rule {
            id: invariant.name.to_owned(),
            meaning: sentence(invariant.meaning),
            more: of_truth(invariant.truth).to_owned(),
        })
        .collect();
    let named = found.iter().map(|problem| problem.rule);
    let named = named.chain(remarks.iter().map(|remark| remark.about.as_str()));
    let others: BTreeSet<&str> = named
        .filter(|name| rules.iter().all(|rule| rule.id != *name))
        .collect();
    rules.extend(others.into_iter().map(other));
    rules
}

/// A rule that is no invariant.
fn other(name: &str) -> Rule {
    let metric = METRICS.iter().find(|metric| metric.name == name);
    let moment = SOMETIMES.iter().find(|moment| moment.name == name);
    let (meaning, more) = match (metric, moment, name) {
        (Some(metric), _, _) => (metric.meaning, "A metric: scenarios set bounds for it."),
        (None, Some(moment), _) => (
            moment.meaning,
            "A moment of the protocol: some run of the case must come through it.",
        ),
        (None, None, "broken") => (
            "no run panics, and every run comes to an end",
            "A run that broke off says nothing of the lock.",
        ),
        (None, None, "replay") => (
            "a recorded run is still the run that was recorded",
            "Its hash is another: the code of the recipe, or of picklock, has changed.",
        ),
        (None, None, _) => (
            "what a run is to find out is found out",
            "Nothing that is green says anything of it.",
        ),
    };
    Rule {
        id: name.to_owned(),
        meaning: sentence(meaning),
        more: more.to_owned(),
    }
}

impl Rule {
    fn describe(&self) -> Value {
        let Self { id, meaning, more } = self;
        let text =
            format!("{meaning} {more} `picklock explain {id}` says more, and names scenarios.");
        json!({
            "id": id,
            "name": id,
            "shortDescription": { "text": meaning },
            "fullDescription": { "text": format!("{meaning} {more}") },
            "help": { "text": text, "markdown": text },
            "defaultConfiguration": { "level": "error" },
        })
    }
}

fn of_truth(truth: Truth) -> &'static str {
    match truth {
        Truth::Belief => "It is about what contenders believe.",
        Truth::Ownership => "It is about what the service says.",
        Truth::Effect => "It is about what the protected resource has accepted.",
        Truth::Service => "It is about how contenders are served.",
    }
}

fn result(found: &Problem, rule: Option<usize>) -> Value {
    let case = found.case;
    // What is undecided is not a failure to this format, and then it must not have a level.
    let (kind, level) = match found.standing {
        Standing::Undecided => ("open", "none"),
        Standing::Holds | Standing::AsExpected => ("pass", "none"),
        Standing::Skipped => ("notApplicable", "none"),
        Standing::Fail | Standing::Broken => ("fail", "error"),
    };
    let text = format!(
        "{} {}: {}\n\n{}: {}",
        case.scenario, case.case, found.line, found.again, found.command
    );
    json!({
        "ruleId": found.rule,
        "ruleIndex": rule,
        "kind": kind,
        "level": level,
        "message": { "text": text },
        "locations": [location(case)],
        // The same problem of the same case is the same alert, wherever its line moves to.
        "partialFingerprints": {
            "picklockCase/v1": format!("{}:{}:{}", case.scenario, case.case, found.rule),
        },
        "properties": {
            "scenario": case.scenario,
            "case": case.case,
            "algorithm": case.algorithm,
            "standing": found.standing,
            "seed": found.seed,
            "replay": found.command,
        },
    })
}

fn remark(remark: &Remark, rule: Option<usize>) -> Value {
    json!({
        "ruleId": remark.about,
        "ruleIndex": rule,
        "kind": "fail",
        "level": "error",
        "message": { "text": remark.text },
    })
}

fn location(case: &CaseOutcome) -> Value {
    let CaseLocation {
        file,
        built_in,
        line,
    } = &case.written;
    let artifact = match built_in {
        true => json!({
            "uri": format!("scenarios/library/{}.toml", uri(file)),
            "uriBaseId": LIBRARY,
        }),
        false if file.starts_with('/') => json!({ "uri": format!("file://{}", uri(file)) }),
        false => json!({ "uri": uri(file), "uriBaseId": HERE }),
    };
    let mut physical = json!({ "artifactLocation": artifact });
    if let Some(line) = line {
        physical["region"] = json!({ "startLine": line });
    }
    let name = format!("{} {}", case.scenario, case.case);
    json!({
        "physicalLocation": physical,
        "logicalLocations": [{ "fullyQualifiedName": name, "kind": "resource" }],
    })
}

/// A path as a URI: whatever might mean something else there, as percent and two digits.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte.into());
            }
            other => {
                // Writing to a string cannot fail.
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
    uri
}

/// With a capital letter, and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
