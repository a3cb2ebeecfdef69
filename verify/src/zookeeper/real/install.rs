//! Where the servers come from: Debian's package `zookeeper`.

use std::path::{Path, PathBuf};

use crate::harness::error::{Result, VerifyError};
use crate::harness::process::find_program;

/// Where Debian puts the archives of Java programs.
pub const JARS: &str = "/usr/share/java";

/// How to install what is missing.
pub const HOW: &str = "apt-get install --no-install-recommends zookeeper default-jre-headless";

/// The archives without which a server does not run.
const NEEDED: [&str; 3] = ["zookeeper.jar", "slf4j-log4j12.jar", "log4j-1.2.jar"];

/// A ZooKeeper that can be started.
#[derive(Clone, Debug)]
pub struct Installed {
    pub(super) java: PathBuf,
    pub(super) jars: Vec<PathBuf>,
}

impl Installed {
    /// Looks for Java, and for the archives in this folder.
    ///
    /// # Errors
    ///
    /// [`VerifyError::NotInstalled`], which names what is missing.
    pub fn find(folder: &Path) -> Result<Self> {
        let java = find_program("java").ok_or_else(|| missing("java"))?;
        let jars: Vec<PathBuf> = NEEDED.iter().map(|name| folder.join(name)).collect();
        match jars.iter().find(|jar| !jar.is_file()) {
            Some(absent) => Err(missing(&absent.display().to_string())),
            None => Ok(Self { java, jars }),
        }
    }
}

fn missing(what: &str) -> VerifyError {
    VerifyError::NotInstalled {
        service: "ZooKeeper",
        missing: what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_folder_has_no_server() {
        let found = Installed::find(Path::new("no-such-folder"));
        assert!(matches!(found, Err(VerifyError::NotInstalled { .. })));
    }
}
