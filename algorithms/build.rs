//! Counts the lines of code of each recipe: of its own file, without comments, tests, and its row in the registry.

use std::error::Error;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=src");
    let mut files = Vec::new();
    files_below(
        &PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("src"),
        &mut files,
    )?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in files {
        let source = fs::read_to_string(file)?;
        if let Some((recipe, lines)) = measured(&source) {
            writeln!(table, "    ({recipe:?}, {lines}),")?;
        }
    }
    table.push_str("]\n");
    fs::write(
        PathBuf::from(env::var("OUT_DIR")?).join("recipe_lines.rs"),
        table,
    )?;
    Ok(())
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files_below(&path, files)?;
        } else if path.extension() == Some(OsStr::new("rs")) {
            files.push(path);
        }
    }
    Ok(())
}

/// The first recipe of a file, and its lines of code.
fn measured(source: &str) -> Option<(&str, usize)> {
    let (before, row) = source.split_once("pub const RECIPE: Recipe = Recipe {\n")?;
    let (row, after) = row.split_once("\n};\n")?;
    let (_, name) = row.split_once("name: \"")?;
    let (name, _) = name.split_once('"')?;
    let after = after.split("#[cfg(test)]").next().unwrap_or_default();
    let is_code = |line: &&str| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with("//") && !line.starts_with("use ")
    };
    let lines = before.lines().chain(after.lines());
    let lines = lines.filter(is_code).count();
    // A file that holds a row alone says how to build a variant of another recipe.
    (lines > 0).then_some((name, lines))
}
