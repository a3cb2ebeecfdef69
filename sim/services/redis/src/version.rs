//! Versions of servers: what each can do that Redis 7.0.15 cannot.

/// The version of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerVersion {
    /// Redis 7.0.15, as Debian 12 has it.
    #[default]
    Redis7_0,
    /// Redis 7.2, and Valkey 7.2 and 8.0: `WAITAOF`.
    Redis7_2,
    /// Redis 8.4: `SET` with `IFEQ` and `IFNE`, and `DELEX`, besides.
    Redis8_4,
    /// Valkey 8.1: `SET` with `IFEQ`, and `WAITAOF`.
    Valkey8_1,
    /// Valkey 9.0: `DELIFEQ`, besides.
    Valkey9_0,
}

impl ServerVersion {
    /// All of them, by name.
    pub const ALL: [(&str, Self); 5] = [
        ("redis-7.0", Self::Redis7_0),
        ("redis-7.2", Self::Redis7_2),
        ("redis-8.4", Self::Redis8_4),
        ("valkey-8.1", Self::Valkey8_1),
        ("valkey-9.0", Self::Valkey9_0),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        let named = Self::ALL.iter().find(|(_, version)| *version == self);
        named.map_or("", |(name, _)| name)
    }

    /// Whether it has this command, which Redis 7.0.15 has not.
    pub(crate) fn has(self, command: &str) -> bool {
        match command {
            "waitaof" => self != Self::Redis7_0,
            "delex" => self == Self::Redis8_4,
            "delifeq" => self == Self::Valkey9_0,
            _ => true,
        }
    }

    /// Whether `SET` takes this comparison with the value that is there.
    pub(crate) fn set_takes(self, comparison: Comparison) -> bool {
        match comparison {
            Comparison::IfEq => matches!(self, Self::Redis8_4 | Self::Valkey8_1 | Self::Valkey9_0),
            Comparison::IfNe => self == Self::Redis8_4,
        }
    }
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

    /// Whether it holds of the value of a key and another value. A key that is missing equals nothing.
    pub(crate) fn holds(self, there: Option<&[u8]>, other: &[u8]) -> bool {
        (there == Some(other)) == (self == Self::IfEq)
    }
}
