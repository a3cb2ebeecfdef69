//! Performs steps on an ensemble, and writes down what came of them.

mod faults;
mod oneway_messages;

pub(crate) use faults::GRACE;

use std::time::Duration;

use picklock_clients::zookeeper::{Path, Reply, Request, Response, SessionId, ZkError, Zxid};
use picklock_zookeeper::messages::{ClientMessage, ServerMessage, Xid};

use crate::harness::comparison::Line;
use crate::harness::error::Result;
use crate::harness::pair::{self, Backend};
use crate::zookeeper::backend::{ConnectRequest, EnsembleBackend, Handle, Incoming, ServerIndex};
use crate::zookeeper::normalize::Normalizer;
use crate::zookeeper::step::{Client, Resume, Step};

/// How often a server is asked whether it has caught up, and how long one waits in between.
const TRIES: u32 = 50;
const SHORT: Duration = Duration::from_millis(2);

/// If a step takes longer, sessions may expire.
const STANDSTILL: Duration = Duration::from_secs(4);
/// If servers take longer to elect a leader or to start, they may, too.
const LONG_STANDSTILL: Duration = Duration::from_secs(8);
/// While a step waits until nodes are gone, the clients that live on ping this often.
const BEAT_STANDSTILL: Duration = Duration::from_millis(1_500);

/// What was seen of a step: for each connection, what came over it, in order.
type Observed = pair::Observed<Client, Line>;

/// An ensemble, and the clients that ask it.
pub(crate) struct Driver<B> {
    pub(crate) backend: B,
    /// How many servers there are.
    pub(crate) servers: usize,
    pub(crate) normal: Normalizer,
    pub(crate) clients: Vec<ClientState>,
    /// Servers that were killed here and have not come back.
    pub(crate) killed: Vec<ServerIndex>,
    /// The newest zxid that any client was told.
    pub(crate) newest: Zxid,
    /// The longest for which nothing was heard of a client that lives on, in the last step that waited for something to
    /// go.
    pub(crate) longest_beat: Duration,
    standstill: Option<Duration>,
    /// Paths that creates have answered in the last step.
    made: Vec<Path>,
}

/// A connection, as its client knows it.
pub(crate) struct ClientState {
    pub(crate) link: Handle,
    pub(crate) place: ServerIndex,
    pub(crate) session: SessionId,
    pub(crate) timeout: Duration,
    pub(crate) open: bool,
    /// Its session goes on over another connection, or its client has fallen silent: the connection is not read any
    /// more.
    pub(crate) left: bool,
    xid: u32,
    /// The zxids of the answers so far.
    zxids: Vec<Zxid>,
}

impl<B: EnsembleBackend> Driver<B> {
    /// A driver without connections.
    pub(crate) fn new(backend: B, servers: usize) -> Self {
        Self {
            backend,
            servers,
            normal: Normalizer::default(),
            clients: Vec::new(),
            killed: Vec::new(),
            newest: Zxid(0),
            longest_beat: Duration::ZERO,
            standstill: None,
            made: Vec::new(),
        }
    }

    /// The present connections are not read any more.
    pub(crate) fn leave_all(&mut self) {
        self.clients
            .iter_mut()
            .for_each(|client| client.left = true);
    }

    /// Paths that creates have answered in the last step.
    pub(crate) fn made(&self) -> &[Path] {
        &self.made
    }

    fn connect(
        &mut self,
        place: ServerIndex,
        request: &ConnectRequest,
        seen: &mut Observed,
    ) -> Result<Client> {
        let link = self.backend.connect(place, request)?;
        let client = Client(self.clients.len());
        self.clients.push(ClientState {
            link,
            place,
            session: request.session,
            timeout: request.timeout,
            open: true,
            left: false,
            xid: 0,
            zxids: Vec::new(),
        });
        let timeout = self.backend.timeout();
        let line = match self.backend.receive(link, timeout)? {
            Incoming::Nothing => {
                self.backend.silent(link, "a new connection")?;
                "no answer".to_owned()
            }
            Incoming::Closed => {
                self.clients[client.0].open = false;
                "connection closed".to_owned()
            }
            Incoming::Message(message) => {
                if let ServerMessage::Connected { session, .. } = &message {
                    self.clients[client.0].session = *session;
                }
                self.normal.message(&message)
            }
        };
        seen.entry(client).or_default().push(line.into());
        Ok(client)
    }

