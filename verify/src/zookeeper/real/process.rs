//! A real server: its configuration, its process, and what it says of itself.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use picklock_zookeeper::state::QuorumPeerConfig;

use super::READ_ONLY;
use super::install::Installed;
use crate::harness::error::{Result, VerifyError};
use crate::harness::network::{connect, free_ports};
use crate::harness::process::Process;

const LOGGING: &str = "\
log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{ABSOLUTE} %-5p %m%n
";

/// Free ports on loopback.
#[derive(Clone, Debug)]
pub(super) struct Ports {
    client: Vec<u16>,
    quorum: Vec<u16>,
    election: Vec<u16>,
}

impl Ports {
    /// Three for each server.
    pub(super) fn free(servers: usize) -> Result<Self> {
        let mut client = free_ports(3 * servers)?;
        let mut quorum = client.split_off(servers);
        let election = quorum.split_off(servers);
        Ok(Self {
            client,
            quorum,
            election,
        })
    }
}

/// A server.
#[derive(Debug)]
pub(super) struct RealServer {
    pub(super) process: Process,
    /// Where clients connect to it.
    pub(super) port: u16,
}

impl RealServer {
    /// Writes the configuration and starts the server. It waits for nothing.
    pub(super) fn start(
        installed: &Installed,
        settings: &QuorumPeerConfig,
        folder: &Path,
        ports: &Ports,
        number: usize,
    ) -> Result<Self> {
        let name = format!("server-{}", number + 1);
        let folder = folder.join(&name);
        let data = folder.join("data");
        write(&data.join("myid"), &format!("{}\n", number + 1))?;
        write(&folder.join("log4j.properties"), LOGGING)?;
        let config = folder.join("zoo.cfg");
        write(&config, &configuration(settings, ports, &data, number))?;
        let mut path = vec![folder.display().to_string()];
        path.extend(installed.jars.iter().map(|jar| jar.display().to_string()));
        let interval = settings.reap_interval / 1_000;
        let mut program = Command::new(&installed.java);
        program.arg(format!("-Dznode.container.checkIntervalMs={interval}"));
        if settings.read_only {
            program.arg("-Dreadonlymode.enabled=true");
        }
        if settings.extended_types {
            program.arg("-Dzookeeper.extendedTypesEnabled=true");
        }
        program
            .args([
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Djava.net.preferIPv4Stack=true",
                "-Dzookeeper.jmx.log4j.disable=true",
                "-Dzookeeper.enforceQuota=true",
                "-cp",
            ])
            .arg(path.join(":"))
            .arg("org.apache.zookeeper.server.quorum.QuorumPeerMain")
            .arg(&config);
        Ok(Self {
            process: Process::start(name, program, folder.join("log"))?,
            port: ports.client[number],
        })
    }

    /// Its mode in the ensemble by its own word, if it serves clients.
    pub(super) fn mode(&mut self) -> Result<Option<String>> {
        if !self.process.is_running() {
            return Ok(None);
        }
        self.process.check_alive()?;
        let answer = self.four_letters("srvr").unwrap_or_default();
        let mode = answer.lines().find_map(|line| line.strip_prefix("Mode: "));
        Ok(mode.map(str::to_owned))
    }

    /// Whether it tells clients who look for a server that takes writes to look elsewhere.
    pub(super) fn is_read_only(&mut self) -> Result<bool> {
        self.process.check_alive()?;
        let answer = self.four_letters("isro").unwrap_or_default();
        Ok(answer.trim() == "ro" && self.mode()?.as_deref() == Some(READ_ONLY))
    }

    /// Watches that have fired here so far.
    pub(super) fn watches_fired(&mut self) -> Result<u64> {
        self.process.check_alive()?;
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
    pub(super) fn serves_first(&mut self) -> Result<bool> {
        match self.mode() {
            Err(VerifyError::Died { status, .. }) => Err(self.process.not_started(status)),
            mode => Ok(mode?.is_some()),
        }
    }

    /// The answer to one of its commands.
    fn four_letters(&self, command: &str) -> std::io::Result<String> {
        let mut stream = connect(self.port, Duration::from_secs(2))?;
        stream.write_all(command.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .map_err(VerifyError::io(format!("cannot write {}", path.display())))
}

fn configuration(settings: &QuorumPeerConfig, ports: &Ports, data: &Path, number: usize) -> String {
    let mut text = format!(
        "tickTime={}\nminSessionTimeout={}\nmaxSessionTimeout={}\ninitLimit={}\nsyncLimit={}\n\
         maxClientCnxns=0\nadmin.enableServer=false\n4lw.commands.whitelist=*\nforceSync=no\npreAllocSize=1024\n\
         dataDir={}\nclientPortAddress=127.0.0.1\nclientPort={}\n",
        settings.tick / 1_000,
        settings.least_timeout / 1_000,
        settings.most_timeout / 1_000,
        settings.init_limit,
        settings.sync_limit,
        data.display(),
        ports.client[number],
    );
    if settings.read_only {
        // Without these no client can begin a session at a server without a leader.
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
