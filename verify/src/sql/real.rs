//! Real servers, and connections to them.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use picklock_clients::sql::Dialect;

use super::wire::Wire;
use super::{mysql, postgres};
use crate::harness::clock;
use crate::harness::error::{Result, VerifyError};
use crate::harness::network::free_port;
use crate::harness::process::{Process, find_program};
use crate::harness::temporary_folder::TemporaryFolder;

/// How long a server may take to start.
const START: Duration = Duration::from_secs(60);
/// The user and group as which a server runs that refuses the superuser's.
const UNPRIVILEGED: u32 = 65_534;
/// Where Debian has PostgreSQL's programs.
const DEBIAN: &str = "/usr/lib/postgresql/15/bin";

/// The programs of a server.
#[derive(Clone, Debug)]
pub struct Installed {
    server: PathBuf,
    setup: PathBuf,
}

impl Installed {
    /// Finds them.
    ///
    /// # Errors
    ///
    /// [`VerifyError::NotInstalled`], if they are not there.
    pub fn find(dialect: Dialect) -> Result<Self> {
        let (service, server, setup) = match dialect {
            Dialect::Postgres => ("PostgreSQL 15", "postgres", "initdb"),
            Dialect::MySql => ("MariaDB", "mariadbd", "mariadb-install-db"),
        };
        let program = |name: &str| {
            let places = [Path::new(DEBIAN), Path::new("/usr/sbin")];
            let known = places.iter().map(|folder| folder.join(name));
            let found = { known }.find(|program| program.is_file());
            let found = found.or_else(|| find_program(name));
            found.ok_or_else(|| VerifyError::NotInstalled {
                service,
                missing: name.to_owned(),
            })
        };
        Ok(Self {
            server: program(server)?,
            setup: program(setup)?,
        })
    }

    /// How it is installed.
    pub const fn how(dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::Postgres => "apt-get install --no-install-recommends postgresql-15",
            Dialect::MySql => "apt-get install --no-install-recommends mariadb-server",
        }
    }
}

/// A server with a database of its own.
pub(super) struct Real {
    dialect: Dialect,
    port: u16,
    process: Process,
    _folder: TemporaryFolder,
}

/// A program, as another user if we are the superuser.
fn program(path: &Path, folder: &Path) -> Command {
    let mut command = Command::new(path);
    command.current_dir(folder);
    if fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0) {
        command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
        // If that fails, the server says so.
        let _ = chown(folder, Some(UNPRIVILEGED), Some(UNPRIVILEGED));
    }
    command
}

impl Real {
    /// Makes a database, and starts a server on it.
    pub(super) fn start(installed: &Installed, dialect: Dialect) -> Result<Self> {
        let folder = TemporaryFolder::new()?;
        let place = folder.path().join("server");
        fs::create_dir(&place).map_err(VerifyError::io("cannot make the folder of a server"))?;
        let (data, port) = (place.join("data"), free_port()?);
        let mut setup = program(&installed.setup, &place);
        let mut server = program(&installed.server, &place);
        match dialect {
            Dialect::Postgres => {
                setup
                    .args(["-A", "trust", "-U", "picklock", "-N", "-D"])
                    .arg(&data);
                let options = [
                    "fsync=off",
                    "deadlock_timeout=600s",
                    "listen_addresses=127.0.0.1",
                ];
                server
                    .arg("-D")
                    .arg(&data)
                    .args(["-p", &port.to_string(), "-k"])
                    .arg(&place);
                server.args(options.iter().flat_map(|option| ["-c", option]));
            }
            Dialect::MySql => {
                let datadir = format!("--datadir={}", data.display());
                setup.args(["--no-defaults", "--skip-test-db", &datadir]);
                let socket = format!("--socket={}", place.join("socket").display());
                let port = format!("--port={port}");
                server.args([
                    "--no-defaults",
                    "--skip-grant-tables",
                    "--skip-networking=0",
                ]);
                server.args([
                    "--bind-address=127.0.0.1",
                    "--innodb-flush-log-at-trx-commit=0",
                ]);
                server.args([&datadir, &socket, &port]);
            }
        }
        let made = setup
            .output()
            .map_err(VerifyError::io("cannot make a database"))?;
        let name = match dialect {
            Dialect::Postgres => "postgres",
            Dialect::MySql => "mariadbd",
        };
        if !made.status.success() {
            let text = String::from_utf8_lossy(&made.stderr).into_owned();
            return Err(VerifyError::NotStarted {
                server: name.to_owned(),
                why: "its database could not be made".to_owned(),
                log: text.lines().map(str::to_owned).collect(),
            });
        }
        let process = Process::start(name.to_owned(), server, place.join("log"))?;
        let mut real = Self {
            dialect,
            port,
            process,
            _folder: folder,
        };
        real.await_start()?;
        Ok(real)
    }

    fn await_start(&mut self) -> Result<()> {
        let start = clock::now();
        while let Err(error) = self.try_connect() {
            self.process.check_starting()?;
            if clock::now() - start > START {
                return Err(self.process.not_started(error.to_string()));
            }
            clock::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn try_connect(&self) -> io::Result<Box<dyn Wire>> {
        Ok(match self.dialect {
            Dialect::Postgres => Box::new(postgres::Connection::open(self.port)?),
            Dialect::MySql => Box::new(mysql::Connection::open(self.port)?),
        })
    }

    /// A new connection.
    pub(super) fn connect(&mut self) -> Result<Box<dyn Wire>> {
        let opened = self.try_connect();
        opened.map_err(VerifyError::io("cannot connect to a real server"))
    }

    /// Whether it is still there.
    pub(super) fn check_alive(&mut self) -> Result<()> {
        self.process.check_alive()
    }
}
