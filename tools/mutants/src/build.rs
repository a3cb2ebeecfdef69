//! The one build that has all mutants in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The folders of the crates whose tests can notice a mutant, and of the crates that each of them stands on.
pub const PACKAGES: &[(&str, &[&str])] = &[
    ("checker", &[]),
    ("algorithms/clients", &[]),
    ("algorithms", &["algorithms/clients"]),
    ("sim/machines", &["checker"]),
    (
        "sim/services/chubby",
        &["sim/machines", "algorithms/clients", "checker"],
    ),
    (
        "sim/services/consul",
        &["sim/machines", "algorithms/clients", "checker"],
    ),
    (
        "sim/services/etcd",
        &["sim/machines", "algorithms/clients", "checker"],
    ),
    (
        "sim/services/lease_server",
        &["sim/machines", "algorithms/clients", "checker"],
    ),
    (
        "sim/services/memcached",
        &["sim/machines", "algorithms/clients", "checker"],
    ),
    (
        "sim/services/redis",
        &["sim/machines", "algorithms/clients", "checker"],
    ),
    (
        "sim/services/zookeeper",
        &["sim/machines", "algorithms/clients", "checker"],
    ),
    (
        "sim",
        &[
            "sim/services/consul",
            "sim/services/chubby",
            "sim/services/etcd",
            "sim/services/lease_server",
            "sim/services/memcached",
            "sim/services/redis",
            "sim/services/zookeeper",
            "sim/machines",
            "algorithms",
            "algorithms/clients",
            "checker",
        ],
    ),
    (
        "scenarios",
        &[
            "sim",
            "sim/services/chubby",
            "sim/services/consul",
            "sim/services/etcd",
            "sim/services/lease_server",
            "sim/services/memcached",
            "sim/services/redis",
            "sim/services/zookeeper",
            "sim/machines",
            "algorithms",
            "algorithms/clients",
            "checker",
        ],
    ),
];

/// What was built.
pub struct Built {
    /// The program, and where it is run.
    pub program: PathBuf,
    pub tree: PathBuf,
    /// The tests, in the order of the crates.
    pub tests: Vec<TestBinary>,
}

/// A program full of tests.
#[derive(Clone, Debug)]
pub struct TestBinary {
    /// The folder of its crate.
    pub package: &'static str,
    /// `unit tests`, or the name of the file of tests.
    pub name: String,
    pub path: PathBuf,
    /// Where its crate is.
    pub folder: PathBuf,
}

/// Builds the program and the tests in a tree.
///
/// # Errors
///
/// A mutant that does not compile, most likely; the compiler has said why.
pub fn build(tree: &Path, target: &Path) -> Result<Built, String> {
    let programs = cargo(
        tree,
        target,
        &["build", "--package", "picklock", "--bin", "picklock"],
    )?;
    let program = programs.into_iter().find(|built| built.name == "picklock");
    let program = program.ok_or("cargo has built no program")?;
    let mut arguments = vec!["test".to_owned(), "--no-run".to_owned(), "--lib".to_owned()];
    arguments.push("--tests".to_owned());
    for (folder, _) in PACKAGES {
        let package = format!("picklock-{}", last_name(folder).replace('_', "-"));
        arguments.extend(["--package".to_owned(), package]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut tests = Vec::new();
    for built in cargo(tree, target, &arguments)? {
        let its = |package: &&str| built.manifest.ends_with(&format!("/{package}/Cargo.toml"));
        let Some(package) = PACKAGES.iter().map(|(package, _)| *package).find(its) else {
            continue;
        };
        let is_lib = built.name == format!("picklock_{}", last_name(package));
        tests.push(TestBinary {
            package,
            name: if is_lib {
                "unit tests".to_owned()
            } else {
                built.name
            },
            path: built.executable,
            folder: tree.join(package),
        });
    }
    Ok(Built {
        program: program.executable,
        tree: tree.to_owned(),
        tests,
    })
}

/// The last name of a path: what a crate is called by.
fn last_name(folder: &str) -> &str {
    folder.rsplit('/').next().unwrap_or(folder)
}

struct Executable {
    name: String,
    manifest: String,
    executable: PathBuf,
}

fn cargo(tree: &Path, target: &Path, arguments: &[&str]) -> Result<Vec<Executable>, String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Optimised as tests are, so that one build serves program and tests; quick to build, for it is built again
    // whenever a line has changed.
    for profile in ["DEV", "TEST"] {
        cargo.env(format!("CARGO_PROFILE_{profile}_OPT_LEVEL"), "1");
        cargo.env(format!("CARGO_PROFILE_{profile}_DEBUG"), "0");
    }
    cargo
        .args(arguments)
        .arg("--message-format=json-render-diagnostics");
    cargo.arg("--target-dir").arg(target).current_dir(tree);
    cargo.stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = cargo.output().map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "the tree with its mutants does not compile\n{}",
            errors(&output)
        ));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let executables = messages.filter_map(|message| {
        Some(Executable {
            name: message["target"]["name"].as_str()?.to_owned(),
            manifest: message["manifest_path"].as_str()?.to_owned(),
            executable: message["executable"].as_str()?.into(),
        })
    });
    Ok(executables.collect())
}

/// What the compiler has said, without its warnings: a replacement leaves superfluous parentheses.
fn errors(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let is_error = |part: &&str| part.lines().any(|line| line.starts_with("error"));
    let errors = said.split("\n\n").filter(is_error);
    errors.collect::<Vec<_>>().join("\n\n")
}
