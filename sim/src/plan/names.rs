//! The names by which a plan refers to contenders and servers.

/// A contender, by its index from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContenderName(pub u32);

/// A lock that contenders take, by its index from zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockName(pub u32);

impl LockName {
    /// A run has so many locks at most: each is named by a letter.
    pub const MOST: u32 = 26;

    /// The letter that its path or its key ends with.
    pub fn letter(self) -> char {
        let index = u8::try_from(self.0 % Self::MOST).unwrap_or_default();
        char::from(b'a' + index)
    }

    /// The lock of this letter.
    pub fn of_letter(letter: char) -> Option<Self> {
        letter
            .is_ascii_lowercase()
            .then(|| Self(u32::from(letter) - u32::from('a')))
    }
}

/// A server, by its part or by its index from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServerName {
    /// The leader when the fault strikes.
    Leader,
    /// The server of Redis that is the primary when the fault strikes.
    Primary,
    /// The `nth` (from zero) of those that follow when the fault strikes.
    Follower(u32),
    /// The `nth` (from zero) of those that do not vote.
    Observer(u32),
    /// The server that a contender's client is connected to when the fault strikes.
    Of(ContenderName),
    /// The server at this place.
    Number(u32),
    /// The Sentinel at this place.
    Sentinel(u32),
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
    /// Both.
    Both,
}

impl Direction {
    /// Every direction, by its name in scenario files.
    pub const NAMED: [(&str, Self); 3] = [
        ("to-server", Self::ToServer),
        ("to-client", Self::ToClient),
        ("both", Self::Both),
    ];

    /// Its name in scenario files.
    pub fn name(self) -> &'static str {
        match self {
            Self::ToServer => "to-server",
            Self::ToClient => "to-client",
            Self::Both => "both",
        }
    }
}

/// A call of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockCall {
    /// It waits until the lock is there.
    Acquire,
    /// It gives the lock back when the section is over.
    Release,
}

impl LockCall {
    /// Every call, by its name in scenario files.
    pub const NAMED: [(&str, Self); 2] = [("acquire", Self::Acquire), ("release", Self::Release)];

    /// Its name in scenario files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Acquire => "acquire",
            Self::Release => "release",
        }
    }
}
