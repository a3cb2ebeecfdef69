//! The client handle: one session, over one connection after another.
//!
//! It does what the Java client (3.8) does: it keeps its own clocks, gives up a silent connection after two thirds of
//! the session timeout, and looks for another server. It never knows that its session is over before a server has told
//! it so (unless [`ZooKeeperClientConfig::local_expiry`] is set). Others differ where
//! [`Library`](crate::client_profile::Library) says so.

mod connection;
mod event_thread;
mod isro_search;
mod on_message;
mod pings;
mod requests;
mod servers;
mod settings;
mod watch_registration;
mod watches;

#[cfg(test)]
mod event_thread_tests;
#[cfg(test)]
mod fidelity_tests;
#[cfg(test)]
mod library_tests;
#[cfg(test)]
mod on_message_tests;
#[cfg(test)]
mod persistent_watch_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod read_only_tests;
#[cfg(test)]
mod test_harness;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod timer_fast_path_tests;
#[cfg(test)]
mod watch_tests;

use std::rc::Rc;
use std::time::Duration;

use picklock_checker::{ListTooLong, VirtualTime};
use picklock_clients::completion::Completion;
use picklock_clients::zookeeper::{Path, Reply, Request, SessionId, SessionState, Watcher, Zxid};
use picklock_machines::Chance;
use smallvec::SmallVec;

use super::messages::{ClientMessage, ConnectionId, Password, ServerId, ServerMessage, Xid};
use connection::Phase;
use event_thread::EventThread;
use isro_search::WriterSearch;
use pings::Pings;
use requests::{Unsent, Waiting};
use servers::Servers;
use watches::ClientWatchManager;

pub use event_thread::Caller;
pub use settings::ZooKeeperClientConfig;
pub use watches::WatchTable;

/// What happens to a client.
pub enum Input {
    /// It is to begin to connect. One that has begun is left alone.
    Start,
    /// The application asks for something. On a closed handle it fails at once, and no time passes: the world must make
    /// a contender that repeats such a request for ever take time. If there is no connection, it is kept until it is
    /// known how the next attempt to connect ends.
    Request {
        /// For what.
        request: Request,
        /// Receives the events of the watch, if the request leaves one. It is registered when that is answered.
        watcher: Option<Watcher>,
        /// Receives the answer.
        caller: Caller,
    },
    /// The application subscribes to changes of the session's state. On a closed handle there are none.
    WatchSession {
        /// Receives the changes.
        watcher: Watcher,
    },
    /// A server says something. On a connection that was given up it is not listened to.
    Message {
        /// The connection.
        connection: ConnectionId,
        /// What it says.
        message: ServerMessage,
    },
    /// The application says who it is, now and after each reconnect.
    Authenticate {
        /// By which scheme.
        scheme: Rc<str>,
        /// What the scheme wants to know.
        secret: Rc<[u8]>,
    },
    /// The application gives up the session without a word, as if it had expired.
    Abandon,
    /// The application ends the session.
    Close {
        /// What gets the answer.
        completion: Completion<Reply>,
    },
    /// The latest [`Output::Connect`] has succeeded.
    Opened {
        /// The new connection.
        connection: ConnectionId,
    },
    /// The latest [`Output::Connect`] has failed.
    Refused,
    /// A connection broke, or the server closed it.
    Broken {
        /// The connection.
        connection: ConnectionId,
    },
    /// An [`Output::ProbeIsro`] was answered with yes.
    RwServerFound {
        /// The server that answered.
        server: ServerId,
    },
    /// The time of [`Client::next_wake`] has come.
    Wake,
}

/// What a client wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Open a connection. It is answered by [`Input::Opened`] or [`Input::Refused`], or not at all. It takes back an
    /// earlier one, and so does the end of the session: what was taken back must not be answered any more.
    Connect {
        /// The server to connect to.
        server: ServerId,
    },
    /// Close a connection. What comes from it is not listened to any more.
    Disconnect {
        /// The connection.
        connection: ConnectionId,
    },
    /// Send a message.
    Send {
        /// On which connection.
        connection: ConnectionId,
        /// The message.
        message: ClientMessage,
    },
    /// Ask a server whether it takes writes (`isro`). No is no answer.
    ProbeIsro {
        /// The server.
        server: ServerId,
    },
    /// [`Client::state`] is another now.
    StateChanged(SessionState),
}

/// A client handle. Times are those of its process's own monotonic clock.
///
/// Completions and watchers are filled while an input is handled; that wakes tasks, and runs none. Whatever the input,
/// the timers come first: a process that was stopped for too long gives up its connection before it reads what has
/// queued up there.
///
/// What every message touches comes first, and side by side: by the time of the next message to a client, its memory
/// has left the cache if there are thousands of others.
#[repr(C)]
pub struct Client {
    phase: Phase,
    /// Before this, no timer is due, no ping, and no alarm earlier than the one that was promised.
    quiet_until: VirtualTime,
    last_heard: VirtualTime,
    last_sent: VirtualTime,
    /// When an input came last.
    last_awake: VirtualTime,
    /// From replies only, as in Java: notifications do not move it.
    last_zxid: Zxid,
    session: SessionId,
    /// The number of the next request. Those in `waiting` have the numbers just before it.
    next_xid: Xid,
    state: SessionState,
    /// The state that watchers were last notified of: no state is reported twice in a row.
    told: SessionState,
    /// The application has asked to end the session.
    closing: bool,
    /// Whether there ever was a connection.
    opened_before: bool,
    events: EventThread,
    /// Sent, and not answered.
    waiting: SmallVec<[Waiting; 1]>,
    watches: ClientWatchManager,
    /// Asked for while there was no connection.
    unsent: Vec<Unsent>,
    settings: ZooKeeperClientConfig,
    password: Password,
    /// The session timeout that was granted; before that, the one asked for.
    timeout: u64,
    pings: Pings,
    servers: Servers,
    /// The server that it is connected to, or tries.
    server: ServerId,
    search: WriterSearch,
    /// The schemes and secrets by which the application has authenticated.
    auth_info: Vec<(Rc<str>, Rc<[u8]>)>,
    /// A server did not believe it.
    auth_failed: bool,
    /// The last list that was too long to be read.
    too_long: Option<Box<ListTooLong>>,
}

