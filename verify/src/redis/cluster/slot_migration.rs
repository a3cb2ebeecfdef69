//! A slot that moves from one primary to another: what every node answers on the way, and if the source dies meanwhile.

use std::time::Duration;

use picklock_clients::redis::{Command, Value};

use super::{ClusterBackend, Pair, Step, replica_reads, until};
use crate::harness::error::Result;

/// How long it takes until all nodes have heard of something.
const HEARD: Duration = Duration::from_secs(3);
/// How long it takes until a replica has.
const COPIED: Duration = Duration::from_millis(300);

/// Slot 3300, of `b`, goes from the first primary to the second. `3` is the replica of the first.
const MOVE: &[Step] = &[
    (0, "SET {b}text here PX 100000"),
    (0, "HSET {b}hash f 1 g 2"),
    (0, "RPUSH {b}list 1 2 3"),
    (0, "ZADD {b}sorted 1.5 one 2 two"),
    (0, "SADD {b}set 1 2"),
    (0, "SET {b}busy old"),
    (0, "SET {b}sent 1"),
    (0, "SET {b}both 2"),
    (1, "CLUSTER SETSLOT 3300 IMPORTING absent"),
    (0, "CLUSTER SETSLOT 3300 MIGRATING absent"),
    (0, "CLUSTER SETSLOT 3300 NODE absent"),
    (0, "CLUSTER SETSLOT 3300 MIGRATING @3"),
    (1, "CLUSTER SETSLOT 3300 IMPORTING @3"),
    (0, "CLUSTER SETSLOT 3300 NODE @3"),
    (1, "CLUSTER SETSLOT 3300 MIGRATING @0"),
    (0, "CLUSTER SETSLOT 3300 IMPORTING @1"),
    (3, "CLUSTER SETSLOT 3300 MIGRATING @1"),
    (0, "CLUSTER SETSLOT 3300 NODE @1"),
    (0, "CLUSTER SETSLOT 16384 STABLE"),
    (0, "CLUSTER SETSLOT 3300 SOMEHOW @1"),
    (0, "CLUSTER GETKEYSINSLOT 3300 -1"),
    (0, "CLUSTER GETKEYSINSLOT 3300 x"),
    (0, "CLUSTER GETKEYSINSLOT 3301 10"),
    (0, "CLUSTER GETKEYSINSLOT 16384 1"),
    (0, "CLUSTER COUNTKEYSINSLOT 3300"),
    (0, "CLUSTER COUNTKEYSINSLOT 16384"),
    (0, "CLUSTER COUNTKEYSINSLOT x"),
    // Before the slot is open, keys cannot go.
    (0, "MIGRATE 127.0.0.1 :1 {b}text 0 1000"),
    (1, "CLUSTER SETSLOT 3300 IMPORTING @0"),
    (0, "CLUSTER SETSLOT 3300 MIGRATING @1"),
    (0, "GET {b}text"),
    (0, "GET {b}none"),
    (0, "SET {b}none 1 NX"),
    (1, "GET {b}text"),
    (1, "ASKING"),
    (1, "GET {b}text"),
    (1, "GET {b}text"),
    (2, "GET {b}text"),
    (3, "GET {b}text"),
    (0, "EXISTS {b}text {b}none"),
    (0, "EXISTS {b}none {b}never"),
    (1, "ASKING"),
    (1, "EXISTS {b}none {b}never"),
    (0, "EVAL return(redis.call('EXISTS',KEYS[1])) 1 {b}text"),
    (
        0,
        "EVAL return(redis.call('EXISTS',KEYS[1])) 2 {b}text {b}none",
    ),
    (0, "EVAL return(redis.call('EXISTS',ARGV[1])) 0 {b}none"),
    (0, "EVAL return(redis.call('EXISTS',ARGV[1])) 0 {b}text"),
    (0, "WATCH {b}text"),
    (0, "MULTI"),
    (0, "GET {b}text"),
    (0, "GET {b}none"),
    (0, "EXEC"),
    (0, "MIGRATE 127.0.0.1 :1 {b}none 0 1000"),
    (0, "MIGRATE 127.0.0.1 :1 {b}text 0 x"),
    (0, "MIGRATE 127.0.0.1 :1 {b}text 0 1000 SOMEHOW"),
    (0, "MIGRATE 127.0.0.1 :1 {b}text 0 1000 KEYS {b}text"),
    (0, "MIGRATE 127.0.0.1 :1 {b}text 0 1000"),
    (0, "MIGRATE 127.0.0.1 :1 {b}text 0 1000"),
    (0, "GET {b}text"),
    (0, "TTL {b}text"),
    (1, "GET {b}text"),
    (1, "ASKING"),
    (1, "TTL {b}text"),
    (1, "ASKING"),
    (1, "SET {b}busy new"),
    (0, "MIGRATE 127.0.0.1 :1 {b}busy 0 1000"),
    (0, "GET {b}busy"),
    (0, "MIGRATE 127.0.0.1 :1 {b}busy 0 1000 COPY REPLACE"),
    (0, "GET {b}busy"),
    (0, "MGET {b}busy {b}text"),
    (1, "ASKING"),
    (1, "MGET {b}busy {b}text"),
    (1, "ASKING"),
    (1, "EVAL return(KEYS[2]) 2 {b}busy {b}channel"),
    (0, "DEL {b}busy"),
    (
        0,
        "EVAL redis.call('DEL',KEYS[1])return(redis.call('EXISTS',KEYS[1])) 1 {b}set",
    ),
    (0, "GET {b}set"),
    // Keys that a transaction sends away, and what comes after them in it; then one that has gone before.
    (0, "MULTI"),
    (0, "GET {b}sent"),
    (0, "MIGRATE 127.0.0.1 :1 {b}sent 0 1000"),
    (0, "GET {b}sent"),
    (0, "INCR {b}both"),
    (0, "MIGRATE 127.0.0.1 :1 {b}both 0 1000 COPY"),
    (0, "INCR {b}both"),
    (0, "MIGRATE 127.0.0.1 :1 {b}both 0 1000"),
    (0, "MIGRATE 127.0.0.1 :1 {b}both 0 x"),
    (0, "GET {b}both"),
    (0, "EXEC"),
    (1, "ASKING"),
    (1, "GET {b}sent"),
    (1, "ASKING"),
    (1, "GET {b}both"),
    (0, "DEL {b}both"),
    (0, "MULTI"),
    (0, "MIGRATE 127.0.0.1 :1 {b}sent 0 1000"),
    (0, "EXEC"),
    (0, "CLUSTER COUNTKEYSINSLOT 3300"),
    // A watched key that goes, and a transaction about one that has gone.
    (0, "WATCH {b}list"),
    (0, "MULTI"),
    (0, "DEL {b}list"),
];

