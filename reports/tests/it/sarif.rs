//! SARIF 2.1.0, as code scanning reads it.

use crate::common;
use crate::common::hostile;
use crate::common::outcome;

use common::two_inside;
use hostile::{HOSTILE, hostile};
use outcome::{case, failed, finding, scenario};
use picklock_checker::INVARIANTS;
use picklock_checker::outcome::{CaseLocation, Standing};
use picklock_reports::Remark;
use picklock_reports::sarif::sarif;
use serde_json::Value;

/// What the schema allows of the objects that are used, by where they stand; an index stands for any. Where it has
/// `additionalProperties: false`, nothing else may be there.
const SCHEMA: &[(&str, &[&str])] = &[
    ("", &["$schema", "version", "runs"]),
    (
        "/runs/0",
        &[
            "tool",
            "invocations",
            "originalUriBaseIds",
            "columnKind",
            "results",
        ],
    ),
    ("/runs/0/tool", &["driver"]),
    ("/runs/0/tool/driver", &["name", "semanticVersion", "rules"]),
    (
        "/runs/0/tool/driver/rules/0",
        &[
            "id",
            "name",
            "shortDescription",
            "fullDescription",
            "help",
            "defaultConfiguration",
        ],
    ),
    (
        "/runs/0/invocations/0",
        &["executionSuccessful", "exitCode"],
    ),
    (
        "/runs/0/results/0",
        &[
            "ruleId",
            "ruleIndex",
            "kind",
            "level",
            "message",
            "locations",
            "partialFingerprints",
            "properties",
        ],
    ),
    (
        "/runs/0/results/0/locations/0",
        &["physicalLocation", "logicalLocations"],
    ),
    (
        "/runs/0/results/0/locations/0/physicalLocation",
        &["artifactLocation", "region"],
    ),
    (
        "/runs/0/results/0/locations/0/physicalLocation/artifactLocation",
        &["uri", "uriBaseId"],
    ),
    (
        "/runs/0/results/0/locations/0/physicalLocation/region",
        &["startLine"],
    ),
    (
        "/runs/0/results/0/locations/0/logicalLocations/0",
        &["fullyQualifiedName", "kind"],
    ),
];

fn read(text: &str) -> Value {
    let document: Value = serde_json::from_str(text).expect("it is JSON");
    for (place, known) in SCHEMA {
        let Some(Value::Object(object)) = document.pointer(place) else {
            continue;
        };
        for key in object.keys() {
            assert!(known.contains(&key.as_str()), "{place} {key}");
        }
    }
    document
}

#[test]
fn a_failure_is_a_result_at_the_line_of_its_case() {
    let mut case = failed("zk-no-recheck", two_inside());
    case.written = CaseLocation {
        file: "my locks/waiter#1.toml".to_owned(),
        built_in: false,
        line: Some(17),
    };
    let text = sarif(&[scenario(vec![case])], &[], 1, "0.1.0");
    let mut document = read(&text);
    let result = &document["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "mutual-exclusion");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(
        place["artifactLocation"]["uri"],
        "my%20locks/waiter%231.toml"
    );
    assert_eq!(place["region"]["startLine"], 17);
    let message = result["message"]["text"].as_str().unwrap_or_default();
    assert!(message.contains("\n\nReplay: picklock replay"), "{message}");
    // One rule shows what they look like.
    if let Some(Value::Array(rules)) = document.pointer_mut("/runs/0/tool/driver/rules") {
        rules.truncate(1);
    }
    let shown = serde_json::to_string_pretty(&document).unwrap_or_default();
    insta::assert_snapshot!(shown);
}

#[test]
fn every_invariant_is_a_rule_with_help_and_each_result_names_its_rule() {
    let mut undecided = case("etcd-mutex", Standing::Undecided);
    undecided.findings = vec![finding(
        "two-wait",
        Standing::Undecided,
        "two-wait never occurred",
    )];
    let remark = Remark {
        about: "coverage-of-redis".to_owned(),
        text: "nothing ever came through two-wait".to_owned(),
    };
    let cases = vec![undecided, failed("zk-no-recheck", two_inside())];
    let document = read(&sarif(&[scenario(cases)], &[remark], 1, "0.1.0"));
    let run = &document["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    for invariant in INVARIANTS {
        let rule = rules.iter().find(|rule| rule["id"] == invariant.name);
        let help = rule.and_then(|rule| rule["help"]["text"].as_str());
        assert!(help.is_some_and(|help| help.contains("picklock explain")));
    }
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 3);
    for result in results {
        let place = result["ruleIndex"].as_u64().expect("a place") as usize;
        assert_eq!(rules[place]["id"], result["ruleId"]);
        // The format wants no level of what is no failure.
        let is_failure = result["kind"] == "fail";
        assert_eq!(is_failure, result["level"] != "none", "{result}");
    }
    assert_eq!(results[0]["kind"], "open");
}

#[test]
fn what_holds_and_what_was_to_be_violated_is_no_result() {
    let cases = vec![
        case("zk-hardened", Standing::Holds),
        case("zk-no-recheck", Standing::AsExpected),
    ];
    let document = read(&sarif(&[scenario(cases)], &[], 0, "0.1.0"));
    assert_eq!(document["runs"][0]["results"], Value::Array(Vec::new()));
}

#[test]
fn a_path_is_a_uri_whatever_is_in_it() {
    let text = sarif(&[hostile(two_inside())], &[], 1, HOSTILE);
    let document = read(&text);
    let place = &document["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    let uri = place["artifactLocation"]["uri"]
        .as_str()
        .unwrap_or_default();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-._~/%".contains(letter);
    assert!(!uri.is_empty() && uri.chars().all(plain), "{uri}");
}
