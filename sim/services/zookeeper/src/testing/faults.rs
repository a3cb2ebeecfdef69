//! Faults of the test network, and how they heal.

use super::{Cluster, SECOND};
use crate::messages::{ConnectionId, ServerId};
use crate::state::Server;
use crate::test_ensemble::{Message, Node};

impl Cluster {
    /// What this server sends to the others waits, and the other way round.
    pub(crate) fn isolate(&mut self, id: u8) {
        for other in (0..self.servers.len() as u8).filter(|other| *other != id) {
            self.hold(id, other);
            self.hold(other, id);
        }
    }

    /// What one server sends to another waits.
    pub(crate) fn hold(&mut self, from: u8, to: u8) {
        let [from, to] = [from, to].map(|id| Node::Server(ServerId(id)));
        self.network.hold(from, to);
    }

    /// Acknowledgements of logged proposals wait.
    pub(crate) fn hold_acks(&mut self) {
        let is_ack = |message: &Message| matches!(message, Message::Peer(peer) if peer.is_ack());
        self.network
            .hold_where(move |_, _, message| is_ack(message));
    }

    /// Everything that waits goes on, or is lost.
    pub(crate) fn heal(&mut self, lose: bool) {
        self.network.drop_held(|_, _, _| lose);
        self.network.release();
    }

    pub(crate) fn expire(&mut self, id: ConnectionId) {
        let session = self.connections[&id].session;
        let Some(leader) = self.leader() else {
            return;
        };
        self.act(leader, |server, now, chance, out| {
            server.expire_session(now, session, chance, out);
        });
    }

    /// Whether a server has promised itself to a leader that came to nothing, and so cannot join the one there is.
    pub(crate) fn is_left_out(&self, server: &Server) -> bool {
        let leader = self.leader().map(|leader| self.server(leader.0));
        leader.is_some_and(|leader| server.accepted_epoch > leader.accepted_epoch)
    }

    /// Runs until there is a leader, and all servers that run and are not left out follow it.
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