/// What comes while a transaction is open must come by another connection, and there is one to each node: the target.
const REST: &[Step] = &[
    (0, "DISCARD"),
    (
        0,
        "MIGRATE 127.0.0.1 :1 {} 0 1000 KEYS {b}hash {b}list {b}sorted {b}none",
    ),
    (0, "CLUSTER COUNTKEYSINSLOT 3300"),
    (1, "ASKING"),
    (1, "HGETALL {b}hash"),
    (1, "ASKING"),
    (1, "LRANGE {b}list 0 -1"),
    (1, "ASKING"),
    (1, "ZRANGE {b}sorted 0 -1 WITHSCORES"),
    (1, "ASKING"),
    (1, "MULTI"),
    (1, "GET {b}text"),
    (1, "EXEC"),
    (1, "GET {b}text"),
    (1, "ASKING"),
    (1, "MULTI"),
    (1, "DISCARD"),
    (1, "GET {b}text"),
];

/// What replicas of either side make of it.
const COPIES: &[Step] = &[
    (3, "READONLY"),
    (3, "GET {b}text"),
    (4, "READONLY"),
    (4, "GET {b}text"),
];

const OVER: &[Step] = &[
    (1, "CLUSTER SETSLOT 3300 NODE @1"),
    (0, "CLUSTER SETSLOT 3300 NODE @1"),
    (0, "GET {b}text"),
    (1, "GET {b}text"),
];

const AFTERWARDS: &[Step] = &[
    (2, "GET {b}text"),
    (3, "GET {b}text"),
    (4, "GET {b}text"),
    (4, "HGETALL {b}hash"),
    (4, "CLUSTER COUNTKEYSINSLOT 3300"),
    (5, "GET {b}text"),
    (0, "MIGRATE 127.0.0.1 :1 {b}text 0 1000"),
    (3, "READWRITE"),
    (4, "READWRITE"),
];

