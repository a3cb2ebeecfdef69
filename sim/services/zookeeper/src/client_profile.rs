//! What differs between client libraries.

use std::time::Duration;

use super::version::Version;

/// A client library. Where nothing is said, they are alike here. Read in the sources of ZooKeeper 3.8, of kazoo 2.11,
/// of `zookeeper-client` 0.11, and of go-zookeeper/zk 1.0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Library {
    /// ZooKeeper's own, for Java.
    #[default]
    Java,
    /// kazoo, for Python.
    Kazoo,
    /// `zookeeper-client`, for Rust.
    Rust,
    /// `go-zookeeper/zk`, for Go.
    Go,
}

/// The longest pause of kazoo between two rounds of its servers, before six to fourteen tenths of it are drawn, in
/// microseconds (`KazooRetry`, `max_delay`).
pub(crate) const KAZOO_LONGEST_PAUSE: u64 = 60_000_000;

/// How long a Go client waits for a connection, in microseconds.
const GO_CONNECT_TIMEOUT: u64 = 1_000_000;

/// The work of a client's event thread, which a callback of the application can block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventThread {
    /// All events, and the answers to what was asked in the background.
    Everything,
    /// Events of nodes.
    WatchersOnly,
    /// There is no such thread.
    Missing,
}

impl Library {
    /// Every library, with its name in scenario files.
    pub const ALL: [(&'static str, Self); 4] = [
        ("java", Self::Java),
        ("kazoo", Self::Kazoo),
        ("rust", Self::Rust),
        ("go", Self::Go),
    ];

    /// Its name in scenario files.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }

    /// How it notifies of events and of the loss of a connection, in which `docs/zookeeper.md` says more.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Java => {
                "One event thread for all events, and for answers to requests in the background. The client reports \
                 the loss of a connection after its cleanup of 100 ms."
            }
            Self::Kazoo => {
                "One handler thread for the events of nodes. The client reports the loss of a connection at once."
            }
            Self::Rust => "No event thread. The client reports the loss of a connection at once.",
            Self::Go => {
                "No event thread: each watch has a channel. The client reports the loss of a connection at once, \
                to watchers of the session, and sends a request without a connection by the next one."
            }
        }
    }

    /// How long it may go on sleeping when a server takes connections again, after an outage as long as may be. Those
    /// whose pauses stay short, or whose sessions are over before they grow, do not count.
    pub fn longest_pause(self) -> Duration {
        match self {
            Self::Kazoo => Duration::from_micros(KAZOO_LONGEST_PAUSE / 10 * 14),
            Self::Java | Self::Rust | Self::Go => Duration::ZERO,
        }
    }

    /// Its version, and what says so.
    pub fn source(self) -> &'static str {
        match self {
            Self::Java => "ZooKeeper 3.8: ClientCnxn, ClientCnxnSocketNIO",
            Self::Kazoo => "kazoo 2.11: protocol/connection.py, handlers/threading.py",
            Self::Rust => "zookeeper-client 0.11: session",
            Self::Go => {
                "go-zookeeper/zk 1.0: conn.go (Connect, setTimeouts, connect, loop, authenticate, sendLoop, recvLoop), \
                 dnshostprovider.go"
            }
        }
    }

    /// How long it takes to clean up a connection, whose loss is not reported before, in microseconds.
    pub fn cleanup_pause(self) -> u64 {
        match self {
            Self::Java => 100_000,
            Self::Kazoo | Self::Rust | Self::Go => 0,
        }
    }

    /// After how much silence it takes the session to be over without word from a server: a share of the session
    /// timeout, above and below the line.
    pub fn expires_after(self, version: Version) -> Option<(u64, u64)> {
        match self {
            Self::Java if version.clients_expire_by_themselves() => Some((4, 3)),
            Self::Rust => Some((7, 5)),
            Self::Java | Self::Kazoo | Self::Go => None,
        }
    }

    /// Whether it gives up a session that never came about, too.
    pub fn gives_up_new_sessions(self, version: Version) -> bool {
        match self {
            Self::Java => version.clients_give_up_new_sessions(),
            Self::Rust => true,
            Self::Kazoo | Self::Go => false,
        }
    }

    /// How long a connection may be silent: a share of the session timeout. kazoo counts unanswered pings.
    pub(super) fn read_timeout(self) -> Option<(u64, u64)> {
        match self {
            Self::Java | Self::Go => Some((2, 3)),
            Self::Kazoo => None,
            Self::Rust => Some((2, 5)),
        }
    }

    /// How long an attempt to connect may take, with so many servers.
    pub(super) fn patience(self, timeout: u64, servers: u64) -> u64 {
        match self {
            Self::Java => timeout / servers,
            Self::Kazoo => timeout,
            Self::Rust => timeout.saturating_mul(2) / 5,
            Self::Go => GO_CONNECT_TIMEOUT,
        }
    }

    /// How long it may take then to be accepted. A Go client waits ten times as long as for any other answer.
    pub(super) fn handshake_timeout(self, timeout: u64, servers: u64) -> u64 {
        match self {
            Self::Java | Self::Kazoo | Self::Rust => self.patience(timeout, servers),
            Self::Go => timeout.saturating_mul(2) / 3 * 10,
        }
    }

    /// Whether what is asked without a connection fails when the next attempt to connect does. Others keep it until
    /// there is a connection, or the session is gone; a Go client until it has tried every server in vain.
    pub(super) fn fails_what_is_unsent(self) -> bool {
        self == Self::Java
    }

    /// Whether what was asked without a connection fails, for certain, when every server was tried in vain.
    pub(super) fn fails_what_is_unsent_after_a_round(self) -> bool {
        self == Self::Go
    }

    /// Whether what was asked without a connection goes to the next one before the watches do. A Go client sends them
    /// by the queue that all requests stand in.
    pub(super) fn queues_watches_behind_requests(self) -> bool {
        self == Self::Go
    }

    /// What a callback of the application that does not return holds up. kazoo calls listeners of the session on the
    /// thread of the connection, and gives answers on a thread of their own; the clients for Rust and Go have channels.
    pub fn event_thread(self) -> EventThread {
        match self {
            Self::Java => EventThread::Everything,
            Self::Kazoo => EventThread::WatchersOnly,
            Self::Rust | Self::Go => EventThread::Missing,
        }
    }

    /// Whether a callback that does not return holds up anything.
    pub fn has_event_thread(self) -> bool {
        self.event_thread() != EventThread::Missing
    }

    /// Whether it breaks the connection when an answer is longer than it reads.
    pub(super) fn reads_no_long_answers(self) -> bool {
        self == Self::Java
    }

    /// Whether a lost connection is reported to watchers of nodes.
    pub(super) fn notifies_watchers_of_disconnects(self) -> bool {
        match self {
            Self::Java | Self::Kazoo => true,
            Self::Rust | Self::Go => false,
        }
    }

    /// Whether watches of nodes outlive the connection: they are set again at the next server.
    pub(super) fn sends_set_watches(self) -> bool {
        self != Self::Kazoo
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_has_its_name() {
        for (name, library) in Library::ALL {
            assert_eq!(library.name(), name);
        }
    }
}
