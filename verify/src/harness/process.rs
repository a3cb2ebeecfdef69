//! The process of a real server: started, watched, killed, and started again.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::harness::error::{Result, VerifyError};

/// How many of the last lines of a log are shown.
const LOG_LINES: usize = 20;

/// A program of this name, where programs are.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
}

/// A server, and what is needed to start it again. It is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    program: Command,
    log: PathBuf,
    running: Option<Running>,
}

/// The server itself, and a guard that ends it if we die before we could.
#[derive(Debug)]
struct Running {
    child: Child,
    guard: Option<Child>,
}

impl Process {
    /// Starts a server, and waits for nothing. Its log lies in a folder of the server's own, which lies in a temporary
    /// folder.
    pub(crate) fn start(name: String, mut program: Command, log: PathBuf) -> Result<Self> {
        apart(&mut program).stdin(Stdio::null());
        let mut process = Self {
            name,
            program,
            log,
            running: None,
        };
        process.restart()?;
        Ok(process)
    }

    /// Starts it, with what is on its disk.
    pub(crate) fn restart(&mut self) -> Result<()> {
        self.kill();
        let open = || {
            let log = File::options().create(true).append(true).open(&self.log);
            log.map_err(VerifyError::io("cannot write the log of a server"))
        };
        self.program.stdout(open()?).stderr(open()?);
        let child = self.program.spawn();
        let child = child.map_err(|error| self.not_started(error.to_string()))?;
        let guard = guard(child.id(), &self.log);
        self.running = Some(Running { child, guard });
        Ok(())
    }

    /// Kills it.
    pub(crate) fn kill(&mut self) {
        let Some(mut running) = self.running.take() else {
            return;
        };
        // The guard first: later the number of the process may be another's.
        if let Some(mut guard) = running.guard.take() {
            let _ = guard.kill();
            let _ = guard.wait();
        }
        // It may have ended by itself; then there is nothing to kill.
        let _ = running.child.kill();
        let _ = running.child.wait();
    }

    /// Stops it where it is, or lets it go on (`-STOP`, `-CONT`); its kernel goes on in any case.
    pub(crate) fn signal(&self, name: &str) -> Result<()> {
        let Some(running) = &self.running else {
            return Ok(());
        };
        let number = running.child.id().to_string();
        let sent = Command::new("kill").args([name, &number]).status();
        sent.map(|_| ())
            .map_err(VerifyError::io("cannot send a signal to a server"))
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Whether it is as it should be: running, unless it was killed here.
    pub(crate) fn check_alive(&mut self) -> Result<()> {
        let Some(running) = &mut self.running else {
            return Ok(());
        };
        match running.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(VerifyError::Died {
                server: self.name.clone(),
                status: status.to_string(),
                log: self.last_lines(),
            }),
            Err(error) => Err(VerifyError::io("cannot look after a server")(error)),
        }
    }

    /// The same, for one that has yet to serve for the first time.
    pub(crate) fn check_starting(&mut self) -> Result<()> {
        match self.check_alive() {
            Err(VerifyError::Died { status, .. }) => Err(self.not_started(status)),
            other => other,
        }
    }

    pub(crate) fn not_started(&self, why: String) -> VerifyError {
        VerifyError::NotStarted {
            server: self.name.clone(),
            why,
            log: self.last_lines(),
        }
    }

    /// What it has written into its log.
    pub(crate) fn log(&self) -> String {
        let bytes = fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The end of that.
    pub(crate) fn last_lines(&self) -> Vec<String> {
        let text = self.log();
        let lines: Vec<&str> = text.lines().collect();
        let last = &lines[lines.len().saturating_sub(LOG_LINES)..];
        // Paths are logged as they came, with whatever is in them.
        let shown =
            |line: &&str| line.replace(|letter: char| letter.is_control() && letter != '\t', "?");
        last.iter().map(shown).collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A shell that waits until we close its input, which the system does when we die, and then kills the server and
/// removes its folder. Without a shell both stay.
fn guard(server: u32, log: &Path) -> Option<Child> {
    let folder = log.parent()?;
    apart(&mut Command::new("sh"))
        .args([
            "-c",
            "cat; kill -9 \"$1\"; rm -rf \"$2\"; rmdir \"$3\"",
            "guard",
        ])
        .arg(server.to_string())
        .arg(folder)
        .arg(folder.parent()?)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()
}

/// Ctrl-C is for us alone: we stop the others in our own way.
fn apart(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command
}
