//! How a server is configured.

/// The configuration of a server. Defaults are those of Redis 7.0.15.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {}
