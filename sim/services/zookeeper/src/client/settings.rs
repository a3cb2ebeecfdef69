//! What can be set on a client.

use crate::client_profile::Library;
use crate::version::Version;

/// What can be set on a client. Durations are in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZooKeeperClientConfig {
    /// The session timeout that it asks for. Servers may grant another.
    pub timeout: u64,
    /// The number of servers that it knows: `ServerId(0)` and so on.
    pub servers: u8,
    /// Which library it is.
    pub library: Library,
    /// After how much silence it declares its own session expired, as a share of the timeout, above and below the
    /// line: four thirds in Java's of 3.9.3 and later.
    pub local_expiry: Option<(u64, u64)>,
    /// Whether local expiry holds for a session that never came about, too.
    pub gives_up_new_sessions: bool,
    /// How long a request may go unanswered, sent or not, before it fails and the connection is given up:
    /// `zookeeper.request.timeout`.
    pub request_timeout: Option<u64>,
    /// Whether it puts up with a server that answers reads alone: `canBeReadOnly`.
    pub read_only: bool,
    /// How long it takes to clean up a connection, whose loss is not reported before.
    pub cleanup_pause: u64,
    /// Before each attempt, once a connection was opened, a Java client sleeps for a random time below this.
    pub reconnect_jitter: u64,
    /// How long a Java or a Go client sleeps when it has tried every server in vain.
    pub circle_pause: u64,
    /// The longest answer that a Java client reads, in bytes: `jute.maxbuffer`.
    pub jute_max_buffer: u32,
}

impl ZooKeeperClientConfig {
    /// A client of ZooKeeper 3.8 that asks for this timeout and knows so many servers.
    pub const fn new(timeout: u64, servers: u8) -> Self {
        Self {
            timeout,
            servers,
            library: Library::Java,
            local_expiry: None,
            gives_up_new_sessions: false,
            request_timeout: None,
            read_only: false,
            cleanup_pause: 100_000,
            reconnect_jitter: 1_000_000,
            circle_pause: 1_000_000,
            jute_max_buffer: crate::settings::JUTE_MAX_BUFFER,
        }
    }

    /// A client of another library, or of another version.
    #[must_use]
    pub fn of(self, library: Library, version: Version) -> Self {
        Self {
            library,
            local_expiry: library.expires_after(version),
            gives_up_new_sessions: library.gives_up_new_sessions(version),
            cleanup_pause: library.cleanup_pause(),
            ..self
        }
    }
}
