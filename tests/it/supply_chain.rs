//! What is built in is what `deny.toml` allows: sources, bans, versions, and licences, from `Cargo.lock` and from the
//! crates that lie on this machine. It needs neither a network nor `cargo deny`.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::PathBuf;

use toml::de::{DeTable, DeValue};

const DENY: &str = include_str!("../../deny.toml");
const LOCK: &str = include_str!("../../Cargo.lock");

/// A crate of the lock file.
struct Package {
    name: String,
    version: String,
    /// Where it comes from; none if it is ours.
    source: Option<String>,
}

fn text<'a>(table: &'a DeTable<'_>, key: &str) -> Option<&'a str> {
    match table.get(key)?.get_ref() {
        DeValue::String(text) => Some(text),
        _ => None,
    }
}

/// The packages of a lock file. What stands behind a `+` of a version tells nothing of what it is compatible with.
fn packages(lock: &str) -> Vec<Package> {
    let table = DeTable::parse(lock)
        .expect("Cargo.lock is TOML")
        .into_inner();
    let DeValue::Array(packages) = table["package"].get_ref() else {
        panic!("Cargo.lock lists packages");
    };
    let tables = packages.iter().map(|package| match package.get_ref() {
        DeValue::Table(package) => package,
        other => panic!("no package: {other:?}"),
    });
    tables
        .map(|package| {
            let version = text(package, "version").expect("a package has a version");
            let version = version.split('+').next().unwrap_or(version);
            Package {
                name: text(package, "name")
                    .expect("a package has a name")
                    .to_owned(),
                version: version.to_owned(),
                source: text(package, "source").map(str::to_owned),
            }
        })
        .collect()
}

/// A list of strings of `deny.toml`.
fn listed(section: &str, key: &str) -> BTreeSet<String> {
    let table = DeTable::parse(DENY)
        .expect("deny.toml is TOML")
        .into_inner();
    let DeValue::Table(section) = table[section].get_ref() else {
        panic!("deny.toml has a section {section}");
    };
    let DeValue::Array(items) = section[key].get_ref() else {
        panic!("deny.toml has a list {key}");
    };
    let names = items.iter().map(|item| match item.get_ref() {
        DeValue::String(name) => name.to_string(),
        other => panic!("no string in {key}: {other:?}"),
    });
    names.collect()
}

/// Packages that come from elsewhere than `deny.toml` allows.
fn strangers(lock: &str) -> Vec<String> {
    let allowed = listed("sources", "allow-registry");
    let from = |source: &str| {
        let registry = source.strip_prefix("registry+");
        registry.is_some_and(|registry| allowed.contains(registry))
    };
    let strange = |package: &Package| {
        package
            .source
            .as_deref()
            .is_some_and(|source| !from(source))
    };
    let found = packages(lock).into_iter().filter(strange);
    found.map(|package| package.name).collect()
}

/// Packages that `deny.toml` bans.
fn banned(lock: &str) -> Vec<String> {
    let banned = listed("bans", "deny");
    let names = packages(lock).into_iter().map(|package| package.name);
    names.filter(|name| banned.contains(name)).collect()
}

/// Versions beside the newest of their package.
fn older(lock: &str) -> BTreeSet<String> {
    let number = |version: &str| -> Vec<u64> {
        let parts = version.split(['.', '-']);
        parts.map(|part| part.parse().unwrap_or(0)).collect()
    };
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Package { name, version, .. } in packages(lock) {
        versions.entry(name).or_default().push(version);
    }
    let mut older = BTreeSet::new();
    for (name, mut versions) in versions {
        versions.sort_by_key(|version| number(version));
        versions.pop();
        older.extend(
            versions
                .into_iter()
                .map(|version| format!("{name}@{version}")),
        );
    }
    older
}

/// Whether licences that are allowed are enough for an expression such as `(MIT OR Apache-2.0) AND Unicode-3.0`.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut words = words.as_slice();
    any(&mut words, allowed) && words.is_empty()
}

