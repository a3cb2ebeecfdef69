//! The session of a client, and its lease as its own clock sees it (section 2.8).

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::chubby::{
    ClientBody, ClientMessage, Epoch, ServerBody, ServerMessage, SessionId, SessionState,
};

/// Clocks of clients and masters differ in their pace by less than one in so many.
const CLOCK_RATE: u32 = 100;

/// A session, or the wish for one.
#[derive(Default)]
pub(super) struct Session {
    pub is_wanted: bool,
    id: SessionId,
    pub epoch: Epoch,
    /// The epoch of the last master that it knows.
    knows: Epoch,
    pub state: SessionState,
    /// When the lease ends by the local clock.
    pub lease_until: VirtualTime,
    /// The KeepAlive that is under way, and when it was sent.
    pub asked: Option<(u32, VirtualTime)>,
}

impl Session {
    pub fn exists(&self) -> bool {
        self.id != SessionId::default()
    }

    /// What is left of it when it is over.
    pub fn expired(&self) -> Self {
        Self {
            epoch: self.epoch,
            state: SessionState::Expired,
            ..Self::default()
        }
    }

    pub fn message(&self, call: u32, body: ClientBody) -> ClientMessage {
        ClientMessage {
            call,
            epoch: self.epoch,
            session: self.id,
            body,
        }
    }

    /// Asks for a longer lease, or for a session.
    pub fn ask(&mut self, call: u32, now: VirtualTime) -> ClientMessage {
        self.asked = Some((call, now));
        let body = match self.exists() {
            true => ClientBody::KeepAlive(self.knows),
            false => ClientBody::CreateSession,
        };
        self.message(call, body)
    }

    /// An answer extends the lease. When the master has given it is not known; it was not before what the client has
    /// sent, and what the master has held back. Answers whether the lease is good by the local clock.
    pub fn extend(&mut self, now: VirtualTime, message: &ServerMessage) -> bool {
        let ServerBody::KeptAlive {
            session,
            epoch,
            lease,
            held,
            failed_over,
        } = message.body
        else {
            return false;
        };
        let Some((_, sent)) = self.asked.take_if(|(call, _)| *call == message.call) else {
            return false;
        };
        self.id = session;
        self.epoch = epoch;
        if failed_over || self.knows == Epoch::default() {
            self.knows = epoch;
        }
        let lasts = held + lease;
        let until = sent + (lasts - lasts / CLOCK_RATE);
        self.lease_until = self.lease_until.max(until);
        self.lease_until > now
    }

    /// Whether the lease has ended by the local clock, and the session was safe until now.
    pub fn is_in_jeopardy(&self, now: VirtualTime) -> bool {
        self.exists() && self.state == SessionState::Safe && self.lease_until <= now
    }

    /// When it has to look at the clock.
    pub fn next_look(&self, grace_period: Duration) -> VirtualTime {
        match self.state {
            SessionState::Safe if self.exists() => self.lease_until,
            SessionState::Jeopardy => self.lease_until + grace_period,
            SessionState::Safe | SessionState::Expired => VirtualTime::NEVER,
        }
    }
}
