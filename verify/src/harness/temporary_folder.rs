//! A temporary folder that goes when it is dropped.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::harness::error::{Result, VerifyError};

/// The number in the name of the next folder.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A temporary folder that goes when it is dropped.
#[derive(Debug)]
pub(crate) struct TemporaryFolder {
    path: PathBuf,
}

impl TemporaryFolder {
    /// A new one, where the system keeps such.
    pub(crate) fn new() -> Result<Self> {
        loop {
            // Never the same twice, so that no run takes another's folder for its own.
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("picklock-verify-{}-{number}", process::id());
            let path = env::temp_dir().join(name);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let what = format!("cannot make a temporary folder {}", path.display());
                    return Err(VerifyError::io(what)(error));
                }
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // A failure is not reported: what is left is in a folder for such things.
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_what_is_in_it() {
        let folder = TemporaryFolder::new().unwrap();
        let path = folder.path().to_owned();
        fs::write(path.join("file"), "text").unwrap();
        assert!(path.is_dir());
        drop(folder);
        assert!(!path.exists());
    }
}
