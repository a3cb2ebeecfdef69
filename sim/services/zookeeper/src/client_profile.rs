//! What differs between client libraries.

use super::version::Version;

/// A client library. Where nothing is said, they are alike here. Read in the sources of ZooKeeper 3.8, of kazoo 2.11,
/// and of `zookeeper-client` 0.11.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Library {
    /// ZooKeeper's own, for Java.
    #[default]
    Java,
    /// kazoo, for Python.
    Kazoo,
    /// `zookeeper-client`, for Rust.
    Rust,
}

/// What of a client runs on one thread, and waits if a callback of the application does not return there.
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
    pub const ALL: [(&'static str, Self); 3] = [
        ("java", Self::Java),
        ("kazoo", Self::Kazoo),
        ("rust", Self::Rust),
    ];

    /// Its name in scenario files.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }

    /// How it notifies of events and of the loss of a connection, in which `docs/zookeeper.md` says more.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Java => {
                "One event thread for all events and for answers to what was asked in the background. The loss of a \
                 connection is told after its cleanup of 100 ms."
            }
            Self::Kazoo => {
                "One handler thread for the events of nodes. The loss of a connection is told at once."
            }
            Self::Rust => "No event thread. The loss of a connection is told at once.",
        }
    }

    /// Its version, and what says so.
    pub fn source(self) -> &'static str {
        match self {
            Self::Java => "ZooKeeper 3.8: ClientCnxn, ClientCnxnSocketNIO",
            Self::Kazoo => "kazoo 2.11: protocol/connection.py, handlers/threading.py",
            Self::Rust => "zookeeper-client 0.11: session",
        }
    }

    /// How long it takes to clean up a connection, in microseconds: nobody is told of its loss before.
    pub fn cleanup_pause(self) -> u64 {
        match self {
            Self::Java => 100_000,
            Self::Kazoo | Self::Rust => 0,
        }
    }

    /// After how much silence it takes the session to be over though nobody has said so: a share of the session
    /// timeout, above and below the line.
    pub fn expires_after(self, version: Version) -> Option<(u64, u64)> {
        match self {
            Self::Java if version.clients_expire_by_themselves() => Some((4, 3)),
            Self::Rust => Some((7, 5)),
            Self::Java | Self::Kazoo => None,
        }
    }

    /// Whether it gives up a session that never came about, too.
    pub fn gives_up_new_sessions(self, version: Version) -> bool {
        match self {
            Self::Java => version.clients_give_up_new_sessions(),
            Self::Rust => true,
            Self::Kazoo => false,
        }
    }

    /// How much silence it bears on a connection: a share of the session timeout. kazoo counts unanswered pings.
    pub(super) fn bears(self) -> Option<(u64, u64)> {
        match self {
            Self::Java => Some((2, 3)),
            Self::Kazoo => None,
            Self::Rust => Some((2, 5)),
        }
    }

    /// How long an attempt to connect may take, and again to be accepted, with so many servers.
    pub(super) fn patience(self, timeout: u64, servers: u64) -> u64 {
        match self {
            Self::Java => timeout / servers,
            Self::Kazoo => timeout,
            Self::Rust => timeout.saturating_mul(2) / 5,
        }
    }

    /// Whether what is asked without a connection fails when the next attempt to connect does. Others keep it until
    /// there is a connection, or the session is gone.
    pub(super) fn fails_what_is_unsent(self) -> bool {
        self == Self::Java
    }

    /// What a callback of the application that does not return holds up. kazoo calls those who listen to the session
    /// on the thread of the connection, and gives answers on a thread of their own; the Rust client has channels.
    pub fn event_thread(self) -> EventThread {
        match self {
            Self::Java => EventThread::Everything,
            Self::Kazoo => EventThread::WatchersOnly,
            Self::Rust => EventThread::Missing,
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

    /// Whether a lost connection is told to those who watch nodes.
    pub(super) fn notifies_watchers_of_disconnects(self) -> bool {
        self != Self::Rust
    }

    /// Whether watches of nodes outlive the connection: they are brought to the next server.
    pub(super) fn brings_watches_along(self) -> bool {
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