fn any(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut is = all(words, allowed);
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        is |= all(words, allowed);
    }
    is
}

fn all(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut is = one(words, allowed);
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        is &= one(words, allowed);
    }
    is
}

fn one(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let is = any(words, allowed);
            *words = words.strip_prefix(&[")"]).unwrap_or(&[]);
            is
        }
        [license, "WITH", exception, rest @ ..] => {
            *words = rest;
            allowed.contains(&format!("{license} WITH {exception}"))
        }
        [license, rest @ ..] => {
            *words = rest;
            allowed.contains(*license)
        }
        [] => false,
    }
}

/// Where cargo has unpacked crates.
fn unpacked() -> Vec<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let sources = home.and_then(|home| fs::read_dir(home.join("registry/src")).ok());
    let folders = sources.into_iter().flatten().flatten();
    folders.map(|entry| entry.path()).collect()
}

#[test]
fn every_crate_comes_from_crates_io() {
    assert_eq!(strangers(LOCK), Vec::<String>::new());
    let stranger =
        "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"git+https://a.example/a#1\"\n";
    assert_eq!(strangers(stranger), ["a"], "it bites");
}

#[test]
fn no_crate_is_built_in_that_is_banned() {
    assert_eq!(banned(LOCK), Vec::<String>::new());
    let tls = "[[package]]\nname = \"openssl-sys\"\nversion = \"0.9.0\"\n";
    assert_eq!(banned(tls), ["openssl-sys"], "it bites");
}

#[test]
fn of_each_crate_there_is_one_version_or_deny_toml_names_the_older_ones() {
    assert_eq!(older(LOCK), listed("bans", "skip"));
    let two = "[[package]]\nname = \"a\"\nversion = \"0.9.1\"\n[[package]]\nname = \"a\"\nversion = \"0.10.0+x\"\n";
    assert_eq!(
        older(two),
        BTreeSet::from(["a@0.9.1".to_owned()]),
        "it bites"
    );
}

#[test]
fn every_crate_on_this_machine_has_a_licence_that_is_allowed() {
    let allowed = listed("licenses", "allow");
    let mut read = 0;
    for Package { name, version, .. } in packages(LOCK) {
        let manifests = unpacked().into_iter().flat_map(|folder| {
            let is_it = |entry: &fs::DirEntry| {
                let folder = entry.file_name().to_string_lossy().into_owned();
                let folder = folder.split('+').next().unwrap_or_default().to_owned();
                folder == format!("{name}-{version}")
            };
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries
                .filter(is_it)
                .map(|entry| entry.path().join("Cargo.toml"))
        });
        for manifest in manifests {
            let manifest = fs::read_to_string(manifest).expect("a crate has a manifest");
            let table = DeTable::parse(&manifest)
                .expect("a manifest is TOML")
                .into_inner();
            let DeValue::Table(package) = table["package"].get_ref() else {
                panic!("{name} is a package");
            };
            let license = text(package, "license").unwrap_or_default();
            assert!(
                is_allowed(license, &allowed),
                "{name} {version}: {license:?}"
            );
            read += 1;
        }
    }
    assert!(read > 0 || unpacked().is_empty(), "no manifest was found");
}

#[test]
fn licences_are_weighed_as_their_expression_says() {
    let allowed = BTreeSet::from(["MIT".to_owned(), "Unicode-3.0".to_owned()]);
    for good in [
        "MIT",
        "GPL-3.0/MIT",
        "GPL-3.0 OR MIT",
        "(GPL-3.0 OR MIT) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception OR MIT",
    ] {
        assert!(is_allowed(good, &allowed), "{good}");
    }
    for bad in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "(MIT OR Apache-2.0) AND GPL-3.0",
        "MIT WITH some-exception",
    ] {
        assert!(!is_allowed(bad, &allowed), "{bad}");
    }
}
