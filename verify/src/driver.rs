//! Does the same steps to one side as to the other, and writes down what came of them.

mod faults;
mod telling;

pub(crate) use faults::GRACE;

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_clients::zookeeper::{Path, Reply, Request, Response, SessionId, ZkError, Zxid};
use picklock_zookeeper::messages::{ClientMessage, ServerMessage, Xid};

use crate::backend::{Hello, Incoming, Link, Place, Side};
use crate::error::VerifyError;
use crate::normalize::Normal;
use crate::step::{Resume, Step, Wire, Words};

/// How often a server is asked whether it has caught up, and how long one waits in between.
const TRIES: u32 = 50;
const SHORT: Duration = Duration::from_millis(2);

/// What was seen of a step: for each connection, what came over it, in order.
pub type Seen = BTreeMap<Wire, Vec<Line>>;

/// One message, or the end of a connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// What came, in words.
    pub text: String,
    /// The request that it answers, if it answers one.
    pub asked: Option<String>,
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self { text, asked: None }
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// One side, and the clients that ask it.
pub struct Driver<S> {
    pub(crate) side: S,
    pub(crate) normal: Normal,
    pub(crate) wires: Vec<WireState>,
    /// Servers that were killed here and have not come back.
    pub(crate) killed: Vec<Place>,
    /// The newest zxid that any client was told.
    pub(crate) newest: Zxid,
    /// The longest for which nothing was heard of who lives on, in the last step that waited for something to go.
    pub(crate) longest_beat: Duration,
    /// Paths that creates have answered in the last step.
    made: Vec<Path>,
}

/// A connection, as its client knows it.
pub(crate) struct WireState {
    pub(crate) link: Link,
    pub(crate) place: Place,
    pub(crate) session: SessionId,
    pub(crate) timeout: Duration,
    pub(crate) open: bool,
    /// Its session goes on over another connection, or its client has fallen silent: nobody looks whether there is
    /// something to read.
    pub(crate) left: bool,
    xid: u32,
    /// The zxids of the answers so far.
    zxids: Vec<Zxid>,
}

impl<S: Side> Driver<S> {
    /// Nobody is connected yet.
    pub fn new(side: S) -> Self {
        Self {
            side,
            normal: Normal::default(),
            wires: Vec::new(),
            killed: Vec::new(),
            newest: Zxid(0),
            longest_beat: Duration::ZERO,
            made: Vec::new(),
        }
    }

    /// Paths that creates have answered in the last step.
    pub fn made(&self) -> &[Path] {
        &self.made
    }

    /// Does a step, and waits until all that comes of it has arrived.
    ///
    /// # Errors
    ///
    /// [`VerifyError`], if the comparison cannot go on.
    pub fn perform(&mut self, step: &Step) -> Result<Seen, VerifyError> {
        let mut seen = Seen::new();
        self.made.clear();
        match step {
            Step::Open {
                place,
                timeout,
                read_only,
            } => {
                let hello = Hello {
                    session: SessionId(0),
                    wrong_password: false,
                    timeout: *timeout,
                    last_zxid: Zxid(0),
                    read_only: *read_only,
                };
                self.connect(*place, &hello, &mut seen)?;
            }
            Step::Resume(resume) => self.resume(resume, &mut seen)?,
            Step::Ask { wire, requests } => self.ask(*wire, requests, step, &mut seen)?,
            Step::Watch { wire, .. } | Step::Say { wire, .. } => {
                let message = self.told(step);
                self.side.send(self.wires[wire.0].link, &message)?;
                self.read(*wire, step, &mut seen)?;
            }
            Step::Close { wire } => self.close(*wire, step, &mut seen)?,
            Step::Silence {
                wires,
                cut,
                first,
                nodes,
                timeout,
            } => {
                if let Some((wire, request)) = first {
                    self.ask(*wire, std::slice::from_ref(request), step, &mut seen)?;
                }
                self.silence(wires, *cut, nodes, *timeout, &mut seen)?;
            }
            Step::KillLeader => self.kill(true, &mut seen)?,
            Step::KillFollower => self.kill(false, &mut seen)?,
            Step::LeaveAlone { place } => self.leave_alone(*place, &mut seen)?,
            Step::Return => self.bring_back(&mut seen)?,
        }
        self.catch_up(&mut seen)?;
        if matches!(step, Step::Close { .. } | Step::Silence { .. }) {
            // One transaction deletes the nodes of a session in any order, and so do several at once.
            seen.values_mut().for_each(|lines| sort_events(lines));
        }
        seen.retain(|_, lines| !lines.is_empty());
        Ok(seen)
    }

    fn connect(
        &mut self,
        place: Place,
        hello: &Hello,
        seen: &mut Seen,
    ) -> Result<Wire, VerifyError> {
        let link = self.side.connect(place, hello)?;
        let wire = Wire(self.wires.len());
        self.wires.push(WireState {
            link,
            place,
            session: hello.session,
            timeout: hello.timeout,
            open: true,
            left: false,
            xid: 0,
            zxids: Vec::new(),
        });
        let patience = self.side.patience();
        let line = match self.side.receive(link, patience)? {
            Incoming::Nothing => {
                self.side.silent(link, "a new connection")?;
                "no answer".to_owned()
            }
            Incoming::Closed => {
                self.wires[wire.0].open = false;
                "connection closed".to_owned()
            }
            Incoming::Message(message) => {
                if let ServerMessage::Connected { session, .. } = &message {
                    self.wires[wire.0].session = *session;
                }
                self.normal.message(&message)
            }
        };
        seen.entry(wire).or_default().push(line.into());
        Ok(wire)
    }

