//! Versions of servers: what each can do that Redis 7.0.15 cannot.

use std::fmt;

/// The version of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerVersion {
    /// Redis 7.0.15, as Debian 12 has it.
    #[default]
    Redis7_0,
    /// Redis 7.2, and Valkey 7.2 and 8.0: `WAITAOF`.
    Redis7_2,
    /// Redis 7.4: fields of hashes that expire by themselves (`HPEXPIRE`), besides.
    Redis7_4,
    /// Redis 8.4: `SET` with `IFEQ` and `IFNE`, and `DELEX`, besides.
    Redis8_4,
    /// Valkey 8.1: `SET` with `IFEQ`, and `WAITAOF`.
    Valkey8_1,
    /// Valkey 9.0: `DELIFEQ`, and fields of hashes that expire by themselves, besides.
    Valkey9_0,
}

impl ServerVersion {
    /// All of them, by name.
    pub const ALL: [(&str, Self); 6] = [
        ("redis-7.0", Self::Redis7_0),
        ("redis-7.2", Self::Redis7_2),
        ("redis-7.4", Self::Redis7_4),
        ("redis-8.4", Self::Redis8_4),
        ("valkey-8.1", Self::Valkey8_1),
        ("valkey-9.0", Self::Valkey9_0),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        let named = Self::ALL.iter().find(|(_, version)| *version == self);
        named.map_or("", |(name, _)| name)
    }

    /// Which server it is, and its major and minor version.
    pub fn release(self) -> (&'static str, Release) {
        match self {
            Self::Redis7_0 => ("redis", (7, 0)),
            Self::Redis7_2 => ("redis", (7, 2)),
            Self::Redis7_4 => ("redis", (7, 4)),
            Self::Redis8_4 => ("redis", (8, 4)),
            Self::Valkey8_1 => ("valkey", (8, 1)),
            Self::Valkey9_0 => ("valkey", (9, 0)),
        }
    }

    /// The version that a release of a server follows: the newest one of this server that is no newer than it. Valkey
    /// before 8.1 can do what Redis 7.2 can.
    pub fn followed_by(server: &str, release: Release) -> Option<Self> {
        let versions = Self::ALL.into_iter().map(|(_, version)| version);
        let is_older = |version: &Self| {
            let (name, first) = version.release();
            name == server && first <= release
        };
        let newest = versions
            .filter(is_older)
            .max_by_key(|version| version.release());
        newest.or((server == "valkey").then_some(Self::Redis7_2))
    }

    /// Whether it has what servers have since these versions.
    pub(crate) fn has(self, since: Since) -> bool {
        let (server, release) = self.release();
        let first = match server {
            "redis" => since.redis,
            _ => since.valkey,
        };
        first.is_some_and(|first| first <= release)
    }
}

/// The version as the server says it.
impl fmt::Display for ServerVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.release().1 {
            (7, 0) => out.write_str(crate::VERSION),
            (major, minor) => write!(out, "{major}.{minor}.0"),
        }
    }
}

/// A major and a minor version.
pub type Release = (u8, u8);

/// The first versions of Redis and of Valkey that have a command or an option; `None` if that server has it not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Since {
    pub(crate) redis: Option<Release>,
    pub(crate) valkey: Option<Release>,
}

/// A comparison of the value of a key with another, on which a command depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// `IFEQ`: they are equal.
    IfEq,
    /// `IFNE`: they differ.
    IfNe,
}

impl Comparison {
    /// The comparison of this name.
    pub(crate) fn of(name: &[u8]) -> Option<Self> {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        if is("IFEQ") {
            return Some(Self::IfEq);
        }
        is("IFNE").then_some(Self::IfNe)
    }

    /// Since when `SET` takes it.
    pub(crate) fn since(self) -> Since {
        match self {
            Self::IfEq => Since {
                redis: Some((8, 4)),
                valkey: Some((8, 1)),
            },
            Self::IfNe => Since {
                redis: Some((8, 4)),
                valkey: None,
            },
        }
    }

    /// Whether it holds of the value of a key and another value. A key that is missing equals nothing.
    pub(crate) fn holds(self, there: Option<&[u8]>, other: &[u8]) -> bool {
        (there == Some(other)) == (self == Self::IfEq)
    }
}
