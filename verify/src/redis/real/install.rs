//! Where the servers come from: Debian's package `redis-server`.

use std::path::{self, Path, PathBuf};

use crate::harness::error::{Result, VerifyError};
use crate::harness::process::find_program;

/// How to install what is missing.
pub const HOW: &str = "apt-get install --no-install-recommends redis-server";

/// A Redis that can be started.
#[derive(Clone, Debug)]
pub struct Installed {
    pub(super) server: PathBuf,
}

impl Installed {
    /// Looks for the server: this program, or `redis-server` where programs are.
    ///
    /// # Errors
    ///
    /// [`VerifyError::NotInstalled`], which names what is missing.
    pub fn find(program: Option<&Path>) -> Result<Self> {
        let server = match program {
            // It is started in a folder of its own.
            Some(program) => path::absolute(program).ok(),
            None => find_program("redis-server"),
        };
        let missing = program.map_or("redis-server".to_owned(), |path| path.display().to_string());
        match server.filter(|server| server.is_file()) {
            Some(server) => Ok(Self { server }),
            None => Err(VerifyError::NotInstalled {
                service: "Redis",
                missing,
            }),
        }
    }
}