impl Client {
    /// A client that has not begun to connect. Chance shuffles its list of servers.
    pub fn new(settings: ZooKeeperClientConfig, chance: &mut dyn Chance) -> Self {
        Self {
            settings,
            phase: Phase::Idle,
            state: SessionState::Connecting,
            told: SessionState::Connecting,
            closing: false,
            opened_before: false,
            session: SessionId::default(),
            password: Password::default(),
            timeout: settings.timeout.max(1),
            last_zxid: Zxid::default(),
            last_heard: VirtualTime::ZERO,
            last_sent: VirtualTime::ZERO,
            last_awake: VirtualTime::ZERO,
            quiet_until: VirtualTime::ZERO,
            pings: Pings::default(),
            servers: Servers::new(settings.servers, chance),
            server: ServerId(0),
            search: WriterSearch::default(),
            next_xid: Xid(1),
            waiting: SmallVec::new(),
            unsent: Vec::new(),
            watches: ClientWatchManager::default(),
            events: EventThread::default(),
            auth_info: Vec::new(),
            auth_failed: false,
            too_long: None,
        }
    }

    /// Handles an input. Answers whether [`next_wake`](Self::next_wake) may have become earlier.
    ///
    /// It is written where it is called: there the input is known, so that no message is copied to be looked at.
    #[inline(always)]
    pub fn handle(
        &mut self,
        now: VirtualTime,
        input: Input,
        chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) -> bool {
        let quiet = now < self.quiet_until;
        if !quiet {
            self.run_timers(now, chance, out);
        }
        match input {
            Input::Start => {
                if self.phase == Phase::Idle {
                    self.last_heard = now;
                    self.seek_server(now, chance);
                    self.run_timers(now, chance, out);
                }
            }
            Input::Request {
                request,
                watcher,
                caller,
            } => self.request(now, request, watcher, caller, out),
            Input::WatchSession { watcher } => {
                if self.state != SessionState::Closed {
                    self.watches.watch_session(watcher);
                }
            }
            Input::Message {
                connection,
                message,
            } => {
                if self.phase.connection() == Some(connection) {
                    self.on_message(now, connection, message, out);
                }
            }
            Input::Authenticate { scheme, secret } => self.authenticate(now, scheme, secret, out),
            Input::Abandon => self.abandon(out),
            Input::Close { completion } => self.close(now, completion, out),
            Input::Opened { connection } => self.opened(now, connection, out),
            Input::Refused => {
                if self.phase == Phase::Connecting {
                    self.clean_up(now);
                }
            }
            Input::Broken { connection } => {
                if self.phase.connection() == Some(connection) {
                    self.clean_up(now);
                }
            }
            Input::RwServerFound { server } => self.writer_found(now, server, out),
            Input::Wake => {}
        }
        let settled = quiet && matches!(self.phase, Phase::Connected { .. });
        if settled {
            self.last_awake = now;
        } else {
            self.settle(now, chance, out);
        }
        !settled
    }

    /// When it wants [`Input::Wake`] at the latest. May have passed: then at once.
    pub fn next_wake(&self) -> VirtualTime {
        self.phase_ends_at()
            .min(self.ping_alarm())
            .min(self.search_at())
            .min(self.request_ends_at())
    }

    /// The state of the session as the client knows it. It is `Connected` until the loss of the connection is told,
    /// which takes [`ZooKeeperClientConfig::cleanup_pause`].
    pub fn state(&self) -> SessionState {
        self.state
    }

    /// The timeout of the session, as it was granted; before that, as it was asked for.
    pub fn timeout(&self) -> Duration {
        Duration::from_micros(self.timeout)
    }

    /// The id of the session; zero before there is one.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// How many requests have not been answered, sent or not.
    #[inline]
    pub fn requests_in_flight(&self) -> usize {
        // Nothing is kept while there is a connection, so that need not be looked at then.
        let unsent = match self.phase {
            Phase::Connected { .. } => 0,
            _ => self.unsent.len(),
        };
        self.waiting.len() + unsent
    }

    /// The server that it is connected to.
    pub fn server(&self) -> Option<ServerId> {
        match self.phase {
            Phase::Connected { .. } => Some(self.server),
            Phase::Idle
            | Phase::Cleaning { .. }
            | Phase::Sleeping { .. }
            | Phase::Connecting
            | Phase::Greeting { .. }
            | Phase::Dying { .. }
            | Phase::Closed => None,
        }
    }

    /// What it waits for, in the order of the paths. A node and table is listed once for each watcher object; also a
    /// forgotten one, for the server knows no better.
    pub fn watches(&self) -> impl Iterator<Item = (&Path, WatchTable)> {
        self.watches.iter()
    }
}
