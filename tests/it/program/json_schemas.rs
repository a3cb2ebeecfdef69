//! What the program writes with `--json`, in real runs, beside the schemas that it prints.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use jsonschema::Validator;
use serde_json::Value;

/// Runs the program; the exit code is told by what it writes.
fn picklock(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_picklock"))
        .args(arguments)
        .output()
        .expect("it runs");
    assert!(
        matches!(output.status.code(), Some(0 | 1 | 3)),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

fn schema(name: &str) -> Value {
    serde_json::from_str(&picklock(&["schema", name])).expect("it is JSON")
}

fn validator(name: &str) -> Validator {
    let schema = schema(name);
    assert!(jsonschema::meta::is_valid(&schema), "{name}");
    jsonschema::validator_for(&schema).expect("it is a schema")
}

/// What a command writes with `--json`, which has to be what its schema says.
fn written(name: &str, arguments: &[&str]) -> Value {
    let file = format!(
        "{name}-{}-{}.json",
        std::process::id(),
        arguments.join("_").len()
    );
    let path: PathBuf = std::env::temp_dir().join(format!("picklock-schemas-{file}"));
    let shown = path.display().to_string();
    picklock(&[arguments, &["--json", &shown]].concat());
    let text = fs::read_to_string(&path).expect("it was written");
    // It goes away with the system's other temporary files, if not here.
    let _ = fs::remove_file(&path);
    let document: Value = serde_json::from_str(&text).expect("it is JSON");
    let errors: Vec<String> = validator(name)
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{name} {arguments:?}: {errors:#?}");
    document
}

/// Whether another document of the same command would be taken as well.
fn refuses(name: &str, document: &Value) -> bool {
    !validator(name).is_valid(document)
}

#[test]
fn results_of_runs() {
    let document = written("run", &["run", "zookeeper", "--seeds", "3", "--no-shrink"]);
    let cases = document["cases"].as_array().expect("a list");
    assert!(cases.len() > 50, "{}", cases.len());
    for (key, wrong) in [
        ("standing", Value::from("fine")),
        ("seeds", Value::from(-1)),
        ("violations", Value::Null),
        ("hash", Value::from(7)),
    ] {
        let mut other = document.clone();
        other["cases"][0][key] = wrong;
        assert!(refuses("run", &other), "{key}");
    }
    let mut other = document.clone();
    other["version"] = Value::from(2);
    assert!(refuses("run", &other));
    let case = other["cases"][0].as_object_mut().expect("an object");
    case.remove("algorithm");
    other["version"] = document["version"].clone();
    assert!(refuses("run", &other));
    // A later picklock may write more.
    let mut later = document;
    later["cases"][0]["more"] = Value::from(1);
    assert!(!refuses("run", &later));
}

#[test]
fn replays_with_all_that_servers_did_and_all_messages() {
    for (scenario, case, seed) in [
        ("zookeeper/waiter-death", "zk-no-recheck", "0"),
        ("zookeeper/gc-pause", "zk-predecessor-watch-fenced", "1"),
        ("zookeeper/swarm", "zk-hardened", "7"),
        ("redis/swarm", "redis-fencing-token", "3"),
        ("redis/swarm-redlock-links", "redlock", "2"),
        ("zookeeper/dead-at-the-barrier", "zk-double-barrier", "0"),
    ] {
        let run = [
            "replay",
            scenario,
            "--case",
            case,
            "--seed",
            seed,
            "--trace",
            "--servers",
        ];
        let document = written("replay", &run);
        let events = document["history"]["events"].as_array().expect("a list");
        assert!(events.len() > 5, "{scenario}");
        assert!(
            document["trace"]
                .as_array()
                .is_some_and(|rows| rows.len() > 20),
            "{scenario}"
        );
        let mut other = document;
        other["history"]["events"][0]["what"] = Value::from("nothing-of-the-kind");
        assert!(refuses("replay", &other), "{scenario}");
    }
}

#[test]
fn why_a_run_violates_a_promise() {
    let run = [
        "why",
        "zookeeper/waiter-death",
        "--case",
        "zk-no-recheck",
        "--seed",
        "0",
    ];
    let document = written("why", &run);
    assert!(
        document["curve"]
            .as_array()
            .is_some_and(|rows| !rows.is_empty())
    );
}

#[test]
fn measurements() {
    let matrix = [
        "matrix",
        "zk-no-recheck",
        "zk-hardened",
        "--fault",
        "pause",
        "--seeds",
        "20",
    ];
    let document = written("matrix", &matrix);
    assert_eq!(document["rows"].as_array().map(Vec::len), Some(2));
    let herd = [
        "herd",
        "--algorithm",
        "zk-predecessor-watch",
        "--contenders",
        "11",
    ];
    let document = written("herd", &herd);
    assert_eq!(document["rows"].as_array().map(Vec::len), Some(1));
    written("cost", &["cost", "--algorithm", "zk-predecessor-watch"]);
    let compare = [
        "compare",
        "--algorithm",
        "zk-hardened,redlock",
        "--seeds",
        "4",
    ];
    let document = written("compare", &compare);
    assert_eq!(document["locks"].as_array().map(Vec::len), Some(2));
    let envelope = [
        "envelope",
        "--lease",
        "1s",
        "--precision",
        "0.1",
        "--pause",
        "1s,2s",
    ];
    let document = written("envelope", &envelope);
    assert_eq!(document["rows"].as_array().map(Vec::len), Some(2));
    let measured = [
        "yield",
        "zookeeper/waiter-death",
        "--case",
        "zk-no-recheck",
        "--bases",
        "2",
    ];
    let document = written("yield", &measured);
    assert!(
        document["yields"]
            .as_array()
            .is_some_and(|rows| !rows.is_empty())
    );
}

#[test]
fn every_list() {
    let validator = validator("list");
    let schema = schema("list");
    let known = schema["properties"].as_object().expect("an object");
    let mut seen = vec!["version".to_owned()];
    for what in [
        "algorithms",
        "faults",
        "invariants",
        "metrics",
        "clients",
        "sometimes",
        "distances",
        "scenarios",
    ] {
        let printed = picklock(&["list", what, "--json"]);
        let document: Value = serde_json::from_str(&printed).expect("it is JSON");
        let errors: Vec<String> = validator
            .iter_errors(&document)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{what}: {errors:#?}");
        let lists = document.as_object().expect("an object");
        for (name, rows) in lists.iter().filter(|(name, _)| *name != "version") {
            let rows = rows.as_array().expect("a list");
            assert!(!rows.is_empty(), "{name}");
            let mut other = document.clone();
            let row = other[name][0].as_object_mut().expect("an object");
            row.remove("name");
            assert!(!validator.is_valid(&other), "{name}");
            seen.push(name.clone());
        }
    }
    let seen: BTreeSet<String> = seen.into_iter().collect();
    assert_eq!(seen, known.keys().cloned().collect());
}
