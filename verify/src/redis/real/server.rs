//! The process of a server or a Sentinel, in a temporary folder that goes with it, and connections to it.

use std::fs;
use std::io::{self, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command as Program;
use std::time::Duration;

use picklock_clients::redis::{Command, Value};

use super::Installed;
use crate::harness::error::{Result, VerifyError};
use crate::harness::network::connect;
use crate::harness::process::Process;
use crate::harness::temporary_folder::TemporaryFolder;
use crate::redis::resp;

/// A client's connection to a server.
pub(crate) struct Connection(pub(crate) BufReader<TcpStream>);

impl Connection {
    /// Connects to a port on loopback. Whatever is done over it may take this long.
    pub(crate) fn open(port: u16, timeout: Duration) -> io::Result<Self> {
        connect(port, timeout).map(|stream| Self(BufReader::new(stream)))
    }

    /// The socket below it.
    pub(crate) fn socket(&self) -> &TcpStream {
        self.0.get_ref()
    }

    /// Sends some bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.get_mut().write_all(bytes)
    }

    /// Sends a command.
    pub(crate) fn send(&mut self, command: &Command) -> io::Result<()> {
        self.write(&resp::encode(command))
    }

    /// Reads an answer or a message.
    pub(crate) fn receive(&mut self) -> io::Result<Value> {
        resp::decode(&mut self.0)
    }

    /// Sends a command, and reads its answer.
    pub(crate) fn ask(&mut self, command: &Command) -> io::Result<Value> {
        self.send(command)?;
        self.receive()
    }
}

/// A server or a Sentinel. It goes with its folder when it is dropped.
pub(crate) struct RealServer {
    // Before the folder, so that it is gone when that goes.
    pub(crate) process: Process,
    pub(crate) port: u16,
    folder: TemporaryFolder,
}

impl RealServer {
    /// Starts a server that listens to this port, with what else it is to be told.
    pub(crate) fn start(installed: &Installed, port: u16, options: &[&str]) -> Result<Self> {
        Self::spawn(installed, port, |program, home| {
            program
                .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
                .args(["--save", "", "--appendonly", "no", "--daemonize", "no"])
                .args(["--repl-ping-replica-period", "3600"])
                .args(["--enable-debug-command", "local", "--dir"])
                .arg(home)
                .args(options);
            Ok(())
        })
    }

    /// Starts a Sentinel that listens to this port, with what it is to watch.
    pub(crate) fn start_sentinel(
        installed: &Installed,
        port: u16,
        configuration: &str,
    ) -> Result<Self> {
        Self::spawn(installed, port, |program, home| {
            let file = home.join("sentinel.conf");
            let written = fs::write(&file, configuration);
            written.map_err(VerifyError::io("cannot write the Sentinel's configuration"))?;
            program
                .arg(file)
                .args(["--sentinel", "--port", &port.to_string()])
                .args(["--bind", "127.0.0.1", "--daemonize", "no"]);
            Ok(())
        })
    }

    fn spawn(
        installed: &Installed,
        port: u16,
        prepare: impl FnOnce(&mut Program, &Path) -> Result<()>,
    ) -> Result<Self> {
        let folder = TemporaryFolder::new()?;
        let home = folder.path().join("server");
        let made = fs::create_dir_all(&home);
        made.map_err(VerifyError::io("cannot make a folder for the server"))?;
        let mut program = Program::new(&installed.server);
        prepare(&mut program, &home)?;
        // The times in all logs are to be of one time zone.
        program.env("TZ", "UTC").current_dir(&home);
        let process = Process::start("redis-server".to_owned(), program, home.join("log"))?;
        Ok(Self {
            process,
            port,
            folder,
        })
    }

    /// The folder that it writes to.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("server")
    }
}
