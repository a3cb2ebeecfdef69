//! Why a comparison could not be made.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use thiserror::Error;

/// Why a comparison could not be made. That the two sides differ is not among it: that is a result.
#[derive(Debug, Error)]
pub enum VerifyError {
    /// There is no server on this machine.
    #[error("there is no {service} to compare with: {missing} was not found")]
    NotInstalled {
        /// What was to be started.
        service: &'static str,
        /// What was looked for.
        missing: String,
    },
    /// A server is older than what is modelled.
    #[error("{server} is older than {oldest}, the oldest server that is modelled")]
    TooOld {
        /// The server, and its version.
        server: String,
        /// The oldest that is modelled.
        oldest: &'static str,
    },
    /// A server did not come up.
    #[error("{server} did not start: {why}")]
    NotStarted {
        /// The server.
        server: String,
        /// What is known of the reason.
        why: String,
        /// The last lines of its log.
        log: Vec<String>,
    },
    /// A server died.
    #[error("{server} died while it was asked: {status}")]
    Died {
        /// The server.
        server: String,
        /// The status with which it ended.
        status: String,
        /// The last lines of its log.
        log: Vec<String>,
    },
    /// A server did not answer in time.
    #[error("{server} did not answer within {} s: {asked}", waited.as_secs())]
    Late {
        /// The server.
        server: String,
        /// For how long.
        waited: Duration,
        /// What was asked.
        asked: String,
        /// The last lines of its log.
        log: Vec<String>,
    },
    /// A server's answer cannot be read.
    #[error("an answer of {server} cannot be read: {why}")]
    Garbled {
        /// The server.
        server: String,
        /// The reason.
        why: Garbled,
    },
    /// A file or a socket on our side failed.
    #[error("{what}: {error}")]
    Io {
        /// What was to be done.
        what: String,
        /// What came of it.
        error: io::Error,
    },
    /// Answers took too long too often.
    #[error("answers take so long that sessions may expire meanwhile: once {} s", longest.as_secs())]
    StoodStill {
        /// The longest that a step has taken.
        longest: Duration,
    },
    /// Ctrl-C was pressed.
    #[error("stopped")]
    Interrupted,
}

/// What comes of something that real servers take part in.
pub(crate) type Result<T, E = VerifyError> = std::result::Result<T, E>;

/// Goes on, unless Ctrl-C was pressed.
pub(crate) fn unless_stopped(stop: &AtomicBool) -> Result<()> {
    if stop.load(Ordering::Relaxed) {
        Err(VerifyError::Interrupted)
    } else {
        Ok(())
    }
}

impl VerifyError {
    /// A file or a socket on our side failed.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        |error| Self::Io { what, error }
    }

    /// The last lines of the log of the server that it is about.
    pub fn log(&self) -> &[String] {
        match self {
            Self::NotStarted { log, .. } | Self::Died { log, .. } | Self::Late { log, .. } => log,
            Self::NotInstalled { .. }
            | Self::TooOld { .. }
            | Self::Garbled { .. }
            | Self::Io { .. }
            | Self::StoodStill { .. }
            | Self::Interrupted => &[],
        }
    }
}

/// Why a message cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Garbled {
    /// It ends too early.
    #[error("it ends too early")]
    Short,
    /// It goes on after its end.
    #[error("{0} bytes follow its end")]
    Long(usize),
    /// A string is not UTF-8.
    #[error("a string is not UTF-8")]
    Text,
    /// It has a number that has no meaning.
    #[error("{0} is {1}, which has no meaning")]
    Meaning(&'static str, i64),
}
