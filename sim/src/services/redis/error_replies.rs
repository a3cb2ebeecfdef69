//! Records which errors servers answer contenders with, and which connections they do not take.

use picklock_clients::redis::{ErrorReply, Value};

use super::SimulatedRedis;
use crate::network::ConnectionId;
use crate::world::World;

/// Answers by which a client library learns what to do next, and of which no caller hears.
const FOR_LIBRARIES: [&str; 3] = ["NOSCRIPT", "MOVED", "ASK"];

/// An error in a few words: its code, if that says something.
fn short(error: &ErrorReply) -> &str {
    match error.code() {
        "ERR" => error.text(),
        code => code,
    }
}

impl World<SimulatedRedis> {
    /// A server answers, perhaps with an error.
    #[inline(always)]
    pub(super) fn record_error(&mut self, connection: ConnectionId, value: &Value) {
        self.record_error_reply(connection, || match value {
            Value::Error(error) if !FOR_LIBRARIES.contains(&error.code()) => {
                Some(short(error).to_owned())
            }
            _ => None,
        });
    }

    /// No process listens at the machine of a server that does not run.
    pub(super) fn record_refused_connection(&mut self, connection: ConnectionId) {
        self.record_error_reply(connection, || Some("connection refused".to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_called_by_its_code_unless_that_says_nothing() {
        let busy = ErrorReply::new("BUSY Redis is busy running a script.");
        assert_eq!(short(&busy), "BUSY");
        let plain = ErrorReply::new("ERR value is not an integer");
        assert_eq!(short(&plain), "ERR value is not an integer");
    }
}
