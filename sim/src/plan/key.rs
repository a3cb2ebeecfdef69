//! A key of a table of scenario files: a row. What can stand behind it, what is so without it, and what it means.

use super::value::Value;

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What can stand there.
    pub holds: Holds,
    /// What holds without the key, in Markdown; empty if the default says it, or there is nothing to say.
    pub without: &'static str,
    /// The value that is taken if it is left out, if there is one; a simpler plan has it, too.
    pub default: fn() -> Option<Value>,
    /// What it means, in Markdown.
    pub means: &'static str,
    /// Whether it must be there.
    pub is_needed: bool,
    /// The settings of a service that it belongs to, if it is one of those.
    pub of: Option<SettingsGroup>,
    /// When a file that is written has it.
    pub written: Written,
    /// What older files call it, if they call it otherwise.
    pub formerly: Option<&'static str>,
}

/// Settings that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsGroup {
    /// Those that say which servers there are: all cases of a file have the same.
    Topology,
    /// Those of servers.
    Servers,
    /// Those of client libraries.
    Clients,
    /// Those of the lock's own node, and of nodes that go by themselves.
    Nodes,
}

/// When a file that is written has a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Always, unless there is no value.
    Always,
    /// If its value is not the default.
    IfAnother,
}

impl Key {
    /// A key that may be left out.
    pub const fn new(
        name: &'static str,
        holds: Holds,
        without: &'static str,
        means: &'static str,
    ) -> Self {
        Self {
            name,
            holds,
            without,
            default: || None,
            means,
            is_needed: false,
            of: None,
            written: Written::Always,
            formerly: None,
        }
    }

    /// A key that must be there.
    pub const fn needed(name: &'static str, holds: Holds, means: &'static str) -> Self {
        Self {
            is_needed: true,
            ..Self::new(name, holds, "", means)
        }
    }
}

/// The keys of a table.
#[derive(Clone, Copy, Debug)]
pub struct KeyTable {
    /// How it is written: `[workload]`.
    pub title: &'static str,
    /// What it says, in one or two sentences.
    pub about: &'static str,
    /// Its keys, in the order in which people read them, and files are written.
    pub keys: &'static [&'static [Key]],
}

impl KeyTable {
    /// Its keys.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> + Clone + use<> {
        self.keys.iter().copied().flatten()
    }
}

/// The names of which one can stand somewhere.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// What each of them is, as an error message calls a name that is none.
    pub what: &'static str,
    /// All of them.
    pub names: fn() -> Vec<&'static str>,
}

/// What can stand behind a key.
#[derive(Clone, Copy, Debug)]
pub enum Holds {
    /// A text.
    Text,
    /// One sentence on one line.
    Claim,
    /// The name of a case.
    CaseName,
    /// True or false.
    Boolean,
    /// A whole number, from and to.
    Whole(i64, i64),
    /// A whole number, or a range of them that each seed draws from.
    WholeOrRange(i64, i64),
    /// One of these numbers.
    OneOf(&'static [i64]),
    /// A number.
    Number,
    /// A duration that is longer than zero.
    Duration,
    /// A duration.
    DurationOrZero,
    /// A range of durations, or one of them.
    Range,
    /// A duration, or a range of them that each seed draws from.
    DurationOrRange,
    /// A duration that may be negative.
    SignedDuration,
    /// A duration that may be negative, or a range of them.
    SignedRange,
    /// How long a section lasts.
    Hold,
    /// How often something happens, in percent.
    Rate,
    /// How often a contender takes the lock to read.
    Reads,
    /// A number of bytes.
    Bytes,
    /// The hash of a history.
    Hash,
    /// The letters of events of keys.
    KeyspaceEvents,
    /// A contender.
    Contender,
    /// A contender, several, or any.
    ContenderNames,
    /// A server.
    Server,
    /// A lock.
    Lock,
    /// One of these names.
    Words(Words),
    /// One of these, each with what belongs to it, and what each of them is.
    Variants(&'static str, &'static [Variant]),
    /// A list.
    List(&'static Holds),
    /// A value, or a list of which each seed takes one.
    OneOrList(&'static Holds),
    /// One or the other.
    Either(&'static [Holds]),
    /// A table with these keys.
    Table(&'static KeyTable),
    /// Tables with these keys, each behind `[[…]]`.
    Tables(&'static KeyTable),
    /// A table whose keys are these names, with a value each, all of one kind.
    ByWord(Words, &'static str, &'static Holds),
    /// For each region, its machines.
    MachinesByRegion,
    /// For each two regions, how far they are from each other.
    LatenciesByRegions,
    /// What a fault waits for.
    Trigger,
    /// What breaks.
    Fault,
}

/// One of several, by its name.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Its name.
    pub name: &'static str,
    /// What belongs to it, if anything does.
    pub holds: Option<Holds>,
    /// Whether the name alone will do.
    pub is_word: bool,
    /// What it means.
    pub means: &'static str,
}

impl Variant {
    /// A name that nothing belongs to.
    pub const fn word(name: &'static str, means: &'static str) -> Self {
        Self {
            name,
            holds: None,
            is_word: true,
            means,
        }
    }

    /// A name, and what must stand behind it.
    pub const fn with(name: &'static str, holds: Holds, means: &'static str) -> Self {
        Self {
            name,
            holds: Some(holds),
            is_word: false,
            means,
        }
    }

    /// A name, and what may stand behind it.
    pub const fn or_word(name: &'static str, holds: Holds, means: &'static str) -> Self {
        Self {
            name,
            holds: Some(holds),
            is_word: true,
            means,
        }
    }
}
