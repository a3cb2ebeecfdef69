//! The state of a client, and what goes into it and comes out of it.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_machines::{Chance, ConnectionId, ServerId};

use crate::rpc::{
    ClientBody, ClientMessage, LeaseId, Request, Response, ResponseHeader, ServerMessage,
    WatchCreateRequest, WatchId, WatchResponse,
};
use crate::rpctypes::Status;

/// A caller's number for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallId(pub u32);

/// A caller's number for a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WatchKey(pub u32);

/// How a client is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSettings {
    /// The members that it connects to.
    pub endpoints: Vec<ServerId>,
    /// `DialTimeout`: with a second more, that is how long a new lease waits for its first answer.
    pub dial_timeout: Option<Duration>,
    /// Whether calls and streams fail at once at a member that knows no leader.
    pub require_leader: bool,
}

/// What happens to a client.
#[derive(Clone, Debug)]
pub enum Input {
    /// It has a connection to a member.
    Opened(ConnectionId, ServerId),
    /// A connection could not be made.
    Refused(ServerId),
    /// A connection to a member is gone, whether it was open or not.
    Broken(ConnectionId, ServerId),
    /// A message from a member.
    Received(ConnectionId, ServerMessage),
    /// A caller asks for something, until a moment.
    Call(CallId, Request, VirtualTime),
    /// A caller has given up.
    Cancel(CallId),
    /// A caller wants a lease to be kept alive.
    KeepAlive(LeaseId),
    /// And does not any more.
    StopKeepAlive(LeaseId),
    /// A caller watches.
    Watch(WatchKey, WatchCreateRequest),
    /// And does not any more.
    CancelWatch(WatchKey),
    /// It is time to look at the clock.
    Wake,
}

/// Why a watch is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchEnd {
    /// What it wanted is forgotten.
    Compacted(i64),
    /// The member has cancelled it.
    Canceled(&'static str),
    /// Its stream has failed with an error that is not worth another try.
    Failed(Status),
}

/// What a client wants done, or has to say.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// It wants a connection to a member.
    Connect(ServerId),
    /// A message goes out.
    Send(ConnectionId, ClientMessage),
    /// A call has come to an end.
    Answered(CallId, Result<(ResponseHeader, Response), Status>),
    /// A lease has so many seconds again.
    KeptAlive(LeaseId, i64),
    /// A lease is not kept alive any more: it is over, or it may be.
    LeaseLost(LeaseId),
    /// A watch has something to tell.
    Told(WatchKey, WatchResponse),
    /// A watch is over.
    WatchEnded(WatchKey, WatchEnd),
}

/// A call that has no answer yet.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) request: Request,
    pub(super) deadline: VirtualTime,
    /// How often it was tried.
    pub(super) attempt: u32,
    pub(super) state: CallState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallState {
    /// It is on its way.
    Sent(ConnectionId, u32),
    /// It is tried once more at this moment.
    Waits(VirtualTime),
}

/// A lease that is kept alive.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeepAlive {
    pub(super) next: VirtualTime,
    pub(super) deadline: VirtualTime,
}

/// A stream: where it is, or when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Open(ConnectionId, u32),
    OpensAt(VirtualTime),
}

impl Stream {
    pub(super) fn is(self, connection: ConnectionId, call: u32) -> bool {
        self == Self::Open(connection, call)
    }

    pub(super) fn is_at(self, at: ConnectionId) -> bool {
        matches!(self, Self::Open(connection, _) if connection == at)
    }

    pub(super) fn opens_at(self) -> VirtualTime {
        match self {
            Self::Open(..) => VirtualTime::NEVER,
            Self::OpensAt(at) => at,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Watch {
    /// The request by which the client begins it once more.
    pub(super) request: WatchCreateRequest,
    /// What the member of the stream calls it.
    pub(super) id: Option<WatchId>,
}

/// Signs of life: one stream for all leases, and two loops.
#[derive(Clone, Debug)]
pub(super) struct KeepAlives {
    pub(super) leases: BTreeMap<LeaseId, KeepAlive>,
    pub(super) stream: Stream,
    pub(super) next_send: VirtualTime,
    pub(super) next_check: VirtualTime,
}

/// Watches: one stream for all.
#[derive(Clone, Debug)]
pub(super) struct Watches {
    pub(super) watches: BTreeMap<WatchKey, Watch>,
    pub(super) stream: Stream,
    /// Those whose begin was asked, and is not answered.
    pub(super) beginning: VecDeque<WatchKey>,
    pub(super) backoff: Duration,
}

/// A client.
#[derive(Clone, Debug)]
pub struct Client {
    pub(super) settings: ClientSettings,
    pub(super) connections: BTreeMap<ServerId, ConnectionId>,
    /// Members that are to be connected to at these moments, and how often that has failed.
    pub(super) dials: BTreeMap<ServerId, (VirtualTime, u32)>,
    pub(super) turn: usize,
    pub(super) numbers: u32,
    pub(super) calls: BTreeMap<CallId, Call>,
    pub(super) keep_alives: KeepAlives,
    pub(super) watches: Watches,
}

/// What is at hand while an input is handled.
pub(super) struct Turn<'a> {
    pub(super) now: VirtualTime,
    pub(super) chance: &'a mut dyn Chance,
    pub(super) out: &'a mut Vec<Output>,
}

impl Client {
    /// A client that has no connection yet: it wants some as soon as it is woken.
    pub fn new(settings: ClientSettings) -> Self {
        let dials = settings.endpoints.iter();
        Self {
            dials: dials
                .map(|member| (*member, (VirtualTime::ZERO, 0)))
                .collect(),
            settings,
            connections: BTreeMap::new(),
            turn: 0,
            numbers: 0,
            calls: BTreeMap::new(),
            keep_alives: KeepAlives {
                leases: BTreeMap::new(),
                stream: Stream::OpensAt(VirtualTime::ZERO),
                next_send: VirtualTime::NEVER,
                next_check: VirtualTime::NEVER,
            },
            watches: Watches {
                watches: BTreeMap::new(),
                stream: Stream::OpensAt(VirtualTime::ZERO),
                beginning: VecDeque::new(),
                backoff: Duration::from_millis(1),
            },
        }
    }

    /// How many answers it waits for that come as soon as a member can give them, and not when a lock is free.
    pub fn calls_under_way(&self) -> usize {
        let calls = self.calls.values();
        calls.filter(|call| !call.request.waits_for_turn()).count()
    }

    /// The connection of the member that was asked last, if it has it still.
    pub fn last_connection(&self) -> Option<ConnectionId> {
        let count = self.settings.endpoints.len();
        let member = self.settings.endpoints[(self.turn + count - 1) % count];
        self.connections.get(&member).copied()
    }

    /// The connection of the next endpoint that has one, and a number for a call on it.
    pub(super) fn pick(&mut self) -> Option<(ConnectionId, u32)> {
        let count = self.settings.endpoints.len();
        let order = (self.turn..self.turn + count).map(|place| place % count);
        let ready = order.filter_map(|place| {
            let connection = self.connections.get(&self.settings.endpoints[place]);
            connection.map(|connection| (place, *connection))
        });
        let (place, connection) = ready.into_iter().next()?;
        self.turn = place + 1;
        self.numbers += 1;
        Some((connection, self.numbers))
    }

    pub(super) fn send(
        &self,
        turn: &mut Turn,
        (connection, call): (ConnectionId, u32),
        body: ClientBody,
    ) {
        let message = ClientMessage {
            call,
            require_leader: self.settings.require_leader,
            body,
        };
        turn.out.push(Output::Send(connection, message));
    }
}
