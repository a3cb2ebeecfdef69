//! The source tree, and the places in it that break a rule.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

/// Folders that are not ours: build output, results, version control.
const NOT_OURS: &[&str] = &["target", "results", ".git"];

/// The text files of the repository, by path.
pub struct Tree {
    pub files: Vec<File>,
}

/// A file, and its path from the root of the repository.
pub struct File {
    pub path: String,
    pub text: String,
}

/// A place that breaks a rule, and what to do about it.
#[derive(Debug, PartialEq)]
pub struct Breach {
    pub path: String,
    pub line: usize,
    pub rule: String,
    pub remedy: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            rule,
            remedy,
        } = self;
        write!(f, "{path}:{line}: {rule}\n    {remedy}")
    }
}

impl Tree {
    pub fn of_repository() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files = BTreeMap::new();
        collect(root, "", &mut files);
        assert!(
            files.contains_key("Cargo.toml"),
            "no manifest in {}",
            root.display()
        );
        let files = files
            .into_iter()
            .map(|(path, text)| File { path, text })
            .collect();
        Self { files }
    }

    pub fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    /// The text of a file; empty if it is not there.
    pub fn text(&self, path: &str) -> &str {
        let file = self.files.iter().find(|file| file.path == path);
        file.map_or("", |file| &file.text)
    }

    /// The scenario files, by name: the last folder and the file, as in `zookeeper/herd`.
    pub fn scenarios(&self) -> impl Iterator<Item = (&str, &File)> {
        self.files.iter().filter_map(|file| {
            let path = file
                .path
                .strip_prefix("scenarios/")?
                .strip_suffix(".toml")?;
            let (folders, _) = path.rsplit_once('/')?;
            if folders.starts_with("src") || folders.starts_with("tests") {
                return None;
            }
            let start = folders.rfind('/').map_or(0, |slash| slash + 1);
            Some((&path[start..], file))
        })
    }
}

impl File {
    pub fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.split('.').next().unwrap_or(name)
    }

    pub fn is_test(&self) -> bool {
        let folders = self.path.starts_with("tests/") || self.path.contains("/tests/");
        folders || self.stem() == "tests" || self.stem().ends_with("_tests")
    }

    pub fn breach(
        &self,
        line: usize,
        rule: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Breach {
        Breach {
            path: self.path.clone(),
            line,
            rule: rule.into(),
            remedy: remedy.into(),
        }
    }
}

/// Reads every text file below a folder.
fn collect(folder: &Path, path: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("the repository can be read") {
        let entry = entry.expect("a folder can be read to its end");
        let name = entry
            .file_name()
            .into_string()
            .expect("file names are UTF-8");
        if NOT_OURS.contains(&name.as_str()) {
            continue;
        }
        let path = if path.is_empty() {
            name
        } else {
            format!("{path}/{name}")
        };
        let kind = entry.file_type().expect("a file has a kind");
        if kind.is_dir() {
            collect(&entry.path(), &path, files);
        } else if kind.is_file()
            && let Ok(text) = String::from_utf8(fs::read(entry.path()).expect("a file can be read"))
        {
            files.insert(path, text);
        }
    }
}
