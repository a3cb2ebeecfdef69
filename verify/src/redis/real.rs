//! A real server on loopback: started and stopped here, in a temporary folder that goes with it.

use std::env;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Program, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock_clients::redis::{Command, Value};

use super::backend::{CONNECTIONS, Incoming, ServerBackend};
use super::resp;
use crate::harness::clock;
use crate::harness::error::{VerifyError, unless_stopped};
use crate::harness::temporary_folder::TemporaryFolder;
use crate::zookeeper::real::process::{apart, guard};

/// How to install what is missing.
pub const HOW: &str = "apt-get install --no-install-recommends redis-server";

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often one looks whether it has started.
const LOOK: Duration = Duration::from_millis(5);

/// How a replica says that it is there.
const ACK: &[u8] = b"*3\r\n$8\r\nREPLCONF\r\n$3\r\nACK\r\n$1\r\n0\r\n";

/// A Redis that can be started.
#[derive(Clone, Debug)]
pub struct Installed {
    server: PathBuf,
}

impl Installed {
    /// Looks for the server: this program, or `redis-server` where programs are.
    ///
    /// # Errors
    ///
    /// [`VerifyError::NotInstalled`], which names what is missing.
    pub fn find(program: Option<&Path>) -> Result<Self, VerifyError> {
        let path = env::var_os("PATH").unwrap_or_default();
        let server = match program {
            Some(program) => Some(program.to_owned()),
            None => env::split_paths(&path)
                .map(|folder| folder.join("redis-server"))
                .find(|program| program.is_file()),
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

/// A real server, and connections to it.
pub(super) struct Real<'a> {
    connections: [Option<BufReader<TcpStream>>; CONNECTIONS],
    /// As a replica sees it.
    replica: Option<BufReader<TcpStream>>,
    process: Process,
    stop: &'a AtomicBool,
}

/// The process. It goes with its folder when it is dropped.
pub(super) struct Process {
    child: Child,
    guard: Option<Child>,
    program: Program,
    pub(super) port: u16,
    log: PathBuf,
    folder: TemporaryFolder,
}

impl<'a> Real<'a> {
    /// Starts a server, and waits until it answers.
    pub(super) fn start(installed: &Installed, stop: &'a AtomicBool) -> Result<Self, VerifyError> {
        let process = Process::start(installed, free_port()?, &[])?;
        let mut real = Self {
            connections: [const { None }; CONNECTIONS],
            replica: None,
            process,
            stop,
        };
        real.await_start()?;
        // What has expired stays until somebody asks for it: otherwise it would depend on the moment.
        for command in ["DEBUG SET-ACTIVE-EXPIRE 0", "CLIENT ID"] {
            let command = Command::of(command.split(' '));
            if let Some(command) = command {
                real.send(0, &command)?;
                real.receive(0)?;
            }
        }
        real.connections[0] = None;
        let attached = real.attach();
        attached.map_err(VerifyError::io("cannot become a replica of redis-server"))?;
        Ok(real)
    }

    /// Becomes a replica, which throws the keys away and listens to what comes after.
    fn attach(&mut self) -> std::io::Result<()> {
        let mut stream = self.process.open()?;
        stream.get_mut().write_all(b"PSYNC ? -1\r\n")?;
        let mut line = Vec::new();
        while !line.starts_with(b"$") {
            line.clear();
            if stream.read_until(b'\n', &mut line)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        let length = String::from_utf8_lossy(&line[1..]).trim().parse();
        let mut keys = vec![0; length.unwrap_or(0)];
        stream.read_exact(&mut keys)?;
        stream.get_mut().write_all(ACK)?;
        self.replica = Some(stream);
        Ok(())
    }

    fn await_start(&mut self) -> Result<(), VerifyError> {
        let deadline = clock::now() + PATIENCE;
        loop {
            match self.process.open() {
                Ok(stream) => {
                    self.connections[0] = Some(stream);
                    return Ok(());
                }
                Err(error) if clock::now() > deadline => {
                    return Err(self.process.not_started(error.to_string()));
                }
                Err(_) => {}
            }
            if let Ok(Some(status)) = self.process.child.try_wait() {
                return Err(self.process.not_started(status.to_string()));
            }
            unless_stopped(self.stop)?;
            clock::sleep(LOOK);
        }
    }
}

/// A port on loopback that nobody listens to.
pub(super) fn free_port() -> Result<u16, VerifyError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let port = listener.and_then(|listener| listener.local_addr());
    let port = port.map_err(VerifyError::io("cannot find a free port on loopback"))?;
    Ok(port.port())
}

impl Process {
    /// Starts a server that listens to this port, with what else it is to be told.
    pub(super) fn start(
        installed: &Installed,
        port: u16,
        options: &[&str],
    ) -> Result<Self, VerifyError> {
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
    pub(super) fn start_sentinel(
        installed: &Installed,
        port: u16,
        configuration: &str,
    ) -> Result<Self, VerifyError> {
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
        prepare: impl FnOnce(&mut Program, &Path) -> Result<(), VerifyError>,
    ) -> Result<Self, VerifyError> {
        let folder = TemporaryFolder::new()?;
        let home = folder.path().join("server");
        let failed = || VerifyError::io("cannot make a folder for the server");
        fs::create_dir_all(&home).map_err(failed())?;
        let log = home.join("log");
        let file = File::create(&log).map_err(failed())?;
        let mut program = Program::new(&installed.server);
        prepare(&mut program, &home)?;
        // The times in its log are to be those of everybody.
        apart(&mut program)
            .env("TZ", "UTC")
            .current_dir(&home)
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(Stdio::null());
        let child = program
            .spawn()
            .map_err(VerifyError::io("cannot start redis-server"))?;
        let guard = guard(child.id(), &log);
        Ok(Self {
            child,
            guard,
            program,
            port,
            log,
            folder,
        })
    }

    /// Starts it again, with what is in its folder.
    pub(super) fn restart(&mut self) -> Result<(), VerifyError> {
        self.end();
        let again = self.program.spawn();
        self.child = again.map_err(VerifyError::io("cannot start redis-server again"))?;
        self.guard = guard(self.child.id(), &self.log);
        Ok(())
    }

    /// The folder that it writes to.
    pub(super) fn home(&self) -> PathBuf {
        self.folder.path().join("server")
    }

    /// What it has written into its log.
    pub(super) fn log(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }

    fn end(&mut self) {
        // The guard first: later the number of the process may be another's.
        if let Some(mut guard) = self.guard.take() {
            let _ = guard.kill();
            let _ = guard.wait();
        }
        // It may have ended by itself; then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Connects to it.
    pub(super) fn open(&self) -> std::io::Result<BufReader<TcpStream>> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(BufReader::new(stream))
    }

    /// Stops it where it is, or lets it go on; its kernel goes on in any case.
    pub(super) fn signal(&self, name: &str) -> Result<(), VerifyError> {
        let number = self.child.id().to_string();
        let sent = Program::new("kill").args([name, &number]).status();
        sent.map(|_| ())
            .map_err(VerifyError::io("cannot send a signal to redis-server"))
    }

    /// Kills it.
    pub(super) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub(super) fn not_started(&self, why: String) -> VerifyError {
        VerifyError::NotStarted {
            server: "redis-server".to_owned(),
            why,
            log: self.last_lines(),
        }
    }

    fn last_lines(&self) -> Vec<String> {
        let text = self.log();
        let lines: Vec<&str> = text.lines().collect();
        let last = &lines[lines.len().saturating_sub(20)..];
        last.iter().map(|line| (*line).to_owned()).collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

impl ServerBackend for Real<'_> {
    fn connect(&mut self, connection: usize) -> Result<(), VerifyError> {
        self.connections[connection] = None;
        let stream = self.process.open();
        let stream = stream.map_err(VerifyError::io("cannot connect to redis-server"))?;
        self.connections[connection] = Some(stream);
        Ok(())
    }

    fn send(&mut self, connection: usize, command: &Command) -> Result<(), VerifyError> {
        unless_stopped(self.stop)?;
        let Some(stream) = &mut self.connections[connection] else {
            return Ok(());
        };
        // A connection that the server has closed takes nothing; what it has sent before can still be read.
        let _ = stream.get_mut().write_all(&resp::encode(command));
        Ok(())
    }

    fn receive(&mut self, connection: usize) -> Result<Incoming, VerifyError> {
        let Some(stream) = &mut self.connections[connection] else {
            return Ok(Incoming::Closed);
        };
        let error = match resp::decode(stream) {
            Ok(value) => return Ok(Incoming::Value(value)),
            Err(error) => error,
        };
        match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                if let Ok(Some(status)) = self.process.child.try_wait() {
                    return Err(VerifyError::Died {
                        server: "redis-server".to_owned(),
                        status: status.to_string(),
                        log: self.process.last_lines(),
                    });
                }
                self.connections[connection] = None;
                Ok(Incoming::Closed)
            }
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                Ok(Incoming::Value(Value::error("nothing, for ever")))
            }
            _ => Err(VerifyError::io("cannot read an answer of redis-server")(
                error,
            )),
        }
    }

    fn streamed(&mut self, channel: &str, text: &str) -> Result<Vec<Command>, VerifyError> {
        let mut commands = Vec::new();
        let Some(stream) = &mut self.replica else {
            return Ok(commands);
        };
        // So that it is not taken for dead.
        let _ = stream.get_mut().write_all(ACK);
        loop {
            let value = resp::decode(stream);
            let value = value.map_err(VerifyError::io("cannot read what replicas are told"))?;
            let words = value.values().unwrap_or_default();
            let words = words.iter().filter_map(Value::bytes);
            let Some(command) = Command::of(words) else {
                continue;
            };
            let is_last = command.is("PUBLISH")
                && command.word(1) == Some(channel.as_bytes())
                && command.word(2) == Some(text.as_bytes());
            commands.push(command);
            if is_last {
                return Ok(commands);
            }
        }
    }
}
