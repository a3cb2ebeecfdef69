//! A relay between a primary and its replica. It forwards their messages, holds them back, or cuts the connection.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use super::Flow;
use crate::harness::error::{Result, VerifyError};

/// A port that leads to another one. It passes nothing on by itself: [`Relay::pump`] does.
pub(super) struct Relay {
    listener: TcpListener,
    pub(super) port: u16,
    to: u16,
    pub(super) flow: Flow,
    pairs: Vec<Pair>,
}

/// A connection of a replica, and the one that it leads to.
struct Pair {
    replica: End,
    primary: End,
}

/// One of the two, and what has come over the other one for it.
struct End {
    stream: TcpStream,
    waits: Vec<u8>,
}

impl Relay {
    /// Leads to a port on loopback.
    pub(super) fn to(port: u16) -> Result<Self> {
        let failed = || VerifyError::io("cannot listen to a port on loopback");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed())?;
        listener.set_nonblocking(true).map_err(failed())?;
        let own = listener.local_addr().map_err(failed())?.port();
        Ok(Self {
            listener,
            port: own,
            to: port,
            flow: Flow::Free,
            pairs: Vec::new(),
        })
    }

    /// Passes on what has come by now. A connection one of whose ends is gone goes, with all that it holds.
    pub(super) fn pump(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            if self.flow != Flow::Cut {
                self.pairs.extend(Pair::of(stream, self.to));
            }
        }
        if self.flow == Flow::Cut {
            self.pairs.clear();
        }
        let held = self.flow == Flow::Held;
        self.pairs.retain_mut(|pair| pair.pump(held).is_some());
    }
}

impl Pair {
    fn of(replica: TcpStream, to: u16) -> Option<Self> {
        let primary = TcpStream::connect((Ipv4Addr::LOCALHOST, to)).ok()?;
        let end = |stream: TcpStream| {
            stream.set_nonblocking(true).ok()?;
            stream.set_nodelay(true).ok()?;
            let waits = Vec::new();
            Some(End { stream, waits })
        };
        Some(Self {
            replica: end(replica)?,
            primary: end(primary)?,
        })
    }

    fn pump(&mut self, held: bool) -> Option<()> {
        let from_primary = self.primary.read(&mut self.replica.waits);
        let from_replica = self.replica.read(&mut self.primary.waits);
        self.primary.write()?;
        if !held {
            self.replica.write()?;
        }
        from_primary.and(from_replica)
    }
}

impl End {
    /// Reads what has come, for the other end; nothing if it is closed.
    fn read(&mut self, into: &mut Vec<u8>) -> Option<()> {
        let mut some = [0; 65_536];
        loop {
            match self.stream.read(&mut some) {
                Ok(0) => return None,
                Ok(number) => into.extend_from_slice(&some[..number]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Some(()),
                Err(_) => return None,
            }
        }
    }

    /// Writes as much as it takes; nothing if it is closed.
    fn write(&mut self) -> Option<()> {
        while !self.waits.is_empty() {
            match self.stream.write(&self.waits) {
                Ok(number) => drop(self.waits.drain(..number)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return None,
            }
        }
        Some(())
    }
}
