//! What a fault can wait for, one row a trigger: its fields, what it is called in scenario files, what it is, and an
//! example.
//!
//! The format, the writer, the list, and shrinking read these rows. Which of them never happen on a service says the
//! service's [`ServiceRow`](super::ServiceRow).

use std::time::Duration;

use picklock_clients::RequestKind;

use super::trigger_spec::{
    TriggerField, TriggerFieldMut, TriggerFieldSource, TriggerFieldSpec, TriggerSpec, TriggerValue,
    triggers,
};
use super::{ContenderName, ServerName};

triggers! {
    Acquiring { by: ContenderName, nth: u32 } = "acquiring" {
        meaning: "A contender calls acquire; for the nth time, if that is given.",
        example: r#"when.acquiring = { by = "contender-1" }"#,
    }

    Queued { by: ContenderName, nth: u32 } = "queued" {
        meaning: "The service has put a contender in the queue, first in it or not.",
        example: r#"when.queued = { by = "contender-3" }"#,
    }

    Waiting { by: ContenderName, nth: u32 } = "waiting" {
        meaning: "A contender has found that another is ahead of it.",
        example: r#"when.waiting = { by = "contender-2" }"#,
    }

    Acquired { by: ContenderName, nth: u32 } = "acquired" {
        meaning: "A contender's acquire has returned the lock.",
        example: r#"when.acquired = { by = "contender-1", nth = 2 }"#,
    }

    Writing { by: ContenderName, nth: u32 } = "writing" {
        meaning: "A contender is about to send a write to the resource.",
        example: r#"when.writing = { by = "contender-1" }"#,
    }

    Releasing { by: ContenderName, nth: u32 } = "releasing" {
        meaning: "A contender calls release.",
        example: r#"when.releasing = { by = "contender-1" }"#,
    }

    Released { by: ContenderName, nth: u32 } = "released" {
        meaning: "A contender's release has returned.",
        example: r#"when.released = { by = "contender-1" }"#,
    }

    Sent { request: RequestKind, by: ContenderName, nth: u32, at: Option<ServerName> } = "sent" {
        meaning: "A contender's client puts a request on the wire.",
        example: r#"when.sent = { request = "create", by = "contender-1" }"#,
    }

    Proposed { request: RequestKind, by: ContenderName, nth: u32 } = "proposed" {
        meaning: "The leader has proposed a contender's write to its followers.",
        example: r#"when.proposed = { request = "create", by = "contender-1" }"#,
    }

    Committed { request: RequestKind, by: ContenderName, nth: u32 } = "committed" {
        meaning: "A contender's write is committed.",
        example: r#"when.committed = { request = "delete", by = "contender-1" }"#,
    }

    Answered { request: RequestKind, by: ContenderName, nth: u32, at: Option<ServerName> } = "answered" {
        meaning: "A server sends the answer to a contender's request.",
        example: r#"when.answered = { request = "create", by = "contender-1" }"#,
    }

    Received { request: RequestKind, by: ContenderName, nth: u32, at: Option<ServerName> } = "received" {
        meaning: "The answer to a contender's request has reached its client, and its code has not gone on yet.",
        example: r#"when.received = { request = "create", by = "contender-1" }"#,
    }

    Streamed { request: RequestKind, by: ContenderName, nth: u32 } = "streamed" {
        meaning: "The primary has sent its replicas what a contender's request changed (Redis).",
        example: r#"when.streamed = { request = "set", by = "contender-1" }"#,
    }

    Applied { request: RequestKind, by: ContenderName, nth: u32, at: ServerName } = "applied" {
        meaning: "A contender's write has come to a server that follows.",
        example: r#"when.applied = { request = "create", by = "contender-1", at = "server-2" }"#,
    }

    Told { by: ContenderName, nth: u32 } = "told" {
        meaning: "A server sends a contender a message of a channel (Redis).",
        example: r#"when.told = { by = "contender-1" }"#,
    }

    SessionExpired { by: ContenderName } = "session-expired" {
        meaning: "The service has expired a contender's session (ZooKeeper).",
        example: r#"when.session-expired = { by = "contender-1" }"#,
    }

    Disconnected { by: ContenderName, nth: u32 } = "disconnected" {
        meaning: "A contender's client has lost its connection, or given it up (ZooKeeper).",
        example: r#"when.disconnected = { by = "contender-1" }"#,
    }

    Reconnected { by: ContenderName, nth: u32 } = "reconnected" {
        meaning: "A contender's client is connected again, in the same session (ZooKeeper).",
        example: r#"when.reconnected = { by = "contender-1" }"#,
    }

    SessionLost { by: ContenderName, nth: u32 } = "session-lost" {
        meaning: "A contender's client has learned that its session is gone (ZooKeeper).",
        example: r#"when.session-lost = { by = "contender-1" }"#,
    }

    Elected { nth: u32 } = "elected" {
        meaning: "Another server has come to lead, or to be the primary; for the nth time, if that is given.",
        example: r#"when.elected = {}"#,
    }

    Fired { fault: usize } = "fired" {
        meaning: "An earlier fault of the file has fired.",
        example: "when.fired = { fault = 1 }",
    }

}

impl Trigger {
    /// The only server whose requests it waits for, if it names one.
    pub fn at_server(&self) -> Option<ServerName> {
        match *self {
            Self::Sent { at, .. } | Self::Answered { at, .. } | Self::Received { at, .. } => at,
            Self::At(_)
            | Self::Acquiring { .. }
            | Self::Queued { .. }
            | Self::Waiting { .. }
            | Self::Acquired { .. }
            | Self::Writing { .. }
            | Self::Releasing { .. }
            | Self::Released { .. }
            | Self::Proposed { .. }
            | Self::Committed { .. }
            | Self::Streamed { .. }
            | Self::Applied { .. }
            | Self::Told { .. }
            | Self::SessionExpired { .. }
            | Self::Disconnected { .. }
            | Self::Reconnected { .. }
            | Self::SessionLost { .. }
            | Self::Elected { .. }
            | Self::Fired { .. } => None,
        }
    }
}
