//! Random commands to random nodes.

use picklock_clients::redis::Command;

use super::PRIMARIES;

/// Draws steps.
pub(super) struct Random {
    state: u64,
}

/// Of each primary some, and some that share a slot.
const KEYS: &[&str] = &[
    "a", "b", "c", "lock:a", "{a}1", "{a}2", "{b}1", "{b}2", "x{c}y", "{}a", "",
];

/// Commands with gaps: `K` a key. A word in quotes may have spaces.
const TEMPLATES: &[&[&str]] = &[
    &["GET", "K"],
    &["SET", "K", "1"],
    &["SET", "K", "2", "NX"],
    &["DEL", "K"],
    &["DEL", "K", "K"],
    &["MGET", "K", "K"],
    &["MSET", "K", "1", "K", "2"],
    &["EXISTS", "K", "K"],
    &["RENAME", "K", "K"],
    &["INCR", "K"],
    &["HSET", "K", "f", "1"],
    &["TYPE", "K"],
    &["PING"],
    &["MULTI"],
    &["EXEC"],
    &["DISCARD"],
    &["WATCH", "K"],
    &["UNWATCH"],
    &["READONLY"],
    &["READWRITE"],
    &["ASKING"],
    &["EVAL", "return 1", "0"],
    &["EVAL", "return redis.call('GET', KEYS[1])", "1", "K"],
    &["EVAL", "return redis.call('SET', KEYS[1], 1)", "1", "K"],
    &["EVAL", "return KEYS[2]", "2", "K", "K"],
    &["EVAL", "return redis.pcall('GET', ARGV[1])", "0", "K"],
    &["EVAL", "return redis.call('GET', ARGV[1])", "1", "K", "K"],
    &["CLUSTER", "KEYSLOT", "K"],
    &["CLUSTER", "COUNTKEYSINSLOT", "3300"],
    &["CLUSTER", "KEYSLOT"],
    &["SELECT", "0"],
    &["SELECT", "1"],
    &["REPLICAOF", "NO", "ONE"],
    &["PUBLISH", "K", "1"],
    &["OBJECT", "ENCODING", "K"],
];

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// SplitMix64.
    fn below(&mut self, most: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) as usize % most.max(1)
    }

    /// A node, and what it is asked.
    pub(super) fn step(&mut self) -> (usize, Command) {
        let node = self.below(2 * PRIMARIES);
        let template = TEMPLATES[self.below(TEMPLATES.len())];
        let words = template.iter().skip(1);
        let command = words.fold(Command::new(template[0]), |command, word| match *word {
            "K" => command.arg(KEYS[self.below(KEYS.len())]),
            word => command.arg(word),
        });
        (node, command)
    }
}
