//! For the tests of the client handle: a world in which the test plays the servers.

use std::rc::Rc;

use futures_lite::future::{block_on, poll_once};
use picklock_checker::VirtualTime;
use picklock_clients::completion::{Answer, Completion, completion};
use picklock_clients::zookeeper::{
    EventType, Reply, Request, Response, SessionId, SessionState, Stat, Watch, Watcher, Zxid,
};
use picklock_machines::{Boring, Chance};

use super::{Caller, Client, Input, Output, ZooKeeperClientConfig};
use crate::messages::{ClientMessage, ConnectionId, Password, ServerId, ServerMessage, Xid, path};

pub(super) const SECOND: u64 = 1_000_000;
pub(super) const MILLI: u64 = 1_000;
/// The session timeout: a connection may be silent for four seconds.
pub(super) const TIMEOUT: u64 = 6 * SECOND;

/// Always takes the last of the choices.
pub(super) struct Worst;

impl Chance for Worst {
    fn choose(&mut self, options: u32) -> u32 {
        options - 1
    }
}

/// A client and its clock.
pub(super) struct ClientHarness {
    pub(super) client: Client,
    pub(super) chance: Box<dyn Chance>,
    /// The client has said, since this was last unset, that it may want to wake earlier than before.
    pub(super) earlier: bool,
    now: u64,
}

impl ClientHarness {
    pub(super) fn new(settings: ZooKeeperClientConfig) -> Self {
        Self {
            client: Client::new(settings, &mut Boring),
            chance: Box::new(Boring),
            earlier: false,
            now: 0,
        }
    }

    /// A client of three servers, connected to the first by connection 1 from time zero on.
    pub(super) fn connected() -> Self {
        let mut harness = Self::new(ZooKeeperClientConfig::new(TIMEOUT, 3));
        assert_eq!(harness.start(), [connect(0)]);
        harness.accept(1);
        harness
    }

    pub(super) fn start(&mut self) -> Vec<Output> {
        self.input(Input::Start)
    }

    pub(super) fn input(&mut self, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        let now = VirtualTime::from_micros(self.now);
        self.earlier |= self.client.handle(now, input, &mut *self.chance, &mut out);
        out
    }

    /// The process is stopped until then: no timer is looked at.
    pub(super) fn stop_until(&mut self, micros: u64) {
        self.now = micros;
    }

    /// Time passes, and the client wakes whenever it wants to.
    pub(super) fn pass_until(&mut self, micros: u64) -> Vec<(u64, Output)> {
        let mut outputs = Vec::new();
        while self.client.next_wake().micros() <= micros {
            self.now = self.now.max(self.client.next_wake().micros());
            let now = self.now;
            outputs.extend(self.input(Input::Wake).into_iter().map(|out| (now, out)));
        }
        self.now = micros;
        outputs
    }

    /// The connection succeeds, and the server grants the session 7.
    pub(super) fn accept(&mut self, connection: u32) -> Vec<Output> {
        let mut outputs = self.input(Input::Opened {
            connection: ConnectionId(connection),
        });
        outputs.extend(self.hear(
            connection,
            ServerMessage::Connected {
                session: SessionId(7),
                password: Password(77),
                timeout: TIMEOUT,
                read_only: false,
            },
        ));
        outputs
    }

    pub(super) fn hear(&mut self, connection: u32, message: ServerMessage) -> Vec<Output> {
        let connection = ConnectionId(connection);
        self.input(Input::Message {
            connection,
            message,
        })
    }

    /// Watches the session while no ping is due: nothing is said.
    pub(super) fn watch_session(&mut self, watcher: Watcher) {
        assert_eq!(self.watch_session_and_ping(watcher), []);
    }

    pub(super) fn watch_session_and_ping(&mut self, watcher: Watcher) -> Vec<Output> {
        self.input(Input::WatchSession { watcher })
    }

    pub(super) fn reply(&mut self, connection: u32, xid: u32, reply: Reply) -> Vec<Output> {
        let (xid, zxid) = (Xid(xid), Zxid(u64::from(xid)));
        self.hear(connection, ServerMessage::Reply { xid, zxid, reply })
    }

    pub(super) fn notify(&mut self, connection: u32, kind: EventType, node: &str) -> Vec<Output> {
        let path = path(node);
        self.hear(connection, ServerMessage::Notification { kind, path })
    }

