//! Runs a program as long as it says something, and reads what that is.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::tree::SWITCH;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this code; by a signal if there is none.
    Exited(Option<i32>),
    /// It was ended, for what it had said was enough.
    Enough,
    /// It was ended, for it had said nothing for too long.
    TimedOut,
}

/// What time it is.
#[expect(
    clippy::disallowed_methods,
    reason = "no simulation: this waits for programs"
)]
pub fn now() -> Instant {
    Instant::now()
}

/// Runs a program in a folder, with this mutant, until it ends, a line is enough, or it has said nothing for so long.
///
/// # Errors
///
/// It cannot be started.
pub fn run(
    (program, folder): (&Path, &Path),
    arguments: &[&str],
    mutant: usize,
    limit: Duration,
    mut is_enough: impl FnMut(&str) -> bool,
) -> Result<End, String> {
    let said = |error: std::io::Error| format!("{}: {error}", program.display());
    let mut command = Command::new(program);
    command.args(arguments).env(SWITCH, mutant.to_string());
    // What tests write beside their source, they write into the copy.
    command.current_dir(folder).env("INSTA_UPDATE", "no");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(said)?;
    let stdout = child.stdout.take().ok_or("no pipe")?;
    let (told, lines) = channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if told.send(line).is_err() {
                    return;
                }
            }
        });
        let mut until = now() + limit;
        loop {
            match lines.recv_timeout(until.saturating_duration_since(now())) {
                Ok(line) if is_enough(&line) => return Ok(ended(&mut child, End::Enough)),
                Ok(_) => until = now() + limit,
                Err(RecvTimeoutError::Timeout) => return Ok(ended(&mut child, End::TimedOut)),
                Err(RecvTimeoutError::Disconnected) => {
                    let status = child.wait().map_err(said)?;
                    return Ok(End::Exited(status.code()));
                }
            }
        }
    })
}

/// Ends a program.
fn ended(child: &mut Child, end: End) -> End {
    // It may have ended by itself meanwhile.
    let _gone = child.kill();
    let _status = child.wait();
    end
}
