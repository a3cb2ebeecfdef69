//! Connections: how a client connects, establishes its session, and disconnects.

use picklock_checker::VirtualTime;
use picklock_clients::zookeeper::{SessionId, SessionState, ZkError};
use picklock_machines::Chance;

use super::servers::Servers;
use super::{Client, Output};
use crate::messages::{ClientMessage, ConnectionId};

/// What a client is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It was not started.
    Idle,
    /// The connection or the attempt is over, and is cleaned up.
    Cleaning { until: VirtualTime },
    /// It sleeps before the next attempt.
    Sleeping { until: VirtualTime },
    /// It waits for a connection.
    Connecting,
    /// It has introduced itself, and waits to be accepted.
    Greeting { connection: ConnectionId },
    /// It is connected.
    Connected { connection: ConnectionId },
    /// The session is over, and its last connection is cleaned up.
    Dying { until: VirtualTime },
    /// Nothing will happen any more.
    Closed,
}

impl Phase {
    /// The connection that there is.
    pub(super) fn connection(self) -> Option<ConnectionId> {
        match self {
            Self::Greeting { connection } | Self::Connected { connection } => Some(connection),
            Self::Idle
            | Self::Cleaning { .. }
            | Self::Sleeping { .. }
            | Self::Connecting
            | Self::Dying { .. }
            | Self::Closed => None,
        }
    }
}

impl Client {
    /// How long it may take to open a connection, or then to be accepted.
    fn connect_timeout(&self) -> u64 {
        let (library, servers) = (self.settings.library, self.servers.count());
        let patience = match self.phase {
            Phase::Greeting { .. } => library.handshake_timeout(self.timeout, servers),
            Phase::Idle
            | Phase::Cleaning { .. }
            | Phase::Sleeping { .. }
            | Phase::Connecting
            | Phase::Connected { .. }
            | Phase::Dying { .. }
            | Phase::Closed => library.patience(self.timeout, servers),
        };
        patience.max(1)
    }

    /// When the client takes the session to be over without word from a server.
    fn expires_at(&self) -> VirtualTime {
        let counts = self.session != SessionId(0) || self.settings.gives_up_new_sessions;
        match self.settings.local_expiry {
            Some((above, below)) if counts => {
                after(self.last_heard, self.timeout.saturating_mul(above) / below)
            }
            Some(_) | None => VirtualTime::NEVER,
        }
    }

    /// When the present phase is over. The Java client looks at the clock of the session only
    /// while it is not asleep.
    pub(super) fn phase_ends_at(&self) -> VirtualTime {
        match self.phase {
            Phase::Idle | Phase::Closed => VirtualTime::NEVER,
            Phase::Cleaning { until } | Phase::Sleeping { until } | Phase::Dying { until } => until,
            Phase::Connecting | Phase::Greeting { .. } => {
                after(self.last_sent, self.connect_timeout()).min(self.expires_at())
            }
            Phase::Connected { .. } => self.silent_until().min(self.expires_at()),
        }
    }

    /// Ends every phase that is over by now.
    #[inline(never)]
    pub(super) fn run_timers(
        &mut self,
        now: VirtualTime,
        chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) {
        while self.request_ends_at() <= now {
            self.end_request(now, out);
        }
        while self.phase_ends_at() <= now {
            self.end_phase(now, chance, out);
        }
        if self.search_at() <= now {
            self.search(now, out);
        }
    }

    #[cold]
    fn end_phase(&mut self, now: VirtualTime, chance: &mut dyn Chance, out: &mut Vec<Output>) {
        match self.phase {
            Phase::Idle | Phase::Closed => {}
            Phase::Cleaning { .. } => {
                self.fail_sent(ZkError::ConnectionLoss);
                if self.closing || self.settings.library.fails_what_is_unsent() {
                    self.fail_unsent(ZkError::ConnectionLoss);
                }
                if self.closing {
                    self.finish(out);
                } else {
                    self.enter(SessionState::Connecting, out);
                    self.notify_state();
                    self.seek_server(now, chance);
                }
            }
            Phase::Sleeping { .. } => {
                self.phase = Phase::Connecting;
                self.last_sent = now;
                let server = self.server;
                out.push(Output::Connect { server });
            }
            Phase::Connecting | Phase::Greeting { .. } | Phase::Connected { .. } => {
                let expired = self.expires_at() <= now;
                if let Some(connection) = self.phase.connection() {
                    out.push(Output::Disconnect { connection });
                }
                self.clean_up(now);
                if expired {
                    self.die(now, out);
                }
            }
            Phase::Dying { .. } => {
                self.fail_all(self.end());
                self.finish(out);
            }
        }
    }

