//! Clients that several tasks of a process share: whose command is whose.

use picklock_checker::ContenderId;
use picklock_redis::{Caller, Output};

use super::SimulatedRedis;
use crate::network::ConnectionId;
use crate::world::World;

impl World<SimulatedRedis> {
    /// The contender whose client has a connection; of a shared client, the contender that began it.
    #[inline(always)]
    pub(super) fn owner_at(&self, connection: ConnectionId) -> ContenderId {
        let client = self.connections.get(connection).client;
        self.host.clients[client as usize].by
    }

    /// The contenders whose client has a connection.
    pub(super) fn users_at(&self, connection: ConnectionId) -> Vec<ContenderId> {
        self.users(self.client_of(connection))
    }

    /// The contender whose command a server executes. It executes in order: what it has answered and not sent yet comes
    /// before.
    #[inline]
    pub(super) fn caller(&self, caller: Caller) -> ContenderId {
        let connection = ConnectionId(caller.connection.0);
        match self.shares_clients() {
            true => self.caller_among(caller),
            false => self.owner_at(connection),
        }
    }

    #[cold]
    fn caller_among(&self, caller: Caller) -> ContenderId {
        let outputs = self.host.server_outputs.iter();
        let answers = outputs.take(caller.outputs_before);
        let answers = answers.filter(|output| is_answer(output, caller.connection));
        self.sender_of(ConnectionId(caller.connection.0), answers.count())
    }

    /// The contender whose command a server answers next.
    #[inline(always)]
    pub(super) fn answered_at(&self, connection: ConnectionId) -> ContenderId {
        match self.shares_clients() {
            true => self.sender_of(connection, 0),
            false => self.owner_at(connection),
        }
    }

    /// The contender whose command arrives: the first of those that have not arrived yet.
    #[inline(always)]
    pub(super) fn arrived_at(&mut self, connection: ConnectionId) -> ContenderId {
        let traffic = &mut self.service.traffic[connection.0 as usize];
        let place = traffic.arrived.saturating_sub(traffic.answered) as usize;
        traffic.arrived += 1;
        match self.shares_clients() {
            true => self.sender_of(connection, place),
            false => self.owner_at(connection),
        }
    }

    /// The contender whose command is at this place of those that are not answered.
    fn sender_of(&self, connection: ConnectionId, place: usize) -> ContenderId {
        let unanswered = &self.service.traffic[connection.0 as usize].unanswered;
        let sent = unanswered.get(place);
        sent.map_or_else(|| self.owner_at(connection), |sent| sent.by)
    }
}

fn is_answer(output: &Output, to: ConnectionId) -> bool {
    match output {
        Output::ToClient { connection, value } => *connection == to && !super::is_message(value),
        _ => false,
    }
}
