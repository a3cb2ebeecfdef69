//! A free name for the file that keeps a run: its own, or one with a number if another file has that.

use std::path::{Path, PathBuf};

/// The file for such a text: this one, unless it has another text, which may have been edited.
pub fn free(wanted: &Path, text: &str) -> PathBuf {
    let stem = wanted.file_stem().unwrap_or_default().to_string_lossy();
    let others = (2_u32..).map(|number| wanted.with_file_name(format!("{stem}-{number}.toml")));
    let is_free = |file: &PathBuf| match std::fs::read(file) {
        Ok(there) => there == text.as_bytes(),
        Err(_) => !file.exists(),
    };
    let mut all = std::iter::once(wanted.to_owned()).chain(others);
    all.find(is_free).unwrap_or_else(|| wanted.to_owned())
}