    fn resume(&mut self, resume: &Resume, seen: &mut Seen) -> Result<(), VerifyError> {
        let old = &mut self.wires[resume.of.0];
        let (session, timeout, xid) = (old.session, old.timeout, old.xid);
        let (link, open, same) = (old.link, old.open, old.place == resume.place);
        let mut zxids = old.zxids.clone();
        let last = zxids.last().copied().unwrap_or_default();
        if resume.cut {
            old.open = false;
            self.side.cut(link);
        }
        let last_zxid = if resume.ahead {
            Zxid(self.newest.0 + 1_000)
        } else {
            last
        };
        let hello = Hello {
            session,
            wrong_password: resume.wrong_password,
            timeout,
            last_zxid,
            read_only: resume.read_only,
        };
        let wire = self.connect(resume.place, &hello, seen)?;
        let connected = self.wires[wire.0].open;
        let new = &mut self.wires[wire.0];
        new.xid = xid;
        new.zxids.append(&mut zxids);
        if open && !resume.cut && same && !resume.ahead {
            // Whatever the password says, the old connection goes.
            self.read(resume.of, &Step::Resume(resume.clone()), seen)?;
        }
        if !resume.ahead && !resume.wrong_password && connected {
            self.wires[resume.of.0].left = true;
        }
        Ok(())
    }

    fn ask(
        &mut self,
        wire: Wire,
        requests: &[Request],
        step: &Step,
        seen: &mut Seen,
    ) -> Result<(), VerifyError> {
        for request in requests {
            self.send(wire, request.clone())?;
        }
        for request in requests {
            let answered = self.read(wire, step, seen)?;
            if let Some(line) = seen.get_mut(&wire).and_then(|lines| lines.last_mut()) {
                line.asked = Some(Words(request).to_string());
            }
            if !answered {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn send(&mut self, wire: Wire, request: Request) -> Result<(), VerifyError> {
        let state = &mut self.wires[wire.0];
        state.xid += 1;
        let xid = Xid(state.xid);
        self.side
            .send(state.link, &ClientMessage::Request { xid, request })
    }

    fn close(&mut self, wire: Wire, step: &Step, seen: &mut Seen) -> Result<(), VerifyError> {
        let state = &mut self.wires[wire.0];
        state.xid += 1;
        let xid = Xid(state.xid);
        self.side.send(state.link, &ClientMessage::Close { xid })?;
        // The answer, and then the end of the connection.
        if self.read(wire, step, seen)? {
            self.read(wire, step, seen)?;
        }
        Ok(())
    }

    /// Reads up to the next answer, or the end of the connection. Whether there was an answer.
    fn read(&mut self, wire: Wire, step: &Step, seen: &mut Seen) -> Result<bool, VerifyError> {
        loop {
            let (line, answered) = match self.next(wire, &|| step.to_string())? {
                Some(message) => {
                    let event = matches!(message, ServerMessage::Notification { .. });
                    (self.normal.message(&message), (!event).then_some(true))
                }
                None if self.wires[wire.0].open => ("no answer".to_owned(), Some(false)),
                None => ("connection closed".to_owned(), Some(false)),
            };
            seen.entry(wire).or_default().push(line.into());
            if let Some(answered) = answered {
                return Ok(answered);
            }
        }
    }

    /// The next message; `None` if there is none, because the connection is gone or nothing comes.
    pub(crate) fn next(
        &mut self,
        wire: Wire,
        asked: &dyn Fn() -> String,
    ) -> Result<Option<ServerMessage>, VerifyError> {
        let patience = self.side.patience();
        let link = self.wires[wire.0].link;
        let message = match self.side.receive(link, patience)? {
            Incoming::Message(message) => message,
            Incoming::Closed => {
                self.wires[wire.0].open = false;
                return Ok(None);
            }
            Incoming::Nothing => {
                self.side.silent(link, &asked())?;
                return Ok(None);
            }
        };
        if let ServerMessage::Reply { zxid, reply, .. } = &message {
            // The beginning of an epoch is no transaction: only its leader has it.
            if zxid.counter() != 0 {
                self.newest = self.newest.max(*zxid);
            }
            self.wires[wire.0].zxids.push(*zxid);
            note_made(reply, &mut self.made);
        }
        Ok(Some(message))
    }

    /// Every client catches up with the newest transaction that anybody was told of; what comes before it has come.
    pub(crate) fn catch_up(&mut self, seen: &mut Seen) -> Result<(), VerifyError> {
        for wire in (0..self.wires.len()).map(Wire) {
            let mut tries = 0;
            while self.wires[wire.0].open && !self.wires[wire.0].left {
                let path = Path::from("/");
                self.send(wire, Request::Sync { path })?;
                if self.caught_up(wire, seen)? {
                    break;
                }
                tries += 1;
                if tries == TRIES {
                    seen.entry(wire).or_default().push("lags behind".into());
                    break;
                }
                self.side.pass(SHORT)?;
            }
        }
        Ok(())
    }

    /// Reads up to the answer to `sync`. Whether it was as new as anything.
    fn caught_up(&mut self, wire: Wire, seen: &mut Seen) -> Result<bool, VerifyError> {
        loop {
            let line = match self.next(wire, &|| "sync".to_owned())? {
                Some(ServerMessage::Reply {
                    zxid,
                    reply: Ok(Response::Synced),
                    ..
                }) => return Ok(zxid >= self.newest),
                // Nobody is there to catch up with.
                Some(ServerMessage::Reply {
                    reply: Err(ZkError::NotReadOnly),
                    ..
                }) => return Ok(true),
                Some(message) => self.normal.message(&message),
                None if self.wires[wire.0].open => {
                    self.wires[wire.0].open = false;
                    "no answer to sync".to_owned()
                }
                None => "connection closed".to_owned(),
            };
            seen.entry(wire).or_default().push(line.into());
            if !self.wires[wire.0].open {
                return Ok(true);
            }
        }
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