    fn resume(&mut self, resume: &Resume, seen: &mut Observed) -> Result<()> {
        let old = &mut self.clients[resume.of.0];
        let (session, timeout, xid) = (old.session, old.timeout, old.xid);
        let (link, open, same) = (old.link, old.open, old.place == resume.place);
        let mut zxids = old.zxids.clone();
        let last = zxids.last().copied().unwrap_or_default();
        if resume.cut {
            old.open = false;
            self.backend.cut(link);
        }
        let last_zxid = if resume.ahead {
            Zxid(self.newest.0 + 1_000)
        } else {
            last
        };
        let request = ConnectRequest {
            session,
            wrong_password: resume.wrong_password,
            timeout,
            last_zxid,
            read_only: resume.read_only,
        };
        let client = self.connect(resume.place, &request, seen)?;
        let connected = self.clients[client.0].open;
        let new = &mut self.clients[client.0];
        new.xid = xid;
        new.zxids.append(&mut zxids);
        if open && !resume.cut && same && !resume.ahead {
            // Whatever the password says, the old connection goes.
            self.read(resume.of, &Step::Resume(resume.clone()), seen)?;
        }
        if !resume.ahead && !resume.wrong_password && connected {
            self.clients[resume.of.0].left = true;
        }
        Ok(())
    }

