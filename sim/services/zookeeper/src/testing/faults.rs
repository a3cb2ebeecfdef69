//! What breaks, and how it heals.

use super::{Cluster, Event, SECOND};
use crate::messages::{ConnectionId, ServerId};
use crate::state::{Input, Server};

impl Cluster {
    /// The connection breaks; both sides learn of it.
    pub(crate) fn cut(&mut self, id: ConnectionId) {
        let connection = self.connections.get_mut(&id).unwrap();
        connection.open = false;
        let server = connection.server;
        self.soon(Event::Gone(server, id));
    }

    /// What this server sends to the others waits, and the other way round.
    pub(crate) fn isolate(&mut self, id: u8) {
        for other in (0..self.servers.len() as u8).filter(|other| *other != id) {
            self.held.insert((ServerId(id), ServerId(other)));
            self.held.insert((ServerId(other), ServerId(id)));
        }
    }

    /// What one server sends to another waits.
    pub(crate) fn hold(&mut self, from: u8, to: u8) {
        self.held.insert((ServerId(from), ServerId(to)));
    }

    /// Everything that waits goes on, or is lost.
    pub(crate) fn heal(&mut self, lose: bool) {
        self.held.clear();
        self.held_acks = false;
        for (from, to, message) in std::mem::take(&mut self.waiting) {
            if !lose {
                let life = self.lives[usize::from(to.0)];
                self.soon(Event::Arrive(from, life, to, message));
            }
        }
    }

    pub(crate) fn crash(&mut self, id: u8) {
        let dead = ServerId(id);
        self.lives[usize::from(id)] += 1;
        self.servers[usize::from(id)].crash(self.now);
        self.waiting
            .retain(|(from, to, _)| *from != dead && *to != dead);
        for connection in self.connections.values_mut() {
            connection.open &= connection.server != dead;
        }
        for other in 0..self.servers.len() as u8 {
            if other != id && self.server(other).is_running() {
                self.input(ServerId(other), Input::PeerLost { peer: dead });
            }
        }
    }

    pub(crate) fn restart(&mut self, id: u8) {
        let mut out = Vec::new();
        self.servers[usize::from(id)].restart(self.now, &mut *self.chance, &mut out);
        self.outputs(ServerId(id), &mut out);
    }

    pub(crate) fn expire(&mut self, id: ConnectionId) {
        let session = self.connections[&id].session;
        let Some(leader) = self.leader() else {
            return;
        };
        let mut out = Vec::new();
        let server = &mut self.servers[usize::from(leader.0)];
        server.expire_session(self.now, session, &mut *self.chance, &mut out);
        self.outputs(leader, &mut out);
    }

    /// Whether a server has promised itself to a leader that came to nothing, and so cannot join the one there is.
    pub(crate) fn is_left_out(&self, server: &Server) -> bool {
        let leader = self.leader().map(|leader| self.server(leader.0));
        leader.is_some_and(|leader| server.accepted_epoch > leader.accepted_epoch)
    }

    /// Runs until there is a leader that everybody follows who runs and is not left out.
    pub(crate) fn settle(&mut self) {
        for _ in 0..300 {
            self.run_for(SECOND / 2);
            let settled =
                |one: &Server| one.is_serving() || !one.is_running() || self.is_left_out(one);
            if self.leader().is_some() && self.servers.iter().all(settled) {
                return;
            }
        }
        panic!("no leader was found: {:#?}", self.servers);
    }
}
