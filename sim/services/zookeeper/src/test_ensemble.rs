//! An ensemble and the connections of its clients, on the network of a test.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::zookeeper::{Path, SessionId};
use picklock_machines::{Boring, Chance};
use picklock_testkit::{Cluster, Network};

use super::messages::{
    ClientMessage, ConnectionId, Password, ServerId, ServerMessage, notifications,
};
use super::quorum_messages::PeerMessage;
use super::state::{Input, Output, QuorumPeerConfig, Server};
use super::txn::ReapRule;

/// Nodes that stay.
fn lasting(nodes: &[Path]) -> Vec<(Path, ReapRule)> {
    let nodes = nodes.iter();
    nodes
        .map(|path| (Path::clone(path), ReapRule::Never))
        .collect()
}

/// An end of a connection, or of the links between servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    /// A server.
    Server(ServerId),
    /// The client's end of a connection.
    Client(ConnectionId),
}

/// What is in flight.
#[derive(Clone, Debug)]
pub enum Message {
    /// From a client to its server.
    Client(ClientMessage),
    /// The client's end of a connection is gone.
    ClientGone,
    /// From a server to a client.
    Server(ServerMessage),
    /// The server has closed the connection.
    Closed,
    /// From a server to another.
    Peer(PeerMessage),
}

/// The client's end of a connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// To which server it goes.
    pub server: ServerId,
    /// It is not closed.
    pub open: bool,
    /// The session that the server has granted.
    pub session: SessionId,
    /// The password of that session.
    pub password: Password,
    /// What has come and was not read.
    pub inbox: Vec<ServerMessage>,
}

/// Observes what servers do besides sending messages.
pub trait Observer {
    /// A server has handled an input.
    fn handled(&mut self, _server: &Server) {}
    /// It has output that does not go over the network.
    fn said(&mut self, _server: ServerId, _output: Output) {}
}

impl Observer for () {}

/// Servers, connections, and what is in flight.
pub struct Ensemble<O> {
    /// The servers, by their ids.
    pub servers: Vec<Server>,
    /// What is not determined comes from here.
    pub chance: Box<dyn Chance>,
    /// The connections that were ever opened.
    pub connections: BTreeMap<ConnectionId, Connection>,
    /// The network that they are on.
    pub network: Network<Node, Message>,
    /// Observes what servers do.
    pub observer: O,
    out: Vec<Output>,
}

impl<O: Observer> Ensemble<O> {
    /// Servers that have formed an ensemble already, in which these nodes are, and a network with this delay.
    pub fn new(settings: &Rc<QuorumPeerConfig>, nodes: &[Path], delay: Duration) -> Self
    where
        O: Default,
    {
        Self {
            servers: Server::formed(settings, &lasting(nodes)),
            chance: Box::new(Boring),
            connections: BTreeMap::new(),
            network: Network::new(delay),
            observer: O::default(),
            out: Vec::new(),
        }
    }

    /// Opens a connection and sends its first message; runs nothing. It is closed at once if the server does not serve.
    pub fn open(&mut self, server: u8, hello: ClientMessage) -> ConnectionId {
        let id = ConnectionId(self.connections.len() as u32 + 1);
        let connection = Connection {
            server: ServerId(server),
            open: self.servers[usize::from(server)].is_serving(),
            session: SessionId(0),
            password: Password(0),
            inbox: Vec::new(),
        };
        self.connections.insert(id, connection);
        self.send(id, hello);
        id
    }

    /// A client sends a message.
    pub fn send(&mut self, id: ConnectionId, message: ClientMessage) {
        self.tell_server(id, Message::Client(message));
    }

    /// A connection breaks; both sides learn of it.
    pub fn cut(&mut self, id: ConnectionId) {
        self.close(id);
        self.tell_server(id, Message::ClientGone);
    }

    fn tell_server(&mut self, id: ConnectionId, message: Message) {
        let server = Node::Server(self.connections[&id].server);
        self.network.send(Node::Client(id), server, message);
    }