/// The slot goes back, and its source dies when the key has gone.
const BACK: &[Step] = &[
    (0, "CLUSTER SETSLOT 3300 IMPORTING @1"),
    (1, "CLUSTER SETSLOT 3300 MIGRATING @0"),
    (1, "MIGRATE 127.0.0.1 :0 {b}text 0 1000"),
    (1, "SET {b}text again NX"),
];

const DEAD: usize = 1;
const HEIR: usize = 4;

/// By then another has the slot, and has set the key.
const LEFT: &[Step] = &[
    (2, "GET {b}text"),
    (HEIR, "GET {b}text"),
    (0, "ASKING"),
    (0, "GET {b}text"),
    (0, "GET b"),
    (0, "CLUSTER COUNTKEYSINSLOT 3300"),
    (0, "CLUSTER SETSLOT 3300 STABLE"),
];

const SETTLED: &[Step] = &[(0, "GET {b}text"), (0, "GET b")];

/// Asks all nodes on both sides, and compares their answers; replicas first, while all is well.
pub(super) fn moves<R: ClusterBackend, M: ClusterBackend>(
    pair: &mut Pair<R, M>,
    ports: &[u16],
) -> Result<()> {
    let names = names(pair, ports.len())?;
    let parts = [
        (replica_reads::WRITES, COPIED),
        (replica_reads::READS, COPIED),
        (replica_reads::AGAIN, Duration::ZERO),
        (MOVE, Duration::ZERO),
        (REST, COPIED),
        (COPIES, Duration::ZERO),
        (OVER, HEARD),
        (AFTERWARDS, Duration::ZERO),
    ];
    for (steps, then) in parts {
        ask(pair, steps, ports, &names)?;
        pair.pass(then)?;
    }
    Ok(())
}

/// The same, with a source that dies. Its nodes are of no use afterwards.
pub(super) fn source_dies<R: ClusterBackend, M: ClusterBackend>(
    pair: &mut Pair<R, M>,
    ports: &[u16],
) -> Result<()> {
    let names = names(pair, ports.len())?;
    ask(pair, BACK, ports, &names)?;
    pair.pass(COPIED)?;
    // Its replica takes its place and sets the key, which is elsewhere.
    for nodes in pair.both() {
        nodes.kill(DEAD);
        until(nodes, HEIR, &["SET", "{b}text", "twice", "NX"], "OK")?;
        nodes.pass(HEARD)?;
    }
    ask(pair, LEFT, ports, &names)?;
    pair.pass(HEARD)?;
    ask(pair, SETTLED, ports, &names)
}

/// What each side calls its nodes.
fn names<R: ClusterBackend, M: ClusterBackend>(
    pair: &mut Pair<R, M>,
    count: usize,
) -> Result<[Vec<String>; 2]> {
    let mut names = [Vec::new(), Vec::new()];
    for (nodes, names) in pair.both().into_iter().zip(&mut names) {
        for node in 0..count {
            let name = nodes.ask(node, &Command::new("CLUSTER").arg("MYID"))?;
            let name = name.as_ref().and_then(Value::bytes).unwrap_or_default();
            names.push(String::from_utf8_lossy(name).into_owned());
        }
    }
    Ok(names)
}

fn ask<R: ClusterBackend, M: ClusterBackend>(
    pair: &mut Pair<R, M>,
    steps: &[Step],
    ports: &[u16],
    names: &[Vec<String>; 2],
) -> Result<()> {
    for (node, text) in steps {
        let [real, model] = names.each_ref().map(|names| read(text, ports, names));
        pair.ask_node(*node, [&real, &model])?;
    }
    Ok(())
}

/// A step in the words of one side. An empty pair of braces stands for an empty word.
fn read(text: &str, ports: &[u16], names: &[String]) -> Command {
    let index = |word: &str, mark: char| word.strip_prefix(mark)?.parse::<usize>().ok();
    let words = text.split(' ').map(|word| {
        if word == "{}" {
            return String::new();
        }
        let name = index(word, '@').and_then(|node| names.get(node).cloned());
        let port = index(word, ':').and_then(|node| ports.get(node).map(u16::to_string));
        name.or(port).unwrap_or_else(|| word.to_owned())
    });
    Command::of(words).unwrap_or_else(|| Command::new("PING"))
}
