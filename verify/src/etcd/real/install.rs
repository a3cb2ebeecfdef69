//! Where members come from: Debian's package `etcd-server`.

use std::path::{Path, PathBuf};
use std::process::Command;

use picklock_etcd::Version;

use crate::harness::error::{Result, VerifyError};
use crate::harness::process::find_program;

/// How to install what is missing.
pub const HOW: &str = "apt-get install --no-install-recommends etcd-server";

/// An etcd that can be started.
#[derive(Clone, Debug)]
pub struct Installed {
    pub(super) program: PathBuf,
    /// The version that it prints.
    pub version: Version,
}

impl Installed {
    /// Looks for the server: this program, or `etcd` where programs are.
    ///
    /// # Errors
    ///
    /// [`VerifyError::NotInstalled`], which names what is missing.
    pub fn find(program: Option<&Path>) -> Result<Self> {
        let found = program.map_or_else(|| find_program("etcd"), |path| Some(path.to_owned()));
        let found = found.and_then(|program| {
            let version = version(&program)?;
            Some(Self { program, version })
        });
        let missing = program.map_or("etcd".to_owned(), |path| path.display().to_string());
        found.ok_or(VerifyError::NotInstalled {
            service: "etcd",
            missing,
        })
    }
}

/// The version that a program says it has.
fn version(program: &Path) -> Option<Version> {
    let said = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&said.stdout);
    let number = text.lines().next()?.strip_prefix("etcd Version: ")?;
    let mut parts = number.trim().splitn(3, '.').map(str::parse);
    let mut part = || parts.next()?.ok();
    Some(Version::of(part()?, part()?, part()?))
}