    fn close(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.open = false;
        }
    }

    /// A server dies, and its connections with it.
    pub fn crash(&mut self, server: u8) {
        let dead = ServerId(server);
        self.network.crash(Node::Server(dead));
        self.servers[usize::from(server)].crash(self.network.now());
        for connection in self.connections.values_mut() {
            connection.open &= connection.server != dead;
        }
        for index in 0..self.servers.len() {
            let other = &self.servers[index];
            if other.id() != dead && other.is_running() {
                self.input(other.id(), Input::PeerLost { peer: dead });
            }
        }
    }

    /// It starts again.
    pub fn restart(&mut self, server: u8) {
        let id = ServerId(server);
        self.network.restart(Node::Server(id));
        self.act(id, |server, now, chance, out| {
            server.restart(now, chance, out);
        });
    }

    /// Something happens to a server.
    pub fn input(&mut self, to: ServerId, input: Input) {
        self.act(to, |server, now, chance, out| {
            server.handle(now, input, chance, out);
        });
    }

    /// Does something to a server, and what the server wants done.
    pub fn act(
        &mut self,
        id: ServerId,
        act: impl FnOnce(&mut Server, VirtualTime, &mut dyn Chance, &mut Vec<Output>),
    ) {
        let mut out = std::mem::take(&mut self.out);
        let server = &mut self.servers[usize::from(id.0)];
        act(server, self.network.now(), &mut *self.chance, &mut out);
        self.observer.handled(server);
        for output in out.drain(..) {
            self.output(id, output);
        }
        self.out = out;
    }

    fn output(&mut self, from: ServerId, output: Output) {
        let own = Node::Server(from);
        let mut tell = |connection, message| {
            self.network.send(own, Node::Client(connection), message);
        };
        match output {
            Output::ToClient {
                connection,
                message,
                ..
            } => tell(connection, Message::Server(message)),
            Output::Notify {
                connections,
                kind,
                path,
                ..
            } => {
                for (connection, message) in notifications(connections, kind, path) {
                    tell(connection, Message::Server(message));
                }
            }
            Output::CloseClient { connection } => tell(connection, Message::Closed),
            Output::ToPeer { to, message, at } => {
                let message = Message::Peer(message);
                self.network.send_at(at, own, Node::Server(to), message);
            }
            said @ (Output::Committed(_)
            | Output::Proposed { .. }
            | Output::SessionExpired { .. }
            | Output::BecameLeader
            | Output::StartedServing
            | Output::StoppedServing) => self.observer.said(from, said),
        }
    }

    fn note_contact(&mut self, id: ConnectionId, message: ServerMessage) {
        let known = self.connections.get_mut(&id);
        let connection = known.filter(|connection| connection.open);
        let Some(connection) = connection else {
            return;
        };
        if let ServerMessage::Connected {
            session, password, ..
        } = message
        {
            connection.session = session;
            connection.password = password;
        }
        connection.inbox.push(message);
    }
}

impl<O: Observer> Cluster for Ensemble<O> {
    type Node = Node;
    type Message = Message;

    fn network(&self) -> &Network<Node, Message> {
        &self.network
    }

    fn network_mut(&mut self) -> &mut Network<Node, Message> {
        &mut self.network
    }

    fn timers(&self) -> impl Iterator<Item = (VirtualTime, Node)> {
        let timer = |server: &Server| (server.next_wake(), Node::Server(server.id()));
        self.servers.iter().map(timer)
    }

    fn on_message(&mut self, from: Node, to: Node, message: Message) {
        match (from, to, message) {
            (Node::Client(connection), Node::Server(to), Message::Client(message)) => {
                if self.connections[&connection].open {
                    let input = Input::Client {
                        connection,
                        message,
                    };
                    self.input(to, input);
                }
            }
            (Node::Client(connection), Node::Server(to), Message::ClientGone) => {
                self.input(to, Input::ClientGone { connection });
            }
            (Node::Server(from), Node::Server(to), Message::Peer(message)) => {
                self.input(to, Input::Peer { from, message });
            }
            (_, Node::Client(id), Message::Server(message)) => self.note_contact(id, message),
            (_, Node::Client(id), Message::Closed) => self.close(id),
            (from, to, message) => unreachable!("{from:?} sends {message:?} to {to:?}"),
        }
    }

    fn on_timer(&mut self, node: Node) {
        if let Node::Server(server) = node {
            self.input(server, Input::Wake);
        }
    }
}
