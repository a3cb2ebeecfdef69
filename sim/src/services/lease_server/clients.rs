//! Clients of the lease server: their claims, and the replies.

use picklock_checker::{ContenderId, LockId};
use picklock_clients::RequestKind;
use picklock_clients::completion::Completion;
use picklock_clients::lease_server::{Claim, Reply, Unanswered};
use picklock_lease_server::Input;

use super::{LeaseServerEvent, SERVER, SimulatedLeaseServer};
use crate::event::Event;
use crate::network::{ConnectionId, RequestId};
use crate::process::Thread;
use crate::trace::MessageDirection::{ToClient, ToServer};
use crate::trace::MessageStep::{Lost, Received, Sent};
use crate::world::triggers::{Moment, Occasion};
use crate::world::{MessageFate, World};

/// A client. It asks one thing at a time: whoever asks again has given up waiting.
pub(super) struct LeaseClient {
    pub of: Thread,
    pub waiting: Option<(RequestId, Completion<Result<Reply, Unanswered>>)>,
    connection: ConnectionId,
    sent: u32,
    heard: u32,
}

impl World<SimulatedLeaseServer> {
    /// Gives a thread a new client; answers its place.
    pub(super) fn add_client(&mut self, of: Thread) -> u32 {
        let index = self.service.clients.len() as u32;
        self.service.clients.push(LeaseClient {
            of,
            waiting: None,
            connection: self.connections.open((of.process, index), SERVER),
            sent: 0,
            heard: 0,
        });
        index
    }

    /// A client claims the lock.
    pub(super) fn submit(
        &mut self,
        index: u32,
        claim: Claim,
        done: Completion<Result<Reply, Unanswered>>,
    ) {
        let client = &mut self.service.clients[index as usize];
        let of = client.of;
        if self.connections.get(client.connection).broken {
            client.connection = self.connections.open((of.process, index), SERVER);
        }
        client.sent += 1;
        let (connection, number) = (client.connection, client.sent);
        let request = RequestId { connection, number };
        client.waiting = Some((request, done));
        let sent = Occasion::Sent(RequestKind::Claim);
        self.moment(Moment::new(of.contender.0, sent).about(request));
        let Some(extra) = self.sends(connection, &claim) else {
            return self.cut(connection);
        };
        let at = self.reaches_server(connection, extra);
        let event = LeaseServerEvent::ToServer { request, claim };
        self.timeline.add(at, Event::Service(event));
    }

    /// How many claims of a contender have had no answer.
    pub(super) fn unanswered_of(&self, by: ContenderId) -> u64 {
        let clients = self.service.clients.iter();
        let of = clients.filter(|client| client.of.contender == by);
        of.map(|client| u64::from(client.sent - client.heard)).sum()
    }

    /// The contender whose client has a connection.
    pub(super) fn asker(&self, connection: ConnectionId) -> ContenderId {
        let client = self.connections.get(connection).client;
        self.service.clients[client as usize].of.contender
    }

    /// A claim reaches the server.
    pub(super) fn at_server(&mut self, request: RequestId, claim: Claim) {
        let ends = *self.connections.get(request.connection);
        if ends.broken {
            return self.trace(request.connection, (ToServer, Lost), &claim);
        }
        self.trace(request.connection, (ToServer, Received), &claim);
        if self.draining && self.tasks.are_in(ends.process) {
            self.recorder.counts.requests += 1;
        }
        self.service.answering = request.number;
        let connection = request.connection;
        self.server_input(Input::Claim { connection, claim });
        let committed = Occasion::Committed(RequestKind::Claim);
        self.moment(Moment::new(self.asker(connection).0, committed).about(request));
    }

    /// The server answers the claim that has just come by a connection.
    pub(super) fn send_to_client(&mut self, connection: ConnectionId, reply: Reply) {
        let number = self.service.answering;
        let request = RequestId { connection, number };
        let by = self.asker(connection);
        let answered = Occasion::Answered(RequestKind::Claim);
        self.trace(connection, (ToClient, Sent), &reply);
        let extra = match self.fate_of(by.0, answered, request) {
            None => 0,
            Some(MessageFate::Swallowed) => {
                return self.trace(connection, (ToClient, Lost), &reply);
            }
            Some(MessageFate::Late(by)) => by,
            Some(MessageFate::Lost) => {
                self.trace(connection, (ToClient, Lost), &reply);
                return self.cut(connection);
            }
        };
        let at = self.reaches_client(connection, self.now, extra);
        let event = LeaseServerEvent::ToClient { request, reply };
        self.timeline.add(at, Event::Service(event));
    }

    /// An answer reaches its client.
    pub(super) fn at_client(&mut self, request: RequestId, reply: Reply) {
        let ends = *self.connections.get(request.connection);
        let client = &mut self.service.clients[ends.client as usize];
        let waiting = client.waiting.take_if(|(waiting, _)| *waiting == request);
        client.heard += u32::from(waiting.is_some());
        let by = client.of.contender;
        let step = if waiting.is_some() { Received } else { Lost };
        self.trace(request.connection, (ToClient, step), &reply);
        let Some((_, done)) = waiting else {
            return;
        };
        if reply == Reply::Refused && self.believes_without_owning(by) {
            self.refused(by, LockId::default(), (SERVER, true), 1);
        }
        let received = self.answer_arrives(|answered| answered == request);
        done.complete(Ok(reply));
        if let Some(received) = received {
            self.moment(received);
        }
    }

    /// Writes down that a message has come to one who is dead, or died before it was read.
    #[cold]
    pub(super) fn trace_lost(&mut self, event: &LeaseServerEvent) {
        match event {
            LeaseServerEvent::ToServer { request, claim } => {
                self.trace(request.connection, (ToServer, Lost), claim);
            }
            LeaseServerEvent::ToClient { request, reply } => {
                self.trace(request.connection, (ToClient, Lost), reply);
            }
            LeaseServerEvent::ServerWake => {}
        }
    }

    /// A connection breaks. What is under way is lost with it, and whoever waits is told.
    fn cut(&mut self, connection: ConnectionId) {
        let ends = self.connections.get_mut(connection);
        ends.broken = true;
        let client = &mut self.service.clients[ends.client as usize];
        if let Some((_, done)) = client.waiting.take() {
            done.complete(Err(Unanswered));
        }
    }

    /// The connections of these clients break.
    pub(super) fn cut_clients(&mut self, which: impl Fn(&LeaseClient) -> bool) {
        for index in 0..self.service.clients.len() {
            let client = &self.service.clients[index];
            if which(client) {
                self.cut(client.connection);
            }
        }
    }
}
