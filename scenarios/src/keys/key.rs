//! What a row says of a key, and what can stand behind it.

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What can stand there.
    pub holds: Holds,
    /// What is so if it is left out, in Markdown; empty if there is nothing to say.
    pub default: &'static str,
    /// What it means, in Markdown.
    pub means: &'static str,
    /// Whether it must be there.
    pub is_needed: bool,
}

impl Key {
    /// A key that may be left out.
    pub(crate) const fn new(
        name: &'static str,
        holds: Holds,
        default: &'static str,
        means: &'static str,
    ) -> Self {
        Self {
            name,
            holds,
            default,
            means,
            is_needed: false,
        }
    }

    /// A key that must be there.
    pub(crate) const fn needed(name: &'static str, holds: Holds, means: &'static str) -> Self {
        Self {
            name,
            holds,
            default: "",
            means,
            is_needed: true,
        }
    }

    /// The value that is taken if it is left out, as a file would write it, if there is one.
    pub fn default_value(&self) -> Option<&'static str> {
        if self.default.bytes().all(|byte| byte.is_ascii_digit()) && !self.default.is_empty() {
            return Some(self.default);
        }
        self.default.strip_prefix('`')?.strip_suffix('`')
    }
}

/// The keys of a table.
#[derive(Clone, Copy, Debug)]
pub struct KeyTable {
    /// How it is written: `[workload]`.
    pub title: &'static str,
    /// What it says, in one or two sentences.
    pub about: &'static str,
    /// Its keys, in the order in which people read them.
    pub keys: &'static [Key],
}

/// The names of which one can stand somewhere.
pub type Words = fn() -> Vec<&'static str>;

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
    /// A duration, or a range of them.
    Range,
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
    /// One of these, each with what belongs to it.
    Variants(&'static [Variant]),
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
    /// For each region, who lies there.
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
    pub(crate) const fn word(name: &'static str, means: &'static str) -> Self {
        Self {
            name,
            holds: None,
            is_word: true,
            means,
        }
    }

    /// A name, and what must stand behind it.
    pub(crate) const fn with(name: &'static str, holds: Holds, means: &'static str) -> Self {
        Self {
            name,
            holds: Some(holds),
            is_word: false,
            means,
        }
    }

    /// A name, and what may stand behind it.
    pub(crate) const fn or_word(name: &'static str, holds: Holds, means: &'static str) -> Self {
        Self {
            name,
            holds: Some(holds),
            is_word: true,
            means,
        }
    }
}
