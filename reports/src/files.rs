//! Files that are written whole or not at all.
//!
//! A report goes to a temporary name in the same folder and is then renamed, so that no reader ever
//! reads half of it, and a failure leaves what was there before.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use thiserror::Error;

/// A file that could not be written: where, what went wrong, and what to do about it.
#[derive(Debug, Error)]
#[error("cannot write {path}: {problem}\n  = help: {hint}", path = .path.display())]
pub struct FileError {
    /// The file that was to be written.
    pub path: PathBuf,
    /// What went wrong.
    pub problem: String,
    /// What to do about it.
    pub hint: String,
    /// The system's own error, if it was the system that refused.
    #[source]
    pub source: Option<io::Error>,
}

/// Writes a file whole: either all of it is there afterwards, or the path is as it was before.
///
/// Devices and pipes, such as `/dev/stdout`, are written to directly: renaming onto them would
/// replace them.
///
/// # Errors
/// If the folder does not exist, or the system refuses.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let target = target(path)?;
    if target.special {
        return fs::OpenOptions::new()
            .write(true)
            .open(&target.file)
            .and_then(|mut file| file.write_all(bytes))
            .map_err(|error| refused(path, error));
    }
    let temporary = temporary(&target.file);
    let written = write_new(&temporary, bytes)
        .and_then(|()| keep_permissions(&target.file, &temporary))
        .and_then(|()| fs::rename(&temporary, &target.file));
    written.map_err(|error| {
        // It may never have been made; there is nothing else to do if it cannot be removed.
        let _ = fs::remove_file(&temporary);
        refused(path, error)
    })
}

/// Writes a file that is not there yet: what is there is never replaced.
///
/// # Errors
/// If it is there, if the folder does not exist, or if the system refuses.
pub fn create_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let target = target(path)?;
    let made = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&target.file);
    match made {
        Ok(mut file) => file.write_all(bytes).map_err(|error| {
            // It is ours, and half of it is of no use.
            let _ = fs::remove_file(&target.file);
            refused(path, error)
        }),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let problem = "it is there already, and is never replaced";
            Err(wrong(path, problem, "name another file"))
        }
        Err(error) => Err(refused(path, error)),
    }
}

/// Writes behind what a file has already, which is made if it is not there: for what several commands write to in turn.
///
/// # Errors
/// If the folder does not exist, or the system refuses.
pub fn append(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let target = target(path)?;
    let mut options = fs::OpenOptions::new();
    let opened = options
        .append(true)
        .create(!target.special)
        .open(&target.file);
    opened
        .and_then(|mut file| file.write_all(bytes))
        .map_err(|error| refused(path, error))
}

/// Checks that [`write_whole`] can write this path, so that a long run does not end in an error
/// that could have been told at its start. Leaves nothing behind.
///
/// # Errors
/// As `write_whole` would give.
pub fn can_write(path: &Path) -> Result<(), FileError> {
    let target = target(path)?;
    if target.special {
        return fs::OpenOptions::new()
            .write(true)
            .open(&target.file)
            .map(|_| ())
            .map_err(|error| refused(path, error));
    }
    let probe = temporary(&target.file);
    let made = write_new(&probe, b"");
    let removed = fs::remove_file(&probe);
    made.and(removed).map_err(|error| refused(path, error))
}

/// Where the bytes go in the end.
struct Target {
    /// The file, behind any symbolic link.
    file: PathBuf,
    /// It is a device or a pipe.
    special: bool,
}

fn target(path: &Path) -> Result<Target, FileError> {
    // Elsewhere it stands for standard output, where the report for people goes.
    if path == Path::new("-") {
        let hint = "name a file, or /dev/stdout; a file of this name is ./-";
        return Err(wrong(path, "this does not name a file", hint));
    }
    if path.file_name().is_none() {
        let hint = "name a file, as in results.json";
        return Err(wrong(path, "this does not name a file", hint));
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => {
            let hint = "name a file inside it, as in results.json";
            Err(wrong(path, "this is a folder", hint))
        }
        Ok(there) if there.is_file() => Ok(Target {
            file: fs::canonicalize(path).map_err(|error| refused(path, error))?,
            special: false,
        }),
        // What is behind it may have no name: `/dev/stdout` leads to a pipe that cannot be opened by one.
        Ok(_) => Ok(Target {
            file: path.to_owned(),
            special: true,
        }),
        Err(_) if folder.is_dir() => Ok(Target {
            file: path.to_owned(),
            special: false,
        }),
        Err(_) if folder.exists() => Err(wrong(
            path,
            &format!("{} is not a folder", folder.display()),
            "choose another place",
        )),
        Err(_) => Err(wrong(
            path,
            &format!("the folder {} does not exist", folder.display()),
            &format!("make it first: mkdir -p {}", folder.display()),
        )),
    }
}

/// A name in the same folder that no other program uses: only there is a rename one step.
fn temporary(file: &Path) -> PathBuf {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let place = WRITTEN.fetch_add(1, Ordering::Relaxed);
    file.with_file_name(format!(".picklock-{}-{place}.tmp", std::process::id()))
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn keep_permissions(old: &Path, new: &Path) -> io::Result<()> {
    match fs::metadata(old) {
        Ok(there) => fs::set_permissions(new, there.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn wrong(path: &Path, problem: &str, hint: &str) -> FileError {
    FileError {
        path: path.to_owned(),
        problem: problem.to_owned(),
        hint: hint.to_owned(),
        source: None,
    }
}

fn refused(path: &Path, error: io::Error) -> FileError {
    let hint = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a folder that you may write to"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space",
        _ => "choose another place",
    };
    FileError {
        problem: error.to_string(),
        source: Some(error),
        ..wrong(path, "", hint)
    }
}
/// Where a file is, or would be, whatever it is called.
pub fn canonical_path(path: &Path) -> PathBuf {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let in_folder = || {
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    let there = path.canonicalize().ok().or_else(in_folder);
    there.unwrap_or_else(|| path.to_owned())
}
