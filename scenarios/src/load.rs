//! Reads scenario files from disk.

use std::fs;
use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;
use crate::format::parse_file;
use crate::scenario::{Catalogue, Scenario};

/// Folders within folders are read down to this depth; deeper ones are taken to be a circle of
/// links.
const DEEPEST: usize = 16;

/// So many files and folders are looked at, those in folders within folders, too. Where there are more, a folder was
/// named that is not one of scenarios.
const MOST: usize = 50_000;

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
    let Walk {
        found,
        mut mistakes,
        ..
    } = if about.is_dir() {
        let walk = Walk::through(path, MOST);
        if walk.is_empty() {
            let nothing = Diagnostic::of_file(shown, "there are no scenarios in this folder")
                .with_help("expected files that end in .toml, here or in folders below");
            return Err(vec![nothing]);
        }
        walk
    } else {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Walk {
            found: vec![(name.into_owned(), path.to_owned())],
            ..Walk::default()
        }
    };
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
    !Walk::through(folder, MOST).is_empty()
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

/// A walk through a folder and the folders in it.
#[derive(Default)]
struct Walk {
    /// The scenario files: the name of each, and where it is.
    found: Vec<(String, PathBuf)>,
    mistakes: Vec<Diagnostic>,
    /// So many more files and folders may be looked at.
    left: usize,
}

impl Walk {
    /// Finds the scenario files of a folder, sorted by name, unless it has more files and folders than so many.
    fn through(folder: &Path, most: usize) -> Self {
        let mut walk = Self {
            left: most,
            ..Self::default()
        };
        if walk.collect(folder, "", 0).is_none() {
            let shown = folder.display().to_string();
            let message = format!("more than {most} files and folders lie in this folder");
            let help = "name the folder that has the scenario files, or some of the files";
            walk.found.clear();
            walk.mistakes = vec![Diagnostic::of_file(shown, message).with_help(help)];
        }
        walk.found.sort();
        walk
    }

    fn is_empty(&self) -> bool {
        self.found.is_empty() && self.mistakes.is_empty()
    }

    /// Finds the scenario files of a folder, whose own name is `prefix`. `None`, if that are too many to look at.
    fn collect(&mut self, folder: &Path, prefix: &str, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            let shown = folder.display().to_string();
            let message = format!("folders lie more than {DEEPEST} deep");
            let deep = Diagnostic::of_file(shown, message);
            self.mistakes
                .push(deep.with_help("is there a link that leads back?"));
            return Some(());
        }
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                self.mistakes.push(unreadable(folder, &error));
                return Some(());
            }
        };
        for entry in entries {
            self.left = self.left.checked_sub(1)?;
            let path = match entry {
                Ok(entry) => entry.path(),
                Err(error) => {
                    self.mistakes.push(unreadable(folder, &error));
                    continue;
                }
            };
            let name = path.file_name().unwrap_or_default();
            let name = name.to_string_lossy().into_owned();
            if name.starts_with('.') || name == "Cargo.toml" {
                continue;
            }
            if path.is_dir() {
                self.collect(&path, &format!("{prefix}{name}/"), depth + 1)?;
            } else if let Some(stem) = name.strip_suffix(".toml").filter(|_| path.is_file()) {
                let name = format!("{prefix}{stem}");
                self.found.push((name, path));
            }
        }
        Some(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_folder_with_too_much_in_it_no_more_is_looked_at() {
        let folder = std::env::temp_dir().join(format!("picklock-load-{}", std::process::id()));
        for index in 0..10 {
            let inner = folder.join(format!("{index}"));
            fs::create_dir_all(&inner).unwrap();
            fs::write(inner.join("a.toml"), "").unwrap();
        }
        let whole = Walk::through(&folder, 20);
        assert_eq!((whole.found.len(), whole.left), (10, 0));
        let cut = Walk::through(&folder, 19);
        let told: Vec<&str> = cut
            .mistakes
            .iter()
            .map(|mistake| mistake.message.as_str())
            .collect();
        assert_eq!(told, ["more than 19 files and folders lie in this folder"]);
        assert!(cut.found.is_empty() && !cut.is_empty());
        fs::remove_dir_all(&folder).unwrap();
    }
}
