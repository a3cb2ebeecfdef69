//! The keys of `[service.lease-server]`.

use super::key::{Holds, Key, KeyTable};

/// [service.lease-server].
pub(super) const LEASE_SERVER: KeyTable = KeyTable {
    title: "[service.lease-server]",
    about: "One server that grants the lock for a while, and knows nothing else.",
    keys: LEASE_SERVER_KEYS,
};

const LEASE_SERVER_KEYS: &[Key] = &[
    Key::new(
        "lease",
        Holds::Duration,
        r#"`"10s"`"#,
        "How long a lock is held before it goes by itself.",
    ),
    Key::new(
        "timeout",
        Holds::Duration,
        r#"`"500ms"`"#,
        "How long a client waits for an answer.",
    ),
];
