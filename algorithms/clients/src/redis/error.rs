//! How a command can fail.

use thiserror::Error;

use super::ErrorReply;

/// An answer, or how the command failed.
pub type RedisResult<T> = Result<T, RedisError>;

/// How a command failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RedisError {
    /// There was no connection to send it on. Nothing has happened.
    #[error("no connection")]
    NotConnected,
    /// The connection broke before the answer came. It may have been executed.
    #[error("the connection was lost; the command may have been executed")]
    ConnectionLoss,
    /// No answer came in time. It may have been executed, or may still be.
    #[error("no answer in time; the command may have been executed, or may still be")]
    TimedOut,
    /// The server said no.
    #[error("{0}")]
    Refused(ErrorReply),
    /// The server answered something that no such command is answered by.
    #[error("an answer of the wrong kind")]
    Unexpected,
}

impl RedisError {
    /// Whether the command has certainly not been executed, nor ever will be. A script that was refused may have
    /// written something before.
    pub fn definite(&self) -> bool {
        match self {
            Self::NotConnected | Self::Refused(_) => true,
            Self::ConnectionLoss | Self::TimedOut | Self::Unexpected => false,
        }
    }
}
