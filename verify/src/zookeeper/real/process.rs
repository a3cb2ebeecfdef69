//! The process of a server.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::install::Installed;
use super::{READ_ONLY, RealSettings};
use crate::harness::error::VerifyError;

/// How many of the last lines of a log are shown.
const LOG_LINES: usize = 20;

const LOGGING: &str = "\
log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{ABSOLUTE} %-5p %m%n
";

/// Ports on loopback that nobody uses.
#[derive(Clone, Debug)]
pub(super) struct Ports {
    client: Vec<u16>,
    quorum: Vec<u16>,
    election: Vec<u16>,
}

impl Ports {
    /// Three for each server.
    pub(super) fn free(servers: usize) -> Result<Self, VerifyError> {
        let failed = || VerifyError::io("cannot find a free port on loopback");
        // All at once, so that none is given twice.
        let listeners: Vec<TcpListener> = (0..3 * servers)
            .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed()))
            .collect::<Result<_, _>>()?;
        let ports: Vec<u16> = listeners
            .iter()
            .map(|listener| listener.local_addr().map(|at| at.port()).map_err(failed()))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            client: ports[..servers].to_vec(),
            quorum: ports[servers..2 * servers].to_vec(),
            election: ports[2 * servers..].to_vec(),
        })
    }
}

/// A server, and what is needed to start it again.
#[derive(Debug)]
pub(super) struct Process {
    name: String,
    port: u16,
    log: PathBuf,
    java: PathBuf,
    arguments: Vec<String>,
    running: Option<Running>,
}

/// The server itself, and a guard that ends it if we die before we could.
#[derive(Debug)]
struct Running {
    child: Child,
    guard: Option<Child>,
}

impl Process {
    /// Writes the configuration and starts the server. It waits for nothing.
    pub(super) fn start(
        installed: &Installed,
        settings: &RealSettings,
        folder: &Path,
        ports: &Ports,
        number: usize,
    ) -> Result<Self, VerifyError> {
        let name = format!("server-{}", number + 1);
        let folder = folder.join(&name);
        let data = folder.join("data");
        write(&data.join("myid"), &format!("{}\n", number + 1))?;
        write(&folder.join("log4j.properties"), LOGGING)?;
        let config = folder.join("zoo.cfg");
        write(&config, &configuration(settings, ports, &data, number))?;
        let mut path = vec![folder.display().to_string()];
        path.extend(installed.jars.iter().map(|jar| jar.display().to_string()));
        let mut arguments: Vec<String> = [
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Djava.net.preferIPv4Stack=true",
            "-Dzookeeper.jmx.log4j.disable=true",
            "-Dzookeeper.extendedTypesEnabled=true",
            "-Dzookeeper.enforceQuota=true",
            "-cp",
        ]
        .map(str::to_owned)
        .into();
        if settings.read_only {
            arguments.insert(0, "-Dreadonlymode.enabled=true".to_owned());
        }
        let interval = settings.reap_interval.as_millis();
        arguments.insert(0, format!("-Dznode.container.checkIntervalMs={interval}"));
        arguments.push(path.join(":"));
        arguments.push("org.apache.zookeeper.server.quorum.QuorumPeerMain".to_owned());
        arguments.push(config.display().to_string());
        let mut process = Self {
            name,
            port: ports.client[number],
            log: folder.join("log"),
            java: installed.java.clone(),
            arguments,
            running: None,
        };
        process.restart()?;
        Ok(process)
    }

    /// Starts it, with what is on its disk.
    pub(super) fn restart(&mut self) -> Result<(), VerifyError> {
        self.kill();
        let open = || {
            let log = File::options().create(true).append(true).open(&self.log);
            log.map_err(VerifyError::io("cannot write the log of a server"))
        };
        let child = apart(&mut Command::new(&self.java))
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(open()?)
            .stderr(open()?)
            .spawn()
            .map_err(|error| self.not_started(error.to_string()))?;
        let guard = guard(child.id(), &self.log);
        self.running = Some(Running { child, guard });
        Ok(())
    }

