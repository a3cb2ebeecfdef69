//! Real servers, on loopback: started and stopped here, in a temporary folder that goes with them.

mod install;
mod process;
mod socket;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use picklock_clients::zookeeper::SessionId;
use picklock_zookeeper::messages::ClientMessage;
use picklock_zookeeper::state::QuorumPeerConfig;

pub use install::{HOW, Installed, JARS};

use crate::harness::clock::{self, Clock, until};
use crate::harness::error::{Garbled, Result, VerifyError, unless_stopped};
use crate::harness::temporary_folder::TemporaryFolder;
use crate::zookeeper::backend::{ConnectRequest, EnsembleBackend, Handle, Incoming, ServerIndex};
use crate::zookeeper::real::process::{Ports, RealServer};
use crate::zookeeper::real::socket::Socket;

/// How long a server may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);
/// How long servers may take to start and to find a leader.
const START: Duration = Duration::from_secs(60);
/// How often one looks whether something has come about.
const LOOK: Duration = Duration::from_millis(20);
/// How long a server may keep an answer to itself before it is nudged.
const NUDGE: Duration = Duration::from_millis(500);
/// How a server calls itself that answers reads alone.
const READ_ONLY: &str = "read-only";
/// How often a start is tried, if another process has taken a port meanwhile.
const STARTS: u32 = 3;

/// Real servers, on loopback.
pub(crate) struct Real<'a> {
    // Before the folder, so that they are gone when it goes.
    servers: Vec<RealServer>,
    sockets: Vec<(ServerIndex, Socket)>,
    passwords: BTreeMap<SessionId, Vec<u8>>,
    began: Instant,
    /// Answers that came after a nudge.
    late_answers: u64,
    stop: &'a AtomicBool,
    _folder: TemporaryFolder,
}

impl<'a> Real<'a> {
    /// Starts servers, and waits until all serve.
    pub(crate) fn start(
        installed: &Installed,
        settings: &QuorumPeerConfig,
        stop: &'a AtomicBool,
    ) -> Result<Self> {
        let mut tries = 1;
        loop {
            match Self::try_start(installed, settings, stop) {
                Err(VerifyError::NotStarted { log, .. })
                    if tries < STARTS && log.iter().any(|line| line.contains("already in use")) =>
                {
                    tries += 1;
                }
                done => return done,
            }
        }
    }

    fn try_start(
        installed: &Installed,
        settings: &QuorumPeerConfig,
        stop: &'a AtomicBool,
    ) -> Result<Self> {
        let folder = TemporaryFolder::new()?;
        let machines = settings.servers + settings.observers;
        let ports = Ports::free(usize::from(machines))?;
        let mut servers = Vec::new();
        for number in 0..machines {
            servers.push(RealServer::start(
                installed,
                settings,
                folder.path(),
                &ports,
                usize::from(number),
            )?);
        }
        let mut real = Self {
            servers,
            sockets: Vec::new(),
            passwords: BTreeMap::new(),
            began: clock::now(),
            late_answers: 0,
            stop,
            _folder: folder,
        };
        real.await_all()?;
        // The one that leads comes last of those that vote, as in the model.
        let leader = real.leader()?.map_or(0, |leader| leader.0);
        let leader = real.servers.remove(leader);
        let last = usize::from(settings.servers).saturating_sub(1);
        real.servers.insert(last, leader);
        Ok(real)
    }

    fn await_all(&mut self) -> Result<()> {
        let mut next = 0;
        let all = until(self, (START, LOOK), |real| {
            while next < real.servers.len() && real.servers[next].serves_first()? {
                next += 1;
            }
            Ok(next == real.servers.len())
        })?;
        if all.is_none() {
            let why = format!("it did not serve within {} s", START.as_secs());
            return Err(self.servers[next].process.not_started(why));
        }
        Ok(())
    }

    /// Gives a server something to do. One of 3.8.0 was seen to keep an answer until the next request of any client,
    /// with all its threads idle; `CommitProcessor` may miss what comes in just before it begins to listen.
    fn nudge(&mut self, link: Handle) {
        let (place, socket) = &mut self.sockets[link.0];
        if !socket.ping() {
            let place = *place;
            let there = self.sockets.iter_mut().filter(|(at, _)| *at == place);
            there.for_each(|(_, socket)| {
                socket.ping();
            });
        }
    }

