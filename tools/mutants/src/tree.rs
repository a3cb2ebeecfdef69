//! The copy of the tree, with all mutants in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use picklock_mutants::list::Mutant;
use picklock_mutants::rewrite::rewrite;

/// The variable of the environment that says which mutant is run, by its number; none if it is not set.
pub const SWITCH: &str = "PICKLOCK_MUTANT";

/// What every crate with a mutant has besides.
const MODULE: &str = r#"//! Which mutant is run.

use std::sync::OnceLock;

static SWITCH: OnceLock<u32> = OnceLock::new();

/// Whether it is this one.
pub(crate) fn is(number: u32) -> bool {
    let read = || std::env::var("PICKLOCK_MUTANT").ok()?.parse().ok();
    *SWITCH.get_or_init(|| read().unwrap_or(0)) == number
}
"#;

/// Copies the tree, and puts the mutants in. What has not changed since the last time stays, so that little is built.
pub fn copy(repository: &Path, to: &Path, mutants: &[(usize, &Mutant)]) -> Result<(), String> {
    let mut files = tracked(repository)?;
    let mut by_file: BTreeMap<&str, Vec<(usize, &Mutant)>> = BTreeMap::new();
    for (number, mutant) in mutants {
        by_file
            .entry(&mutant.file)
            .or_default()
            .push((*number, mutant));
    }
    let mut crates = BTreeSet::new();
    for (file, mutants) in by_file {
        let Some(bytes) = files.get(file) else {
            return Err(format!("[{}] there is no {file}", mutants[0].1.name));
        };
        let text = String::from_utf8_lossy(bytes);
        let mutated = rewrite(&text, &mutants)?;
        files.insert(file.to_owned(), mutated.into_bytes());
        crates.insert(mutants[0].1.package());
    }
    for package in crates {
        let root = format!("{package}/src/lib.rs");
        let Some(bytes) = files.get_mut(&root) else {
            return Err(format!("there is no {root}"));
        };
        bytes.extend_from_slice(b"\nmod mutant;\n");
        files.insert(format!("{package}/src/mutant.rs"), MODULE.into());
    }
    written(to, &files).map_err(|error| format!("{}: {error}", to.display()))
}

/// The files that version control knows, and new ones that it does not ignore.
fn tracked(repository: &Path) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let mut git = Command::new("git");
    git.arg("-C").arg(repository);
    git.args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let output = git.output().map_err(|error| format!("git: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("git ls-files: {}", said.trim()));
    }
    let mut files = BTreeMap::new();
    let names = output.stdout.split(|byte| *byte == 0);
    for name in names.map(String::from_utf8_lossy) {
        // What is deleted and still known is not there.
        if let Ok(bytes) = fs::read(repository.join(&*name)) {
            files.insert(name.into_owned(), bytes);
        }
    }
    Ok(files)
}

fn written(to: &Path, files: &BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let mut there = Vec::new();
    collect(to, to, &mut there)?;
    for old in there.iter().filter(|old| !files.contains_key(*old)) {
        fs::remove_file(to.join(old))?;
    }
    for (name, bytes) in files {
        let path = to.join(name);
        if fs::read(&path).is_ok_and(|old| old == *bytes) {
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, bytes)?;
    }
    Ok(())
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path: PathBuf = entry?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else if let Ok(name) = path.strip_prefix(root) {
            files.push(name.to_string_lossy().replace('\\', "/"));
        }
    }
    Ok(())
}
