//! The state of the connection, and the task that keeps it up to date.

use std::future::pending;
use std::time::Duration;

use super::Curator;
use crate::select;
use crate::zookeeper::{EventType, SessionState, Watch, ZooKeeper};

/// The state of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    /// There was none yet.
    Connecting,
    /// There is one, for the first time.
    Connected,
    /// It is lost. The session may live on, or not.
    Suspended,
    /// There is one again: in the same session, or, after `Lost`, in a new one.
    Reconnected,
    /// There is one, to a server that answers reads alone.
    ReadOnly,
    /// The session is gone, as far as this client is concerned, and all its ephemeral nodes will be.
    Lost,
}

impl ConnectionState {
    /// Whether there is a connection.
    pub fn is_connected(self) -> bool {
        matches!(self, Self::Connected | Self::Reconnected | Self::ReadOnly)
    }
}

/// Which states of the connection count as an error to a holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorPolicy {
    /// A lost connection does: `StandardConnectionStateErrorPolicy`.
    Standard,
    /// A lost session does, and a lost connection does not: `SessionConnectionStateErrorPolicy`.
    Session,
}

/// A state of the connection that counts as an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorState {
    /// The connection is lost, and the session may or may not live.
    Suspended,
    /// The session is gone.
    Lost,
}

impl Curator {
    /// The state of the connection.
    pub fn state(&self) -> ConnectionState {
        self.0.state.get()
    }

    /// Resolves when something happens that counts as an error.
    pub async fn error(&self, policy: ErrorPolicy) -> ErrorState {
        let (losses, suspensions) = (self.0.losses.get(), self.0.suspensions.get());
        loop {
            if self.0.losses.get() > losses || self.state() == ConnectionState::Lost {
                return ErrorState::Lost;
            }
            let suspended = self.0.suspensions.get() > suspensions
                || self.state() == ConnectionState::Suspended;
            if suspended && policy == ErrorPolicy::Standard {
                return ErrorState::Suspended;
            }
            self.changed().await;
        }
    }

    fn set_current_state(&self, state: ConnectionState) {
        if self.0.state.replace(state) == state {
            return;
        }
        let count = match state {
            ConnectionState::Lost => Some(&self.0.losses),
            ConnectionState::Suspended => Some(&self.0.suspensions),
            ConnectionState::Connecting
            | ConnectionState::Connected
            | ConnectionState::Reconnected
            | ConnectionState::ReadOnly => None,
        };
        if let Some(count) = count {
            count.set(count.get() + 1);
        }
        self.tell_listeners(state);
        for waiter in self.0.waiters.take() {
            waiter.complete(());
        }
    }

    /// Follows one session after the other, for as long as the process lives.
    pub(super) async fn drive(&self) {
        loop {
            let zk = self.zookeeper();
            self.follow(&zk).await;
            let next = zk.renew();
            self.0.zk.replace(next);
            self.set_current_state(ConnectionState::Lost);
        }
    }

    /// Follows a session until it is gone, or has been without a connection for so long that it is given up.
    async fn follow(&self, zk: &ZooKeeper) {
        let events = zk.session_events();
        let mut give_up = None;
        let mut state = zk.state();
        loop {
            match state {
                SessionState::Closed => return,
                SessionState::Connected => {
                    give_up = None;
                    self.set_current_state(match self.state() {
                        ConnectionState::Connecting | ConnectionState::Connected => {
                            ConnectionState::Connected
                        }
                        ConnectionState::Suspended
                        | ConnectionState::Lost
                        | ConnectionState::ReadOnly
                        | ConnectionState::Reconnected => ConnectionState::Reconnected,
                    });
                }
                SessionState::ConnectedReadOnly => {
                    give_up = None;
                    self.set_current_state(ConnectionState::ReadOnly);
                }
                SessionState::Connecting if self.state().is_connected() => {
                    let patience = zk.timeout() * self.0.settings.expiration_percent / 100;
                    give_up = Some(self.env().monotonic() + patience);
                    self.set_current_state(ConnectionState::Suspended);
                }
                SessionState::Connecting => {}
            }
            match self.told(&events, give_up).await {
                Some(told) => state = told,
                None => return,
            }
        }
    }

    /// The state in the next event: the handle may be further already. `None` if nothing comes until then.
    async fn told(&self, events: &Watch, give_up: Option<Duration>) -> Option<SessionState> {
        let event = async {
            loop {
                if let EventType::Session(state) = events.next().await.kind {
                    return Some(state);
                }
            }
        };
        let over = async {
            match give_up {
                Some(at) => {
                    let rest = at.saturating_sub(self.env().monotonic());
                    self.env().sleep(rest).await;
                    None
                }
                None => pending().await,
            }
        };
        select(event, over).await
    }
}
