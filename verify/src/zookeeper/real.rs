//! Real servers, on loopback: started and stopped here, in a temporary folder that goes with them.

mod install;
pub(crate) mod process;
mod socket;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use picklock_clients::zookeeper::SessionId;
use picklock_zookeeper::messages::ClientMessage;

pub use install::{HOW, Installed, JARS};

use crate::harness::clock;
use crate::harness::error::{Garbled, VerifyError, unless_stopped};
use crate::harness::temporary_folder::TemporaryFolder;
use crate::zookeeper::backend::{
    ConnectRequest, ConnectionHandle, EnsembleBackend, Incoming, ServerIndex,
};
use crate::zookeeper::real::process::{Ports, Process};
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
/// How often a start is tried, if somebody else has taken a port meanwhile.
const STARTS: u32 = 3;

/// The settings of real servers.
#[derive(Clone, Debug)]
pub struct RealSettings {
    /// How many servers that vote.
    pub servers: u8,
    /// How many that do not.
    pub observers: u8,
    /// The length of a tick.
    pub tick: Duration,
    /// The shortest and the longest session timeout that is granted.
    pub timeouts: (Duration, Duration),
    /// Whether it answers reads when it finds no leader.
    pub read_only: bool,
    /// How often it looks for nodes that go by themselves.
    pub reap_interval: Duration,
    /// Ticks for joining a leader.
    pub init_limit: u32,
    /// Ticks of silence between leader and follower.
    pub sync_limit: u32,
}

/// Real servers, on loopback.
pub struct Real<'a> {
    // Before the folder, so that they are gone when it goes.
    processes: Vec<Process>,
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
    ///
    /// # Errors
    ///
    /// [`VerifyError::NotStarted`], if they do not, or [`VerifyError::Interrupted`].
    pub fn start(
        installed: &Installed,
        settings: &RealSettings,
        stop: &'a AtomicBool,
    ) -> Result<Self, VerifyError> {
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
        settings: &RealSettings,
        stop: &'a AtomicBool,
    ) -> Result<Self, VerifyError> {
        let folder = TemporaryFolder::new()?;
        let machines = settings.servers + settings.observers;
        let ports = Ports::free(usize::from(machines))?;
        let mut processes = Vec::new();
        for number in 0..machines {
            processes.push(Process::start(
                installed,
                settings,
                folder.path(),
                &ports,
                usize::from(number),
            )?);
        }
        let mut real = Self {
            processes,
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
        let leader = real.processes.remove(leader);
        let last = usize::from(settings.servers).saturating_sub(1);
        real.processes.insert(last, leader);
        Ok(real)
    }

    fn await_all(&mut self) -> Result<(), VerifyError> {
        let deadline = clock::now() + START;
        for place in 0..self.processes.len() {
            while !self.processes[place].serves_first()? {
                if clock::now() > deadline {
                    let why = format!("it did not serve within {} s", START.as_secs());
                    return Err(self.processes[place].not_started(why));
                }
                self.pass(LOOK)?;
            }
        }
        Ok(())
    }

    /// Gives a server something to do. One of 3.8.0 was seen to keep an answer until the next request of whomever, with
    /// all its threads idle; `CommitProcessor` may miss what comes in just before it begins to listen.
    fn nudge(&mut self, link: ConnectionHandle) {
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
        link: ConnectionHandle,
        place: ServerIndex,
        incoming: Result<Incoming, Garbled>,
    ) -> Result<Incoming, VerifyError> {
        let incoming = incoming.map_err(|why| VerifyError::Garbled {
            server: self.processes[place.0].name().to_owned(),
            why,
        })?;
        if let Some((session, password)) = self.sockets[link.0].1.take_password() {
            self.passwords.insert(session, password);
        }
        if incoming == Incoming::Closed {
            self.processes[place.0].check_alive()?;
        }
        Ok(incoming)
    }

    /// What has come over a connection, without waiting.
    ///
    /// # Errors
    ///
    /// [`VerifyError`], if the comparison cannot go on.
    pub fn try_receive(&mut self, link: ConnectionHandle) -> Result<Incoming, VerifyError> {
        unless_stopped(self.stop)?;
        let (place, socket) = &mut self.sockets[link.0];
        let (place, incoming) = (*place, socket.try_receive());
        self.read(link, place, incoming)
    }

    /// Watches that have fired so far, as the servers have counted them.
    ///
    /// # Errors
    ///
    /// [`VerifyError`], if a server does not say.
    pub fn watches_fired(&mut self) -> Result<u64, VerifyError> {
        let mut fired = 0;
        for process in &mut self.processes {
            fired += process.watches_fired()?;
        }
        Ok(fired)
    }
}

impl EnsembleBackend for Real<'_> {
    fn connect(
        &mut self,
        place: ServerIndex,
        request: &ConnectRequest,
    ) -> Result<ConnectionHandle, VerifyError> {
        unless_stopped(self.stop)?;
        let mut password = match self.passwords.get(&request.session) {
            Some(password) => password.clone(),
            None => vec![0; 16],
        };
        if request.wrong_password {
            password.iter_mut().for_each(|byte| *byte = !*byte);
        }
        let socket = Socket::connect(self.processes[place.0].client_port(), request, &password);
        self.sockets.push((place, socket));
        Ok(ConnectionHandle(self.sockets.len() - 1))
    }

    fn send(&mut self, link: ConnectionHandle, message: &ClientMessage) -> Result<(), VerifyError> {
        unless_stopped(self.stop)?;
        self.sockets[link.0].1.send(message);
        Ok(())
    }

    fn receive(
        &mut self,
        link: ConnectionHandle,
        timeout: Duration,
    ) -> Result<Incoming, VerifyError> {
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

    fn cut(&mut self, link: ConnectionHandle) {
        self.sockets[link.0].1.cut();
    }

    fn pass(&mut self, time: Duration) -> Result<(), VerifyError> {
        unless_stopped(self.stop)?;
        clock::sleep(time);
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        clock::now() - self.began
    }

    fn kill(&mut self, place: ServerIndex) -> Result<(), VerifyError> {
        self.processes[place.0].kill();
        Ok(())
    }

    fn start(&mut self, place: ServerIndex) -> Result<(), VerifyError> {
        self.processes[place.0].restart()
    }

    fn leader(&mut self) -> Result<Option<ServerIndex>, VerifyError> {
        for place in 0..self.processes.len() {
            let mode = self.processes[place].mode()?;
            if matches!(mode.as_deref(), Some("leader" | "standalone")) {
                return Ok(Some(ServerIndex(place)));
            }
        }
        Ok(None)
    }

    fn is_read_only(&mut self, place: ServerIndex) -> Result<bool, VerifyError> {
        self.processes[place.0].is_read_only()
    }

    fn serves(&mut self, place: ServerIndex) -> Result<bool, VerifyError> {
        let mode = self.processes[place.0].mode()?;
        Ok(mode.is_some_and(|mode| mode != READ_ONLY))
    }

    fn timeout(&self) -> Duration {
        ANSWER_TIMEOUT
    }

    fn late_answers(&self) -> u64 {
        self.late_answers
    }

    fn silent(&mut self, link: ConnectionHandle, asked: &str) -> Result<(), VerifyError> {
        let place = self.sockets[link.0].0;
        self.processes[place.0].check_alive()?;
        Err(self.processes[place.0].late(ANSWER_TIMEOUT, asked))
    }
}

#[cfg(test)]
mod tests;
