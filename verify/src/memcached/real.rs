//! A real server, and the connection to it.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command as Program;
use std::time::Duration;

use crate::harness::clock;
use crate::harness::error::{Result, VerifyError};
use crate::harness::network::{connect, free_port};
use crate::harness::process::{Process, find_program};
use crate::harness::temporary_folder::TemporaryFolder;

/// How it is installed.
pub const HOW: &str = "apt-get install --no-install-recommends memcached";

/// The user as which the superuser runs it.
const USER: &str = concat!("no", "body");
/// Threads that look at items in the background take away what is over, or hold an item when a counter is to be
/// changed in its place: when they do is their choice.
const NO_THREADS: &str = "no_lru_crawler,no_lru_maintainer";

/// How long a server may take to start, and to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The program of a server.
#[derive(Clone, Debug)]
pub struct Installed(PathBuf);

impl Installed {
    /// Finds it.
    ///
    /// # Errors
    ///
    /// [`VerifyError::NotInstalled`], if it is not there.
    pub fn find() -> Result<Self> {
        let found = find_program("memcached").ok_or_else(|| VerifyError::NotInstalled {
            service: "memcached",
            missing: "memcached".to_owned(),
        });
        Ok(Self(found?))
    }
}

/// What the clocks of a server show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clocks {
    /// Seconds since it began, and two more.
    pub uptime: u64,
    /// Seconds since the Unix epoch.
    pub unix: i64,
}

/// A server, and a connection.
pub(super) struct Real {
    process: Process,
    port: u16,
    wire: Option<BufReader<TcpStream>>,
    _folder: TemporaryFolder,
}

impl Real {
    /// Starts it.
    pub(super) fn start(installed: &Installed) -> Result<Self> {
        let (folder, port) = (TemporaryFolder::new()?, free_port()?);
        let mut program = Program::new(&installed.0);
        program.args(["-l", "127.0.0.1", "-U", "0", "-u", USER]);
        program.args(["-o", NO_THREADS, "-p"]);
        program.arg(port.to_string());
        let log = folder.path().join("log");
        let mut real = Self {
            process: Process::start("memcached".to_owned(), program, log)?,
            port,
            wire: None,
            _folder: folder,
        };
        real.await_start()?;
        Ok(real)
    }

    /// Starts it again, with nothing.
    pub(super) fn restart(&mut self) -> Result<()> {
        self.process.restart()?;
        self.await_start()
    }

    fn await_start(&mut self) -> Result<()> {
        let start = clock::now();
        loop {
            match connect(self.port, PATIENCE) {
                Ok(stream) => {
                    self.wire = Some(BufReader::new(stream));
                    return Ok(());
                }
                Err(error) => {
                    self.process.check_starting()?;
                    if clock::now() - start > PATIENCE {
                        return Err(self.process.not_started(error.to_string()));
                    }
                    clock::sleep(Duration::from_millis(10));
                }
            }
        }
    }

    /// Whether it is still there.
    pub(super) fn check_alive(&mut self) -> Result<()> {
        self.process.check_alive()
    }

    /// Sends a command, and before and behind it, in the same write, what asks for the clocks. Answers the lines of
    /// its answer, and the clocks.
    pub(super) fn ask(&mut self, command: &str) -> Result<(Vec<String>, [Clocks; 2])> {
        let asked = self.exchange(command);
        asked.map_err(VerifyError::io("cannot talk to a real server"))
    }

    fn exchange(&mut self, command: &str) -> io::Result<(Vec<String>, [Clocks; 2])> {
        let wire = self.wire.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        write!(wire.get_mut(), "stats\r\n{command}\r\nstats\r\n")?;
        let before = clocks(wire)?;
        let mut lines = vec![line(wire)?];
        while lines[0].starts_with("VALUE ") && lines.last().is_none_or(|last| last != "END") {
            lines.push(line(wire)?);
        }
        Ok((lines, [before, clocks(wire)?]))
    }
}

fn line(wire: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if wire.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    line.truncate(line.trim_end_matches(['\r', '\n']).len());
    Ok(line)
}

fn clocks(wire: &mut impl BufRead) -> io::Result<Clocks> {
    let (mut uptime, mut unix) = (None, None);
    loop {
        let line = line(wire)?;
        let mut words = line.split(' ');
        match (words.next(), words.next(), words.next()) {
            (Some("STAT"), Some("uptime"), Some(value)) => uptime = value.parse().ok(),
            (Some("STAT"), Some("time"), Some(value)) => unix = value.parse().ok(),
            (Some("STAT"), ..) => {}
            (Some("END"), None, None) => break,
            _ => return Err(io::Error::other(format!("no line of stats: {line}"))),
        }
    }
    let clocks = uptime.zip(unix);
    let clocks = clocks.map(|(uptime, unix)| Clocks { uptime, unix });
    clocks.ok_or_else(|| io::Error::other("stats without uptime and time"))
}