    /// Kills it.
    pub(super) fn kill(&mut self) {
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

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn client_port(&self) -> u16 {
        self.port
    }

    /// What it says it does in the ensemble, if it serves clients.
    pub(super) fn mode(&mut self) -> Result<Option<String>, VerifyError> {
        if self.running.is_none() {
            return Ok(None);
        }
        self.check_alive()?;
        let answer = self.four_letters("srvr").unwrap_or_default();
        let mode = answer.lines().find_map(|line| line.strip_prefix("Mode: "));
        Ok(mode.map(str::to_owned))
    }

    /// Whether it tells clients who look for a server that takes writes to look elsewhere.
    pub(super) fn is_read_only(&mut self) -> Result<bool, VerifyError> {
        self.check_alive()?;
        let answer = self.four_letters("isro").unwrap_or_default();
        Ok(answer.trim() == "ro" && self.mode()?.as_deref() == Some(READ_ONLY))
    }

    /// Watches that have fired here so far.
    pub(super) fn watches_fired(&mut self) -> Result<u64, VerifyError> {
        self.check_alive()?;
        let answer = self
            .four_letters("mntr")
            .map_err(VerifyError::io("a server does not say what it has counted"))?;
        let counts = answer.lines().filter_map(|line| {
            let (key, value) = line.split_once('\t')?;
            let kind = key.strip_prefix("zk_sum_node_")?;
            let value = value.split('.').next()?;
            kind.ends_with("_watch_count")
                .then(|| value.parse::<u64>().ok())?
        });
        Ok(counts.sum())
    }

    /// Whether it serves clients, after it was started for the first time.
    pub(super) fn serves_first(&mut self) -> Result<bool, VerifyError> {
        match self.mode() {
            Ok(mode) => Ok(mode.is_some()),
            Err(VerifyError::Died { status, .. }) => Err(self.not_started(status)),
            Err(other) => Err(other),
        }
    }

    /// The answer to one of its commands.
    fn four_letters(&self, command: &str) -> std::io::Result<String> {
        let timeout = Duration::from_secs(2);
        let mut stream = TcpStream::connect_timeout(&loopback(self.port), timeout)?;
        stream.set_read_timeout(Some(timeout))?;
        stream.write_all(command.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    /// Whether it is as it should be: running, unless it was killed here.
    pub(super) fn check_alive(&mut self) -> Result<(), VerifyError> {
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

    pub(super) fn not_started(&self, why: String) -> VerifyError {
        VerifyError::NotStarted {
            server: self.name.clone(),
            why,
            log: self.last_lines(),
        }
    }

    pub(super) fn late(&self, waited: Duration, asked: &str) -> VerifyError {
        VerifyError::Late {
            server: self.name.clone(),
            waited,
            asked: asked.to_owned(),
            log: self.last_lines(),
        }
    }

    fn last_lines(&self) -> Vec<String> {
        let bytes = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
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
/// removes its folder. Without a shell nobody does.
pub(crate) fn guard(server: u32, log: &Path) -> Option<Child> {
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
pub(crate) fn apart(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command
}

pub(super) fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

fn write(path: &Path, text: &str) -> Result<(), VerifyError> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .map_err(VerifyError::io(format!("cannot write {}", path.display())))
}

fn configuration(settings: &RealSettings, ports: &Ports, data: &Path, number: usize) -> String {
    let (least, most) = settings.timeouts;
    let mut text = format!(
        "tickTime={}\nminSessionTimeout={}\nmaxSessionTimeout={}\ninitLimit={}\nsyncLimit={}\n\
         maxClientCnxns=0\nadmin.enableServer=false\n4lw.commands.whitelist=*\nforceSync=no\npreAllocSize=1024\n\
         dataDir={}\nclientPortAddress=127.0.0.1\nclientPort={}\n",
        settings.tick.as_millis(),
        least.as_millis(),
        most.as_millis(),
        settings.init_limit,
        settings.sync_limit,
        data.display(),
        ports.client[number],
    );
    if settings.read_only {
        // Without these nobody can begin a session at a server without a leader.
        text.push_str("localSessionsEnabled=true\nlocalSessionsUpgradingEnabled=true\n");
    }
    let voters = usize::from(settings.servers);
    if voters == 1 {
        text.push_str("standaloneEnabled=true\n");
    } else {
        text.push_str("standaloneEnabled=false\n");
        for (server, (quorum, election)) in ports.quorum.iter().zip(&ports.election).enumerate() {
            let part = if server < voters { "" } else { ":observer" };
            let line = format!(
                "server.{}=127.0.0.1:{quorum}:{election}{part}\n",
                server + 1
            );
            text.push_str(&line);
        }
        if number >= voters {
            text.push_str("peerType=observer\n");
        }
    }
    text
}
