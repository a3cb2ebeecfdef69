//! Connections: sought, greeted, kept alive, and given up.

use picklock_algorithms::clients::zookeeper::{SessionId, SessionState, ZkError};
use picklock_checker::VirtualTime;

use super::{Client, Output};
use crate::chance::Chance;
use crate::zookeeper::messages::{ClientMessage, ConnectionId, Password, ServerMessage};

/// A client that wakes up anyway sends a ping that is due within this.
const PING_EARLY: u64 = 1_000_000;
/// A client that wakes up anyway sends a ping if it has sent nothing for longer than this.
const PING_IDLE: u64 = 10_000_000;

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
    /// Two thirds of the session timeout: how long a connection may be silent.
    fn read_timeout(&self) -> u64 {
        self.timeout.saturating_mul(2) / 3
    }

    /// How long it may take to open a connection, and again to be accepted.
    fn connect_timeout(&self) -> u64 {
        (self.timeout / self.servers.count()).max(1)
    }

    /// When the session is taken to be over though nobody has said so.
    fn expires_at(&self) -> VirtualTime {
        if self.settings.local_expiry {
            after(self.last_heard, self.timeout.saturating_mul(4) / 3)
        } else {
            VirtualTime::NEVER
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
            Phase::Connected { .. } => {
                after(self.last_heard, self.read_timeout()).min(self.expires_at())
            }
        }
    }

    /// Ends every phase that is over by now.
    pub(super) fn run_timers(
        &mut self,
        now: VirtualTime,
        chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) {
        while self.phase_ends_at() <= now {
            self.end_phase(now, chance, out);
        }
    }

    #[cold]
    fn end_phase(&mut self, now: VirtualTime, chance: &mut dyn Chance, out: &mut Vec<Output>) {
        match self.phase {
            Phase::Idle | Phase::Closed => {}
            Phase::Cleaning { .. } => {
                self.fail_all(ZkError::ConnectionLoss);
                if self.closing {
                    self.finish(out);
                } else {
                    self.enter(SessionState::Connecting, out);
                    self.tell();
                    self.seek_server(now, chance);
                }
            }
            Phase::Sleeping { .. } => {
                self.phase = Phase::Connecting;
                self.last_sent = now;
                let server = self.servers.current();
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

    /// Picks the next server, and sleeps before it is tried: for long after a full circle, and for
    /// a random time once there was a connection.
    pub(super) fn seek_server(&mut self, now: VirtualTime, chance: &mut dyn Chance) {
        let mut sleep = 0;
        if self.servers.advance() {
            sleep += self.settings.circle_pause;
        }
        let choices = u32::try_from(self.settings.reconnect_jitter / 1_000).unwrap_or(u32::MAX);
        if self.opened_before && choices > 1 {
            sleep += u64::from(chance.choose(choices)) * 1_000;
        }
        let until = after(now, sleep);
        self.phase = Phase::Sleeping { until };
    }

    /// There is a connection: introduces itself. A connection that nobody waits for is closed.
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
                let message = ClientMessage::Connect {
                    session: self.session,
                    password: self.password,
                    timeout: self.settings.timeout,
                    last_zxid: self.last_zxid,
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

    /// Takes a message on the present connection. One that is out of turn ends it.
    pub(super) fn hear(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        message: ServerMessage,
        out: &mut Vec<Output>,
    ) {
        let accepted = matches!(self.phase, Phase::Connected { .. });
        match message {
            ServerMessage::Connected {
                session,
                password,
                timeout,
            } if !accepted => {
                self.timeout = timeout.max(1);
                self.accepted(now, connection, (session, password), out);
            }
            ServerMessage::Expired => {
                out.push(Output::Disconnect { connection });
                self.die(now, out);
                self.tell();
            }
            ServerMessage::Reply { xid, zxid, reply } if accepted => {
                self.reply(now, connection, (xid, zxid), reply, out);
            }
            ServerMessage::Notification { kind, path } if accepted => self.watches.fire(kind, path),
            ServerMessage::WatchesSet { zxid } if accepted => self.caught_up(zxid),
            ServerMessage::Pong | ServerMessage::Authenticated if accepted => {}
            ServerMessage::AuthFailed if accepted => {
                out.push(Output::Disconnect { connection });
                self.disbelieved = true;
                self.die(now, out);
                self.tell();
            }
            ServerMessage::Connected { .. }
            | ServerMessage::Reply { .. }
            | ServerMessage::Notification { .. }
            | ServerMessage::WatchesSet { .. }
            | ServerMessage::Authenticated
            | ServerMessage::AuthFailed
            | ServerMessage::Pong => self.give_up(now, connection, out),
        }
    }

    /// The session is there, or there again: watches are set before anything else is asked.
    fn accepted(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        (session, password): (SessionId, Password),
        out: &mut Vec<Output>,
    ) {
        self.session = session;
        self.password = password;
        self.servers.accepted();
        self.phase = Phase::Connected { connection };
        self.enter(SessionState::Connected, out);
        self.tell();
        for place in 0..self.said.len() {
            self.say(now, connection, place, out);
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
    pub(super) fn give_up(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        out: &mut Vec<Output>,
    ) {
        out.push(Output::Disconnect { connection });
        self.clean_up(now);
    }

    /// The connection or the attempt is over. Who waits is told when that is cleaned up.
    pub(super) fn clean_up(&mut self, now: VirtualTime) {
        let until = after(now, self.settings.cleanup_pause);
        self.phase = Phase::Cleaning { until };
    }

    /// The application has no use for the session any more, and says nothing to anybody.
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
    fn die(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        let until = after(now, self.settings.cleanup_pause);
        self.phase = Phase::Dying { until };
        self.enter(SessionState::Closed, out);
    }

    /// Nothing will happen any more: everybody is told, and forgotten.
    pub(super) fn finish(&mut self, out: &mut Vec<Output>) {
        self.phase = Phase::Closed;
        self.enter(SessionState::Closed, out);
        self.tell();
        self.watches.clear();
    }

    fn enter(&mut self, state: SessionState, out: &mut Vec<Output>) {
        if self.state != state {
            self.state = state;
            out.push(Output::StateChanged(state));
        }
    }

    /// Tells of the state, unless that was told already.
    fn tell(&mut self) {
        if self.told != self.state {
            self.told = self.state;
            self.watches.tell_session(self.state);
        }
    }

    /// Sends a ping if one is due. As the Java client does it: an idle client pings after half the read timeout, and
    /// earlier if it is awake anyway.
    pub(super) fn settle(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        self.last_awake = now;
        let Phase::Connected { connection } = self.phase else {
            self.quiet_until = VirtualTime::ZERO;
            return;
        };
        let interval = self.ping_interval();
        let idle = now.micros().saturating_sub(self.last_sent.micros());
        if idle + early(idle) >= interval || idle > PING_IDLE {
            self.last_sent = now;
            out.push(Output::Send {
                connection,
                message: ClientMessage::Ping,
            });
        }
        let quiet = after(self.last_sent, interval.min(PING_EARLY));
        self.quiet_until = quiet.min(self.phase_ends_at());
    }

    /// When it wants to wake for the sake of a ping.
    pub(super) fn ping_alarm(&self) -> VirtualTime {
        match self.phase {
            Phase::Connected { .. } => {
                let idle = self.last_awake.since(self.last_sent).as_micros() as u64;
                let wait = self.ping_interval().saturating_sub(early(idle));
                after(self.last_sent, wait)
            }
            Phase::Idle
            | Phase::Cleaning { .. }
            | Phase::Sleeping { .. }
            | Phase::Connecting
            | Phase::Greeting { .. }
            | Phase::Dying { .. }
            | Phase::Closed => VirtualTime::NEVER,
        }
    }

    fn ping_interval(&self) -> u64 {
        (self.read_timeout() / 2).max(1)
    }
}

/// How much earlier than due a ping is sent by a client that was idle for so long.
fn early(idle: u64) -> u64 {
    if idle > PING_EARLY { PING_EARLY } else { 0 }
}

/// So many microseconds later.
fn after(time: VirtualTime, micros: u64) -> VirtualTime {
    VirtualTime::from_micros(time.micros().saturating_add(micros))
}
