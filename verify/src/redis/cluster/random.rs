//! Random commands to random nodes.

use picklock_clients::redis::Command;

use super::PRIMARIES;
use crate::redis::random::Random;

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

/// A node, and what it is asked.
pub(super) fn step(random: &mut Random) -> (usize, Command) {
    let node = random.below(2 * PRIMARIES);
    let template = TEMPLATES[random.below(TEMPLATES.len())];
    let words = template.iter().skip(1);
    let command = words.fold(Command::new(template[0]), |command, word| match *word {
        "K" => command.arg(random.of(KEYS)),
        word => command.arg(word),
    });
    (node, command)
}
