//! Clients that several tasks of a process share: whose command is whose.

use picklock_checker::ContenderId;
use picklock_redis::{ConnectionId as At, Output};

use super::SimulatedRedis;
use crate::event::ClientId;
use crate::network::ConnectionId;
use crate::process::Thread;
use crate::world::World;

impl World<SimulatedRedis> {
    /// A client for a thread: that of its process, if there is one to be shared.
    pub(super) fn client_for(&mut self, thread: Thread) -> ClientId {
        let clients = &self.service.clients;
        let lives = |client: ClientId| clients[client.0 as usize].alive;
        let shared = self.shared_client(thread.process, lives);
        self.stands_on(thread, shared)
            .unwrap_or_else(|| self.add_client(thread))
    }

    /// Whose client has a connection; of one that tasks share, whoever began it.
    pub(super) fn owner_at(&self, connection: ConnectionId) -> ContenderId {
        let client = self.connections.get(connection).client;
        self.service.clients[client as usize].by
    }

    /// Everybody whose client has a connection.
    pub(super) fn users_at(&self, connection: ConnectionId) -> Vec<ContenderId> {
        let ends = self.connections.get(connection);
        match self.shares_clients() {
            true => { self.users_of(ends.process, ClientId(ends.client)) }.collect(),
            false => vec![self.owner_at(connection)],
        }
    }

    /// Who has asked for what a server executes for a connection. It executes in order: what it has answered and not
    /// sent yet comes before.
    #[inline]
    pub(super) fn caller_at(&self, connection: ConnectionId) -> ContenderId {
        match self.shares_clients() {
            true => self.caller_among(connection),
            false => self.owner_at(connection),
        }
    }

    #[cold]
    fn caller_among(&self, connection: ConnectionId) -> ContenderId {
        let at = At(connection.0);
        let outputs = self.service.server_outputs.iter();
        let is_answer = |output: &&Output| match output {
            Output::ToClient { connection, value } => {
                *connection == at && !super::is_message(value)
            }
            _ => false,
        };
        let answers = outputs.filter(is_answer).count();
        let unanswered = &self.service.traffic[connection.0 as usize].unanswered;
        let executed = unanswered.get(answers.saturating_sub(1));
        executed.map_or_else(|| self.owner_at(connection), |it| it.by)
    }
}
