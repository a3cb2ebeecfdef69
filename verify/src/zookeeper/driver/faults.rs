//! Steps that break something: clients that fall silent, and servers that are killed.

use std::time::Duration;

use picklock_clients::zookeeper::{Path, Request, Response};
use picklock_zookeeper::messages::ServerMessage;

use super::{Driver, Observed};
use crate::harness::clock::until;
use crate::harness::error::Result;
use crate::zookeeper::backend::{EnsembleBackend, Incoming, ServerIndex};
use crate::zookeeper::step::Client;

/// How often the clients that live on are heard of meanwhile.
const BEAT: Duration = Duration::from_millis(50);
/// How long the others may take to elect a leader.
const ELECTION: Duration = Duration::from_secs(60);
/// How long one waits for the end of a connection whose server has died.
const SHORT: Duration = Duration::from_millis(20);
/// How long after its timeout a session may still be there: one tick, half a tick through a follower, and the slowness
/// of a busy machine.
pub(crate) const GRACE: Duration = Duration::from_millis(2_500);

impl<B: EnsembleBackend> Driver<B> {
    /// Clients fall silent, until their sessions are gone. When that was is a line too, as far as it is promised.
    pub(super) fn silence(
        &mut self,
        clients: &[Client],
        cut: bool,
        nodes: &[Path],
        timeout: Duration,
        seen: &mut Observed,
    ) -> Result<()> {
        for client in clients {
            let state = &mut self.clients[client.0];
            state.left = true;
            if cut {
                state.open = false;
                let link = state.link;
                self.backend.cut(link);
            }
        }
        let began = self.backend.elapsed();
        let watcher = self.watcher();
        let mut gone = false;
        self.longest_beat = Duration::ZERO;
        while !gone && self.backend.elapsed() - began < timeout + GRACE {
            let beat = self.backend.elapsed();
            self.backend.pass(BEAT)?;
            self.catch_up(seen)?;
            gone = true;
            for node in nodes {
                gone &= !self.is_there(watcher, node, seen)?;
            }
            self.longest_beat = self.longest_beat.max(self.backend.elapsed() - beat);
        }
        let took = self.backend.elapsed() - began;
        let line = if !gone {
            "the nodes stay"
        } else if took < timeout {
            "the nodes went too early"
        } else {
            "the nodes went in time"
        };
        let silent = if clients.is_empty() {
            &[watcher]
        } else {
            clients
        };
        for client in silent {
            seen.entry(*client).or_default().push(line.into());
        }
        Ok(())
    }

    /// A client that is still there.
    fn watcher(&self) -> Client {
        let there = self
            .clients
            .iter()
            .position(|client| client.open && !client.left);
        Client(there.unwrap_or(0))
    }

    fn is_there(&mut self, watcher: Client, node: &Path, seen: &mut Observed) -> Result<bool> {
        let path = node.clone();
        self.send(watcher, Request::Exists { path, watch: false })?;
        loop {
            match self.next(watcher, &|| format!("exists({node})"))? {
                Some(ServerMessage::Reply { reply, .. }) => {
                    return Ok(matches!(reply, Ok(Response::Exists(_))));
                }
                Some(message) => {
                    let line = self.normal.message(&message);
                    seen.entry(watcher).or_default().push(line.into());
                }
                None => return Ok(false),
            }
        }
    }

    /// Kills the leader or a follower, and waits until there is a leader and all that are left serve.
    pub(super) fn kill(&mut self, leader: bool, seen: &mut Observed) -> Result<()> {
        let leads = self.backend.leader()?;
        let running = |place: &ServerIndex| !self.killed.contains(place);
        let mut places = (0..self.servers).map(ServerIndex).filter(running);
        let Some(victim) = places.find(|place| (Some(*place) == leads) == leader) else {
            return Ok(());
        };
        self.backend.kill(victim)?;
        self.killed.push(victim);
        // A server that stood alone leaves none to wait for.
        if self.servers > 1 {
            self.await_service()?;
        }
        self.note_closed(seen)
    }

    /// Kills all but one, and waits until that one answers reads.
    pub(super) fn isolate(&mut self, left: ServerIndex, seen: &mut Observed) -> Result<()> {
        for place in (0..self.servers).map(ServerIndex) {
            if place != left && !self.killed.contains(&place) {
                self.backend.kill(place)?;
                self.killed.push(place);
            }
        }
        let backend = &mut self.backend;
        until(backend, (ELECTION, BEAT), |known| known.is_read_only(left))?;
        self.note_closed(seen)
    }

    /// Starts the servers that were killed, and waits until they serve.
    pub(super) fn restart_killed(&mut self, seen: &mut Observed) -> Result<()> {
        for place in std::mem::take(&mut self.killed) {
            self.backend.start(place)?;
        }
        self.await_service()?;
        self.note_closed(seen)
    }

    fn await_service(&mut self) -> Result<()> {
        self.backend.pass(BEAT)?;
        let (servers, killed) = (self.servers, &self.killed);
        until(&mut self.backend, (ELECTION, BEAT), |backend| {
            let mut all = backend.leader()?.is_some();
            for place in (0..servers).map(ServerIndex) {
                all &= killed.contains(&place) || backend.serves(place)?;
            }
            Ok(all)
        })?;
        Ok(())
    }

    /// Which connections are gone.
    fn note_closed(&mut self, seen: &mut Observed) -> Result<()> {
        for client in (0..self.clients.len()).map(Client) {
            let state = &self.clients[client.0];
            if !state.open || state.left {
                continue;
            }
            let link = state.link;
            let line = loop {
                match self.backend.receive(link, SHORT)? {
                    Incoming::Nothing => break None,
                    Incoming::Closed => break Some("connection closed".to_owned()),
                    Incoming::Message(message) => {
                        let line = self.normal.message(&message);
                        seen.entry(client).or_default().push(line.into());
                    }
                }
            };
            if let Some(line) = line {
                self.clients[client.0].open = false;
                seen.entry(client).or_default().push(line.into());
            }
        }
        Ok(())
    }
}
