//! The files for continuous integration beside the schemas that others publish: Jenkins' `junit-10.xsd` of its xUnit
//! plugin, and OASIS' `sarif-schema-2.1.0.json`. Neither is in this tree. Two variables name the files:
//!
//! ```sh
//! PICKLOCK_JUNIT_SCHEMA=junit-10.xsd PICKLOCK_SARIF_SCHEMA=sarif-schema-2.1.0.json \
//!     cargo test --test it published_schemas -- --nocapture
//! ```
//!
//! Where one is not named, or `xmllint` is not installed (Debian's `libxml2-utils`), a line says what was skipped.

use std::env::{temp_dir, var_os};
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, id};

use serde_json::Value;

/// A scenario of which one case is as expected and one is not, with a claim that wants escaping.
const SCENARIO: &str = r#"
claim = "A <claim> with \"quotes\", an & and ]]>."

[workload]
contenders = 3

[[case]]
algorithm = "zk-hardened"

[[case]]
algorithm = "zk-read-then-write"
"#;

/// Runs it with an option that writes a file, and gives the path of that.
fn written(option: &str, name: &str) -> PathBuf {
    let folder = temp_dir().join(format!("picklock-published-{}-{name}", id()));
    fs::create_dir_all(&folder).expect("a folder");
    let scenario = folder.join("escapes.toml");
    fs::write(&scenario, SCENARIO).expect("it can be written");
    let path = folder.join(name);
    let output = Command::new(env!("CARGO_BIN_EXE_picklock"))
        .arg("run")
        .arg(&scenario)
        .args(["--seeds", "20", option])
        .arg(&path)
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    path
}

/// The file that a variable names.
fn named(variable: &str) -> Option<OsString> {
    let path = var_os(variable);
    if path.is_none() {
        println!("skipped: {variable} names no file");
    }
    path
}

#[test]
fn junit_is_what_jenkins_takes() {
    let Some(schema) = named("PICKLOCK_JUNIT_SCHEMA") else {
        return;
    };
    if Command::new("xmllint").arg("--version").output().is_err() {
        println!("skipped: xmllint is not installed (Debian: apt install libxml2-utils)");
        return;
    }
    let path = written("--junit", "results.xml");
    let lint = |path: &PathBuf| {
        Command::new("xmllint")
            .args(["--noout", "--nonet", "--schema"])
            .arg(&schema)
            .arg(path)
            .output()
            .expect("it runs")
    };
    let output = lint(&path);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = fs::read_to_string(&path).expect("it is text");
    assert!(text.contains("<failure "), "{text}");
    fs::write(&path, text.replace("<failure ", "<failure no=\"1\" ")).expect("it can be written");
    assert!(!lint(&path).status.success(), "another attribute is taken");
}

#[test]
fn sarif_is_what_its_schema_says() {
    let Some(schema) = named("PICKLOCK_SARIF_SCHEMA") else {
        return;
    };
    let json = |path: PathBuf| -> Value {
        let text = fs::read_to_string(path).expect("it is text");
        serde_json::from_str(&text).expect("it is JSON")
    };
    let mut schema = json(schema.into());
    // As they are published, these patterns have a bracket too many, which not every reader of patterns takes.
    for place in ["run", "toolComponent"] {
        let language = schema.pointer_mut(&format!("/definitions/{place}/properties/language"));
        if let Some(Value::Object(language)) = language {
            language.remove("pattern");
        }
    }
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let mut document = json(written("--sarif", "results.sarif"));
    let errors: Vec<String> = validator
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let results = &mut document["runs"][0]["results"];
    assert!(results.as_array().is_some_and(|rows| !rows.is_empty()));
    results[0]["no"] = Value::from(1);
    assert!(!validator.is_valid(&document), "another key is taken");
}
