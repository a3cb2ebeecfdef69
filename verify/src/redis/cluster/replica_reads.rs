//! Reads from replicas of a cluster: what the replica answers itself, and what it redirects to its primary.

use super::Step;

/// Of slot 3300, of `b`, the first node is the primary, and `3` its replica.
pub(super) const WRITES: &[Step] = &[
    (0, "SET {b}read old PX 100000"),
    (0, "HSET {b}held field 1"),
];

/// When the replica has heard of it.
pub(super) const READS: &[Step] = &[
    (3, "GET {b}read"),
    (3, "HEXISTS {b}held field"),
    (3, "EVAL_RO return(redis.call('GET',KEYS[1])) 1 {b}read"),
    (3, "READONLY now"),
    (3, "READONLY"),
    (3, "GET {b}read"),
    (3, "GET {b}none"),
    (3, "TTL {b}read"),
    (3, "HEXISTS {b}held field"),
    (3, "EXISTS {b}read {b}held {b}none"),
    (3, "EXISTS {b}read a"),
    (3, "EVAL_RO return(redis.call('GET',KEYS[1])) 1 {b}read"),
    (3, "EVAL return(redis.call('GET',KEYS[1])) 1 {b}read"),
    (3, "EVAL return(redis.call('SET',KEYS[1],1)) 1 {b}read"),
    // What may write goes to the primary, and what is another primary's goes there.
    (3, "SET {b}read new NX GET"),
    (3, "DEL {b}read"),
    (3, "PEXPIRE {b}read 1"),
    (3, "GET a"),
    (4, "READONLY"),
    (4, "GET {b}read"),
    (3, "WAIT 1 0"),
    (3, "MULTI"),
    (3, "GET {b}read"),
    (3, "EXEC"),
    (3, "MULTI"),
    (3, "GET {b}read"),
    (3, "SET {b}read new"),
    (3, "EXEC"),
    (3, "WATCH {b}read"),
    (3, "UNWATCH"),
    (3, "READWRITE"),
    (3, "GET {b}read"),
    (3, "READWRITE"),
    (3, "READONLY"),
    (3, "GET {b}read"),
    (3, "RESET"),
    (3, "GET {b}read"),
    // To a primary it is nothing.
    (0, "READONLY"),
    (0, "GET {b}read"),
    (0, "SET {b}read new"),
    (0, "GET a"),
    (0, "READWRITE"),
    (4, "READWRITE"),
];

/// When the replica has heard of the rest.
pub(super) const AGAIN: &[Step] = &[
    (3, "READONLY"),
    (3, "GET {b}read"),
    (3, "READWRITE"),
    (0, "DEL {b}read {b}held"),
];
