//! Makes the index of the library of scenarios: the name and the text of each file of `library`.

use std::error::Error;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=library");
    let library = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("library");
    let mut scenarios = Vec::new();
    for folder in fs::read_dir(&library)? {
        let folder = folder?.path();
        if !folder.is_dir() {
            continue;
        }
        for file in fs::read_dir(&folder)? {
            let file = file?.path();
            if file.extension() == Some(OsStr::new("toml")) {
                scenarios.push((name(&folder, &file)?, file));
            }
        }
    }
    scenarios.sort();
    let mut index = String::from("&[\n");
    for (name, file) in scenarios {
        writeln!(index, "    ({name:?}, include_str!({file:?})),")?;
    }
    index.push_str("]\n");
    fs::write(
        PathBuf::from(env::var("OUT_DIR")?).join("library.rs"),
        index,
    )?;
    Ok(())
}

/// `zookeeper/herd`, whatever separates folders here.
fn name(folder: &Path, file: &Path) -> Result<String, String> {
    let word = |part: Option<&OsStr>| part.and_then(OsStr::to_str).map(str::to_owned);
    let name = word(folder.file_name()).zip(word(file.file_stem()));
    let (service, name) = name.ok_or_else(|| format!("the path {} is no text", file.display()))?;
    Ok(format!("{service}/{name}"))
}
