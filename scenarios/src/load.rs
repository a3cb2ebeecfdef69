//! Reads scenario files from disk.

use std::fs;
use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;
use crate::format::parse_file;
use crate::scenario::{Catalogue, Scenario};

/// Folders within folders are read down to this depth; deeper ones are taken to be a circle of
/// links.
const DEEPEST: usize = 16;

/// A scenario file: its name, and where it is.
type Found = (String, PathBuf);

/// Reads a scenario file, or every `.toml` file in a folder and the folders in it, sorted by name.
/// A scenario's name is the path of its file from the folder on, without `.toml`:
/// `zookeeper/waiter-death`. Names that begin with a dot are passed over, and so is `Cargo.toml`.
///
/// # Errors
///
/// Every mistake of every file; or that there is nothing to read.
pub fn load(path: &Path, catalogue: &Catalogue) -> Result<Vec<Scenario>, Vec<Diagnostic>> {
    let shown = path.display().to_string();
    let about = match fs::metadata(path) {
        Ok(about) => about,
        Err(error) => return Err(vec![unreadable(path, &error)]),
    };
    let mut found = Vec::new();
    let mut mistakes = Vec::new();
    if about.is_dir() {
        collect(path, "", 0, &mut found, &mut mistakes);
        found.sort();
        if found.is_empty() && mistakes.is_empty() {
            let nothing = Diagnostic::of_file(shown, "there are no scenarios in this folder")
                .with_help("expected files that end in .toml, here or in folders below");
            return Err(vec![nothing]);
        }
    } else {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        found.push((name.into_owned(), path.to_owned()));
    }
    let mut scenarios = Vec::new();
    for (name, path) in found {
        match read(&name, &path, catalogue) {
            Ok(scenario) => scenarios.push(scenario),
            Err(found) => mistakes.extend(found),
        }
    }
    if mistakes.is_empty() {
        Ok(scenarios)
    } else {
        Err(mistakes)
    }
}

/// Whether there is anything in a folder, or in the folders in it, that is read as a scenario.
pub fn has_scenarios(folder: &Path) -> bool {
    let (mut found, mut mistakes) = (Vec::new(), Vec::new());
    collect(folder, "", 0, &mut found, &mut mistakes);
    !(found.is_empty() && mistakes.is_empty())
}

fn read(name: &str, path: &Path, catalogue: &Catalogue) -> Result<Scenario, Vec<Diagnostic>> {
    let shown = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| vec![unreadable(path, &error)])?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..good]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            + 1;
        let message = format!("line {line} of this file is not UTF-8");
        vec![Diagnostic::of_file(&shown, message).with_help("scenario files are TOML in UTF-8")]
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    parse_file(name, &shown, text, catalogue)
}

/// Finds the scenario files of a folder, whose own name is `prefix`.
fn collect(
    folder: &Path,
    prefix: &str,
    depth: usize,
    found: &mut Vec<Found>,
    mistakes: &mut Vec<Diagnostic>,
) {
    if depth > DEEPEST {
        let shown = folder.display().to_string();
        let message = format!("folders lie more than {DEEPEST} deep");
        let deep = Diagnostic::of_file(shown, message);
        mistakes.push(deep.with_help("is there a link that leads back?"));
        return;
    }
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return mistakes.push(unreadable(folder, &error)),
    };
    for entry in entries {
        let path = match entry {
            Ok(entry) => entry.path(),
            Err(error) => {
                mistakes.push(unreadable(folder, &error));
                continue;
            }
        };
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.starts_with('.') || name == "Cargo.toml" {
            continue;
        }
        if path.is_dir() {
            collect(
                &path,
                &format!("{prefix}{name}/"),
                depth + 1,
                found,
                mistakes,
            );
        } else if let Some(stem) = name.strip_suffix(".toml").filter(|_| path.is_file()) {
            found.push((format!("{prefix}{stem}"), path));
        }
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Diagnostic {
    let shown = path.display().to_string();
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            Diagnostic::of_file(shown, "there is no such file or folder")
                .with_help("expected a scenario file, or a folder with scenario files")
        }
        std::io::ErrorKind::PermissionDenied => {
            Diagnostic::of_file(shown, "this may not be read: permission denied")
        }
        // The list of kinds is not ours and not closed.
        _ => Diagnostic::of_file(shown, format!("this cannot be read: {error}")),
    }
}