    /// Notes what was read.
    fn read(
        &mut self,
        link: Handle,
        place: ServerIndex,
        incoming: Result<Incoming, Garbled>,
    ) -> Result<Incoming> {
        let incoming = incoming.map_err(|why| VerifyError::Garbled {
            server: self.servers[place.0].process.name().to_owned(),
            why,
        })?;
        if let Some((session, password)) = self.sockets[link.0].1.take_password() {
            self.passwords.insert(session, password);
        }
        if incoming == Incoming::Closed {
            self.servers[place.0].process.check_alive()?;
        }
        Ok(incoming)
    }

    /// What has come over a connection, without waiting.
    pub(crate) fn try_receive(&mut self, link: Handle) -> Result<Incoming> {
        unless_stopped(self.stop)?;
        let (place, socket) = &mut self.sockets[link.0];
        let (place, incoming) = (*place, socket.try_receive());
        self.read(link, place, incoming)
    }

    /// Watches that have fired so far, as the servers have counted them.
    pub(crate) fn watches_fired(&mut self) -> Result<u64> {
        let mut fired = 0;
        for process in &mut self.servers {
            fired += process.watches_fired()?;
        }
        Ok(fired)
    }
}

impl Clock for Real<'_> {
    fn pass(&mut self, time: Duration) -> Result<()> {
        unless_stopped(self.stop)?;
        clock::sleep(time);
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        clock::now() - self.began
    }
}

impl EnsembleBackend for Real<'_> {
    fn connect(&mut self, place: ServerIndex, request: &ConnectRequest) -> Result<Handle> {
        unless_stopped(self.stop)?;
        let mut password = match self.passwords.get(&request.session) {
            Some(password) => password.clone(),
            None => vec![0; 16],
        };
        if request.wrong_password {
            password.iter_mut().for_each(|byte| *byte = !*byte);
        }
        let socket = Socket::connect(self.servers[place.0].port, request, &password);
        self.sockets.push((place, socket));
        Ok(Handle(self.sockets.len() - 1))
    }

    fn send(&mut self, link: Handle, message: &ClientMessage) -> Result<()> {
        unless_stopped(self.stop)?;
        self.sockets[link.0].1.send(message);
        Ok(())
    }

    fn receive(&mut self, link: Handle, timeout: Duration) -> Result<Incoming> {
        let deadline = clock::now() + timeout;
        let mut nudged = false;
        let incoming = loop {
            // In pieces, so that Ctrl-C is heard.
            unless_stopped(self.stop)?;
            let rest = deadline.saturating_duration_since(clock::now());
            match self.sockets[link.0].1.receive(rest.min(NUDGE)) {
                Ok(Incoming::Nothing) if clock::now() < deadline => {
                    self.nudge(link);
                    nudged = true;
                }
                other => break other,
            }
        };
        self.late_answers += u64::from(nudged && matches!(incoming, Ok(Incoming::Message(_))));
        let place = self.sockets[link.0].0;
        self.read(link, place, incoming)
    }

    fn cut(&mut self, link: Handle) {
        self.sockets[link.0].1.cut();
    }

    fn kill(&mut self, place: ServerIndex) -> Result<()> {
        self.servers[place.0].process.kill();
        Ok(())
    }

    fn start(&mut self, place: ServerIndex) -> Result<()> {
        self.servers[place.0].process.restart()
    }

    fn leader(&mut self) -> Result<Option<ServerIndex>> {
        for place in 0..self.servers.len() {
            let mode = self.servers[place].mode()?;
            if matches!(mode.as_deref(), Some("leader" | "standalone")) {
                return Ok(Some(ServerIndex(place)));
            }
        }
        Ok(None)
    }

    fn is_read_only(&mut self, place: ServerIndex) -> Result<bool> {
        self.servers[place.0].is_read_only()
    }

    fn serves(&mut self, place: ServerIndex) -> Result<bool> {
        let mode = self.servers[place.0].mode()?;
        Ok(mode.is_some_and(|mode| mode != READ_ONLY))
    }

    fn timeout(&self) -> Duration {
        ANSWER_TIMEOUT
    }

    fn late_answers(&self) -> u64 {
        self.late_answers
    }

    fn silent(&mut self, link: Handle, asked: &str) -> Result<()> {
        let process = &mut self.servers[self.sockets[link.0].0.0].process;
        process.check_alive()?;
        Err(VerifyError::Late {
            server: process.name().to_owned(),
            waited: ANSWER_TIMEOUT,
            asked: asked.to_owned(),
            log: process.last_lines(),
        })
    }
}

#[cfg(test)]
mod tests;