    fn ask(
        &mut self,
        client: Client,
        requests: &[Request],
        step: &Step,
        seen: &mut Observed,
    ) -> Result<()> {
        for request in requests {
            self.send(client, request.clone())?;
        }
        for request in requests {
            let answered = self.read(client, step, seen)?;
            if let Some(line) = seen.get_mut(&client).and_then(|lines| lines.last_mut()) {
                line.asked = Some(request.to_string());
            }
            if !answered {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn send(&mut self, client: Client, request: Request) -> Result<()> {
        let state = &mut self.clients[client.0];
        state.xid += 1;
        let xid = Xid(state.xid);
        self.backend
            .send(state.link, &ClientMessage::Request { xid, request })
    }

    fn close(&mut self, client: Client, step: &Step, seen: &mut Observed) -> Result<()> {
        let state = &mut self.clients[client.0];
        state.xid += 1;
        let xid = Xid(state.xid);
        self.backend
            .send(state.link, &ClientMessage::Close { xid })?;
        // The answer, and then the end of the connection.
        if self.read(client, step, seen)? {
            self.read(client, step, seen)?;
        }
        Ok(())
    }

    /// Reads up to the next answer, or the end of the connection. Whether there was an answer.
    fn read(&mut self, client: Client, step: &Step, seen: &mut Observed) -> Result<bool> {
        loop {
            let (line, answered) = match self.next(client, &|| step.to_string())? {
                Some(message) => {
                    let event = matches!(message, ServerMessage::Notification { .. });
                    (self.normal.message(&message), (!event).then_some(true))
                }
                None if self.clients[client.0].open => ("no answer".to_owned(), Some(false)),
                None => ("connection closed".to_owned(), Some(false)),
            };
            seen.entry(client).or_default().push(line.into());
            if let Some(answered) = answered {
                return Ok(answered);
            }
        }
    }

    /// The next message; `None` if there is none, because the connection is gone or nothing comes.
    pub(crate) fn next(
        &mut self,
        client: Client,
        asked: &dyn Fn() -> String,
    ) -> Result<Option<ServerMessage>> {
        let timeout = self.backend.timeout();
        let link = self.clients[client.0].link;
        let message = match self.backend.receive(link, timeout)? {
            Incoming::Message(message) => message,
            Incoming::Closed => {
                self.clients[client.0].open = false;
                return Ok(None);
            }
            Incoming::Nothing => {
                self.backend.silent(link, &asked())?;
                return Ok(None);
            }
        };
        if let ServerMessage::Reply { zxid, reply, .. } = &message {
            // The beginning of an epoch is no transaction: only its leader has it.
            if zxid.counter() != 0 {
                self.newest = self.newest.max(*zxid);
            }
            self.clients[client.0].zxids.push(*zxid);
            note_made(reply, &mut self.made);
        }
        Ok(Some(message))
    }

    /// Every client catches up with the newest transaction that any client has seen; what comes before it has come.
    pub(crate) fn catch_up(&mut self, seen: &mut Observed) -> Result<()> {
        for client in (0..self.clients.len()).map(Client) {
            let mut tries = 0;
            while self.clients[client.0].open && !self.clients[client.0].left {
                let path = Path::from("/");
                self.send(client, Request::Sync { path })?;
                if self.caught_up(client, seen)? {
                    break;
                }
                tries += 1;
                if tries == TRIES {
                    seen.entry(client).or_default().push("lags behind".into());
                    break;
                }
                self.backend.pass(SHORT)?;
            }
        }
        Ok(())
    }

    /// Reads up to the answer to `sync`. Whether it was as new as anything.
    fn caught_up(&mut self, client: Client, seen: &mut Observed) -> Result<bool> {
        loop {
            let line = match self.next(client, &|| "sync".to_owned())? {
                Some(ServerMessage::Reply {
                    zxid,
                    reply: Ok(Response::Synced),
                    ..
                }) => return Ok(zxid >= self.newest),
                // There is no leader to catch up with.
                Some(ServerMessage::Reply {
                    reply: Err(ZkError::NotReadOnly),
                    ..
                }) => return Ok(true),
                Some(message) => self.normal.message(&message),
                None if self.clients[client.0].open => {
                    self.clients[client.0].open = false;
                    "no answer to sync".to_owned()
                }
                None => "connection closed".to_owned(),
            };
            seen.entry(client).or_default().push(line.into());
            if !self.clients[client.0].open {
                return Ok(true);
            }
        }
    }
}

impl<B: EnsembleBackend> Backend for Driver<B> {
    type Step = Step;
    type Connection = Client;
    type Answer = Line;

    fn perform(&mut self, step: &Step) -> Result<Observed> {
        let began = self.backend.elapsed();
        let mut seen = Observed::new();
        self.made.clear();
        match step {
            Step::Open {
                place,
                timeout,
                read_only,
            } => {
                let request = ConnectRequest {
                    read_only: *read_only,
                    ..ConnectRequest::new_session(*timeout)
                };
                self.connect(*place, &request, &mut seen)?;
            }
            Step::Resume(resume) => self.resume(resume, &mut seen)?,
            Step::Ask { client, requests } => self.ask(*client, requests, step, &mut seen)?,
            Step::SetWatches { client, .. } | Step::Authenticate { client, .. } => {
                let message = self.oneway_message(step);
                self.backend.send(self.clients[client.0].link, &message)?;
                self.read(*client, step, &mut seen)?;
            }
            Step::Close { client } => self.close(*client, step, &mut seen)?,
            Step::Silence {
                clients,
                cut,
                first,
                nodes,
                timeout,
            } => {
                if let Some((client, request)) = first {
                    self.ask(*client, std::slice::from_ref(request), step, &mut seen)?;
                }
                self.silence(clients, *cut, nodes, *timeout, &mut seen)?;
            }
            Step::KillLeader => self.kill(true, &mut seen)?,
            Step::KillFollower => self.kill(false, &mut seen)?,
            Step::Isolate { place } => self.isolate(*place, &mut seen)?,
            Step::RestartKilled => self.restart_killed(&mut seen)?,
        }
        self.catch_up(&mut seen)?;
        if matches!(step, Step::Close { .. } | Step::Silence { .. }) {
            // One transaction deletes the nodes of a session in any order, and so do several at once.
            seen.values_mut().for_each(|lines| sort_events(lines));
        }
        let whole = self.backend.elapsed() - began;
        // A step that waits until something is gone hears the clients that live on all the time.
        let (took, most) = match step {
            Step::Silence { .. } => (self.longest_beat, BEAT_STANDSTILL),
            Step::KillLeader | Step::KillFollower | Step::Isolate { .. } | Step::RestartKilled => {
                (whole, LONG_STANDSTILL)
            }
            _ => (whole, STANDSTILL),
        };
        self.standstill = (took > most).then_some(took);
        Ok(seen)
    }

    fn standstill(&self) -> Option<Duration> {
        self.standstill
    }
}

fn note_made(reply: &Reply, made: &mut Vec<Path>) {
    if let Ok(Response::Created { path, .. }) = reply {
        made.push(path.clone());
    }
}

/// Sorts the events that follow one on the other.
fn sort_events(lines: &mut [Line]) {
    for events in lines.split_mut(|line| !line.text.starts_with("event ")) {
        events.sort_unstable();
    }
}
