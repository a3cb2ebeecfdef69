//! Random commands.

use std::rc::Rc;

use picklock_clients::memcached::{Command, Verb};

use crate::harness::split_mix::SplitMix64;

/// Draws random commands.
pub(super) struct Random {
    numbers: SplitMix64,
    /// What is to be done next, the last first.
    due: Vec<Command>,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            numbers: SplitMix64(seed),
            due: Vec::new(),
        }
    }

    /// One of so many.
    pub(super) fn below(&mut self, options: usize) -> usize {
        let options = u64::try_from(options).unwrap_or(1).max(1);
        usize::try_from((self.numbers.next() >> 8) % options).unwrap_or_default()
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Never, a few seconds, at once, around 30 days, a Unix time that is near `unix`, and one beyond 31 bits.
    fn exptime(&mut self, unix: i64) -> i64 {
        let all = [
            0,
            0,
            1,
            1,
            2,
            3,
            -1,
            2_592_000,
            2_592_001,
            unix - 1,
            unix,
            unix + 1,
            unix + 2,
            4_102_444_800,
        ];
        self.one_of(&all)
    }

    fn value(&mut self) -> Rc<str> {
        self.one_of(&["a", "b", "10", "9", "0", "18446744073709551615", "007"])
            .into()
    }

    fn delta(&mut self) -> u64 {
        self.one_of(&[0, 1, 1, 5, 18_446_744_073_709_551_615])
    }

    /// A command when it is so late; these are cas numbers that were read.
    pub(super) fn command(&mut self, unix: i64, known: &[u64]) -> Command {
        if let Some(due) = self.due.pop() {
            return due;
        }
        let key = match self.below(200) {
            // A storage command with such a key leaves its value to be read as a command; a get takes away what the
            // server was about to answer before.
            0 => return Command::Delete("k".repeat(251).into()),
            _ => self.one_of(&["k", "k", "m", "n"]).into(),
        };
        match self.below(24) {
            0..=8 => Command::Storage {
                verb: match self.below(8) {
                    0 => Verb::Set,
                    1 => Verb::Replace,
                    2..=4 if !known.is_empty() => Verb::Cas(self.one_of(known)),
                    5 => Verb::Cas(self.one_of(&[0, 999_999_999])),
                    _ => Verb::Add,
                },
                key,
                value: self.value(),
                exptime: self.exptime(unix),
            },
            9..=12 => Command::Get {
                key,
                with_cas: self.below(2) > 0,
            },
            13 => Command::Gat(key, self.exptime(unix)),
            14..=15 => Command::Touch(key, self.exptime(unix)),
            16..=17 => Command::Delete(key),
            18..=19 => Command::Incr(key, self.delta()),
            20 => Command::Decr(key, self.delta()),
            21 if self.below(4) == 0 => {
                // What a flush has ended goes when it is read; else a later flush may bring it back, unless the server
                // has needed the room.
                let read = |key: &str| Command::Get {
                    key: key.into(),
                    with_cas: false,
                };
                let delay = self.one_of(&[0, 1, 2, 3]);
                self.due.push(Command::FlushAll(delay));
                self.due.extend(["k", "m"].map(read));
                read("n")
            }
            _ => Command::Get {
                key,
                with_cas: true,
            },
        }
    }
}