    /// Picks the next server, and sleeps before it is tried.
    pub(super) fn seek_server(&mut self, now: VirtualTime, chance: &mut dyn Chance) {
        let (settings, again) = (&self.settings, self.opened_before);
        let sleep = match self.search.found.take() {
            Some(writer) => {
                self.server = writer;
                Servers::jitter(settings, again, chance)
            }
            None => {
                let sleep = self.servers.advance(settings, again, chance);
                self.server = self.servers.current();
                let in_vain = sleep > 0 && settings.library.fails_what_is_unsent_after_a_round();
                if in_vain {
                    self.fail_unsent(ZkError::NoServer);
                }
                sleep
            }
        };
        let until = after(now, sleep);
        self.phase = Phase::Sleeping { until };
    }

    /// There is a connection: introduces itself. A connection that is not awaited is closed.
    #[cold]
    pub(super) fn opened(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        out: &mut Vec<Output>,
    ) {
        match self.phase {
            Phase::Connecting => {
                self.phase = Phase::Greeting { connection };
                self.opened_before = true;
                self.last_sent = now;
                // What began at a server that answers reads alone is known nowhere else.
                let session = if self.search.ever_found {
                    self.session
                } else {
                    SessionId(0)
                };
                let message = ClientMessage::Connect {
                    session,
                    password: self.password,
                    timeout: self.settings.timeout,
                    last_zxid: self.last_zxid,
                    read_only: self.settings.read_only,
                };
                out.push(Output::Send {
                    connection,
                    message,
                });
            }
            Phase::Idle
            | Phase::Cleaning { .. }
            | Phase::Sleeping { .. }
            | Phase::Greeting { .. }
            | Phase::Connected { .. }
            | Phase::Dying { .. } => out.push(Output::Disconnect { connection }),
            Phase::Closed => {}
        }
    }

    /// The session is there, or there again: watches are set before anything else is asked, by most libraries.
    #[cold]
    pub(super) fn accepted(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        read_only: bool,
        out: &mut Vec<Output>,
    ) {
        self.search.ever_found |= !read_only;
        self.servers.accepted();
        self.phase = Phase::Connected { connection };
        self.begin_pings(now);
        self.enter(
            if read_only {
                SessionState::ConnectedReadOnly
            } else {
                SessionState::Connected
            },
            out,
        );
        self.notify_state();
        for index in 0..self.auth_info.len() {
            self.send_auth(now, connection, index, out);
        }
        if self.settings.library.queues_watches_behind_requests() {
            self.send_unsent(now, connection, out);
        }
        for tables in self.watches.batches(self.last_zxid) {
            self.last_sent = now;
            let message = ClientMessage::SetWatches(Box::new(tables));
            out.push(Output::Send {
                connection,
                message,
            });
        }
        self.send_unsent(now, connection, out);
    }

    /// Closes a connection that is of no use.
    #[cold]
    pub(super) fn give_up(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        out: &mut Vec<Output>,
    ) {
        out.push(Output::Disconnect { connection });
        self.clean_up(now);
    }

    /// The connection or the attempt is over. Waiting calls fail when that is cleaned up.
    pub(super) fn clean_up(&mut self, now: VirtualTime) {
        let until = after(now, self.settings.cleanup_pause);
        self.phase = Phase::Cleaning { until };
    }

    /// The application has no use for the session any more, and sends no word.
    #[cold]
    pub(super) fn abandon(&mut self, out: &mut Vec<Output>) {
        if self.state == SessionState::Closed {
            return;
        }
        if let Some(connection) = self.phase.connection() {
            out.push(Output::Disconnect { connection });
        }
        self.fail_all(ZkError::SessionExpired);
        self.finish(out);
    }

    /// The session is over. What is still unanswered will be answered when that is cleaned up.
    #[cold]
    pub(super) fn die(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        let until = after(now, self.settings.cleanup_pause);
        self.phase = Phase::Dying { until };
        self.enter(SessionState::Closed, out);
    }

    /// Nothing will happen any more: all watchers are notified, and forgotten.
    #[cold]
    pub(super) fn finish(&mut self, out: &mut Vec<Output>) {
        self.phase = Phase::Closed;
        self.enter(SessionState::Closed, out);
        self.notify_state();
        self.watches.clear();
    }

    fn enter(&mut self, state: SessionState, out: &mut Vec<Output>) {
        if self.state != state {
            self.state = state;
            out.push(Output::StateChanged(state));
        }
    }

    /// Notifies watchers of the state, unless they know it.
    pub(super) fn notify_state(&mut self) {
        if self.told != self.state {
            self.told = self.state;
            let (library, closed) = (self.settings.library, self.state == SessionState::Closed);
            let watchers = closed || library.notifies_watchers_of_disconnects();
            self.watches
                .notify_session(self.state, watchers, &mut self.events);
            if self.state == SessionState::Connecting && !library.sends_set_watches() {
                self.watches.forget_nodes();
            }
        }
    }
}

/// So many microseconds later.
pub(super) fn after(time: VirtualTime, micros: u64) -> VirtualTime {
    VirtualTime::from_micros(time.micros().saturating_add(micros))
}