    pub(super) fn broken(&mut self, connection: u32) -> Vec<Output> {
        let connection = ConnectionId(connection);
        self.input(Input::Broken { connection })
    }

    pub(super) fn ask(
        &mut self,
        request: Request,
        watcher: Option<Watcher>,
    ) -> (Answer<Reply>, Vec<Output>) {
        self.ask_for(request, watcher, Caller::waiting)
    }

    /// A callback is to get the answer.
    pub(super) fn ask_in_background(&mut self, request: Request) -> Answer<Reply> {
        self.ask_for(request, None, Caller::in_background).0
    }

    fn ask_for(
        &mut self,
        request: Request,
        watcher: Option<Watcher>,
        caller: fn(Completion<Reply>) -> Caller,
    ) -> (Answer<Reply>, Vec<Output>) {
        let (completion, answer) = completion();
        let caller = caller(completion);
        let out = self.input(Input::Request {
            request,
            watcher,
            caller,
        });
        (answer, out)
    }

    pub(super) fn close(&mut self) -> (Answer<Reply>, Vec<Output>) {
        let (completion, answer) = completion();
        (answer, self.input(Input::Close { completion }))
    }

    /// Leaves a watch by a request that is answered at once, as request `xid`.
    pub(super) fn watch(&mut self, xid: u32, request: Request, reply: Reply, watcher: &Watcher) {
        self.ask(request, Some(watcher.clone()));
        self.reply(1, xid, reply);
    }
}

pub(super) fn connect(server: u8) -> Output {
    Output::Connect {
        server: ServerId(server),
    }
}

pub(super) fn disconnect(connection: u32) -> Output {
    Output::Disconnect {
        connection: ConnectionId(connection),
    }
}

pub(super) fn send(connection: u32, message: ClientMessage) -> Output {
    Output::Send {
        connection: ConnectionId(connection),
        message,
    }
}

pub(super) fn send_request(connection: u32, xid: u32, request: Request) -> Output {
    let xid = Xid(xid);
    send(connection, ClientMessage::Request { xid, request })
}

pub(super) fn exists(node: &str) -> Request {
    Request::Exists {
        path: path(node),
        watch: true,
    }
}

pub(super) fn get_data(node: &str) -> Request {
    Request::GetData {
        path: path(node),
        watch: true,
    }
}

pub(super) fn get_children(node: &str) -> Request {
    Request::GetChildren {
        path: path(node),
        watch: true,
        with_stat: false,
    }
}

pub(super) fn sync() -> Request {
    Request::Sync { path: path("/") }
}

pub(super) fn is_there() -> Reply {
    Ok(Response::Exists(Rc::default()))
}

pub(super) fn data() -> Reply {
    Ok(Response::Data {
        data: Default::default(),
        stat: Box::<Stat>::default(),
    })
}

pub(super) fn children() -> Reply {
    Ok(Response::Children(Rc::default()))
}

/// The answer, if there is one.
pub(super) fn answered(answer: &mut Answer<Reply>) -> Option<Reply> {
    block_on(poll_once(answer))
}

/// What was told, and not yet taken: `state connected`, or `deleted /a`.
pub(super) fn told(watch: &Watch) -> Vec<String> {
    let next = || block_on(poll_once(Box::pin(watch.next())));
    std::iter::from_fn(next)
        .map(|event| match event.kind {
            EventType::Session(SessionState::Connecting) => "disconnected".to_owned(),
            EventType::Session(SessionState::Connected) => "connected".to_owned(),
            EventType::Session(SessionState::ConnectedReadOnly) => "read-only".to_owned(),
            EventType::Session(SessionState::Closed) => "closed".to_owned(),
            EventType::NodeCreated => format!("created {}", event.path),
            EventType::NodeDeleted => format!("deleted {}", event.path),
            EventType::NodeDataChanged => format!("changed {}", event.path),
            EventType::NodeChildrenChanged => format!("children {}", event.path),
            EventType::DataWatchRemoved => format!("data watch removed {}", event.path),
            EventType::ChildWatchRemoved => format!("child watch removed {}", event.path),
            EventType::PersistentWatchRemoved => format!("lasting watch removed {}", event.path),
        })
        .collect()
}

/// What the client watches: `/a Data`.
pub(super) fn watches(harness: &ClientHarness) -> Vec<String> {
    harness
        .client
        .watches()
        .map(|(path, table)| format!("{path} {table:?}"))
        .collect()
}
