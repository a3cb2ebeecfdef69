//! How a server is configured.

/// The configuration of a server. Defaults are those of Redis 7.0.15.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether `EXEC` sees that a watched key has expired since it was watched. Servers before 6.0.9 did not, and so
    /// let the owner of an expired lock delete the lock of its successor.
    pub watch_sees_expiry: bool,
    /// Whether keys whose time has come are looked for. If not, they stay until somebody asks for them.
    pub active_expiry: bool,
    /// After how many instructions a script is cut, because it would go on for ever.
    pub script_budget: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            watch_sees_expiry: true,
            active_expiry: true,
            script_budget: 50_000_000,
        }
    }
}
