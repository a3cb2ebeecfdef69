//! A client's connection to a real server.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use picklock_checker::time::whole_micros;
use picklock_clients::zookeeper::SessionId;
use picklock_zookeeper::messages::{ClientMessage, ServerMessage, Xid};

use crate::harness::error::Garbled;
use crate::harness::network;
use crate::zookeeper::backend::{ConnectRequest, Incoming};
use crate::zookeeper::protocol::{self, Asked};

/// The longest message that is taken for one.
const LONGEST: usize = 64 << 20;
/// How long an attempt to connect or to write may take.
const WRITE: Duration = Duration::from_secs(10);
/// How long the server may take to notice that a connection is closed.
const CUT: Duration = Duration::from_secs(2);

/// A client's connection to a real server.
#[derive(Debug)]
pub(super) struct Socket {
    /// `None` when it is gone.
    stream: Option<TcpStream>,
    bytes: Vec<u8>,
    greeted: bool,
    asked: VecDeque<(Xid, Asked)>,
    /// Answers to our own pings that are still to come.
    pongs: u32,
    password: Option<(SessionId, Vec<u8>)>,
}

impl Socket {
    /// Connects and sends the first message. That it could not shows when it is read.
    pub(super) fn connect(port: u16, request: &ConnectRequest, password: &[u8]) -> Self {
        let mut socket = Self {
            stream: network::connect(port, WRITE).ok(),
            bytes: Vec::new(),
            greeted: false,
            asked: VecDeque::new(),
            pongs: 0,
            password: None,
        };
        let timeout = whole_micros(request.timeout);
        socket.write(&protocol::connect_request(
            request.session.0,
            password,
            timeout,
            request.last_zxid.0,
            request.read_only,
        ));
        socket
    }

    /// Sends.
    pub(super) fn send(&mut self, message: &ClientMessage) {
        match message {
            ClientMessage::Request { xid, request } => self.asked.push_back((*xid, request.into())),
            ClientMessage::Close { xid } => self.asked.push_back((*xid, Asked::Close)),
            ClientMessage::Connect { .. }
            | ClientMessage::Ping
            | ClientMessage::Authenticate { .. }
            | ClientMessage::SetWatches(_) => {}
        }
        self.write(&protocol::message(message));
    }

    /// Sends a ping of its own, whose answer is dropped. False if there is no session yet, or no connection any more.
    pub(super) fn ping(&mut self) -> bool {
        let ready = self.greeted && self.stream.is_some();
        if ready {
            self.pongs += 1;
            self.write(&protocol::message(&ClientMessage::Ping));
        }
        ready
    }

    /// What cannot be written will be missed when the answer is read: there may be something to read yet.
    fn write(&mut self, bytes: &[u8]) {
        if let Some(stream) = &mut self.stream {
            let _ = stream.write_all(bytes);
        }
    }

    /// The password of the session, when there is a new one.
    pub(super) fn take_password(&mut self) -> Option<(SessionId, Vec<u8>)> {
        self.password.take()
    }

    /// Closes it, and waits until the server has closed it too. Otherwise, if the session goes on over another
    /// connection meanwhile, the server may forget the new one when it gets round to the end of the old one.
    pub(super) fn cut(&mut self) {
        let Some(mut stream) = self.stream.take() else {
            return;
        };
        // It may be closed already.
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.set_read_timeout(Some(CUT));
        let mut rest = [0; 16 << 10];
        while matches!(stream.read(&mut rest), Ok(1..)) {}
    }

    /// What has come, without waiting.
    pub(super) fn try_receive(&mut self) -> Result<Incoming, Garbled> {
        if let Some(stream) = &self.stream {
            // If this fails it waits for a millisecond, and that is all.
            let _ = stream.set_nonblocking(true);
        }
        let incoming = self.receive(Duration::ZERO);
        if let Some(stream) = &self.stream {
            let _ = stream.set_nonblocking(false);
        }
        incoming
    }

    /// What comes next, within this time.
    pub(super) fn receive(&mut self, timeout: Duration) -> Result<Incoming, Garbled> {
        loop {
            if let Some(frame) = self.take_frame()? {
                match self.decode(&frame)? {
                    ServerMessage::Pong if self.pongs > 0 => self.pongs -= 1,
                    message => return Ok(Incoming::Message(message)),
                }
                continue;
            }
            let Some(stream) = &mut self.stream else {
                return Ok(Incoming::Closed);
            };
            // A timeout of zero would mean none.
            let timeout = timeout.max(Duration::from_millis(1));
            let mut buffer = [0; 16 << 10];
            let read = stream
                .set_read_timeout(Some(timeout))
                .and_then(|()| stream.read(&mut buffer));
            match read {
                Ok(0) => self.stream = None,
                Ok(length) => self.bytes.extend_from_slice(&buffer[..length]),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => return Ok(Incoming::Nothing),
                    ErrorKind::Interrupted => {}
                    // However it ended, it has.
                    _ => self.stream = None,
                },
            }
        }
    }

    /// A whole message, if there is one.
    fn take_frame(&mut self) -> Result<Option<Vec<u8>>, Garbled> {
        let Some(length) = self.bytes.first_chunk() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*length) as usize;
        if length > LONGEST {
            return Err(Garbled::Meaning("a message's length", length as i64));
        }
        if self.bytes.len() < 4 + length {
            return Ok(None);
        }
        let rest = self.bytes.split_off(4 + length);
        let mut frame = std::mem::replace(&mut self.bytes, rest);
        frame.drain(..4);
        Ok(Some(frame))
    }

    fn decode(&mut self, message: &[u8]) -> Result<ServerMessage, Garbled> {
        if !self.greeted {
            self.greeted = true;
            let (message, password) = protocol::connected(message)?;
            if let ServerMessage::Connected { session, .. } = message {
                self.password = Some((session, password));
            }
            return Ok(message);
        }
        let asked = &mut self.asked;
        protocol::incoming(message, |number| {
            // Answers come in the order of the questions.
            let (first, what) = asked.pop_front()?;
            (first == number).then_some(what)
        })
    }
}
