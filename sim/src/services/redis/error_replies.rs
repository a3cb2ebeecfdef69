//! Records which errors servers answer contenders with, and which connections they do not take.

use picklock_checker::service_event::ServiceEventKind as What;
use picklock_clients::redis::{ErrorReply, Value};

use super::SimulatedRedis;
use crate::network::{ConnectionId, ServerId};
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
    pub(super) fn record_error(
        &mut self,
        server: ServerId,
        connection: ConnectionId,
        value: &Value,
    ) {
        if self.records_service_events()
            && let Value::Error(error) = value
            && !FOR_LIBRARIES.contains(&error.code())
            && let Some(to) = self.contender_of(self.process_of(connection))
        {
            let error = short(error).to_owned();
            self.record_service_event(server, What::ErrorReply { to, error });
        }
    }

    /// Nobody listens at the machine of a server that does not run.
    pub(super) fn record_refused_connection(&mut self, server: ServerId, connection: ConnectionId) {
        if self.records_service_events()
            && let Some(to) = self.contender_of(self.process_of(connection))
        {
            let error = "connection refused".to_owned();
            self.record_service_event(server, What::ErrorReply { to, error });
        }
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
