//! Commands that wait for keys, and scripts that others wait for.

use super::{Case, case};

pub(in crate::redis) const BLOCKING: Case = case(
    "commands that wait",
    "
    0 BLPOP k
    0 BLPOP k x
    0 BLPOP k -1
    0 BLPOP k 1e300
    0 BLPOP k inf
    0 BLPOP k nan
    0 BLMOVE a b LEFT UP 0
    0 BLMOVE a b LEFT RIGHT x
    0 BRPOPLPUSH a b x
    0 BLMPOP x 1 k LEFT
    0 BLMPOP 0 0 k LEFT
    0 BLMPOP 0 3 k LEFT
    0 BLMPOP 0 1 k UP
    0 BLMPOP 0 1 k LEFT COUNT 0
    0 BLMPOP 0 1 k LEFT COUNT x
    0 BLMPOP 0 1 k LEFT FOO
    0 BLMPOP 0 1 k LEFT COUNT 1 COUNT 2
    0 LMPOP 1 k LEFT
    0 LMPOP 0 k LEFT
    0 LMPOP 1 k LEFT COUNT 0
    0 BLPOP k 0.02
    0 BRPOP k other 0.02
    0 BLMOVE a b LEFT RIGHT 0.02
    0 BRPOPLPUSH a b 0.02
    0 BLMPOP 0.02 1 k LEFT
    0 SET s 1
    0 BLPOP s 0
    0 BLPOP k s 0
    0 BLMOVE s k LEFT LEFT 0
    0 BLMPOP 0 1 s LEFT
    0 MULTI
    0 BLPOP k 0
    0 BLMOVE a b LEFT LEFT 0
    0 BRPOPLPUSH a b 0
    0 BLMPOP 0 1 a LEFT
    0 EXEC
    0 EVAL 'return redis.call(`blpop`, `k`, 1)' 0
    0 EVAL 'return redis.call(`blmove`, `a`, `b`, `LEFT`, `LEFT`, 1)' 0
    0 EVAL 'return redis.call(`lmpop`, 1, `a`, `LEFT`)' 0
    0 RPUSH k a b c d e f g
    0 BLPOP none k 0
    0 BRPOP k 0
    0 BLMPOP 0 2 none k LEFT COUNT 2
    0 LMPOP 1 k RIGHT COUNT 9
    0 RPUSH k a b
    0 BLMOVE k l LEFT RIGHT 0
    0 BRPOPLPUSH k l 0
    0 BLMOVE l s LEFT RIGHT 0
    0 LRANGE l 0 -1
    0 DEL l
    ",
);

pub(in crate::redis) const WAITING: Case = case(
    "clients that wait",
    "
    0 ~ BLPOP k k other 0
    1 ~ BRPOP k 0
    2 RPUSH k a b c
    hear 0
    hear 1
    2 LRANGE k 0 -1
    2 DEL k
    0 ~ BLPOP q1 q2 0
    2 MULTI
    2 RPUSH q2 x
    2 RPUSH q1 y
    2 EXEC
    hear 0
    2 EXISTS q1 q2
    2 DEL q1 q2
    0 ~ BLPOP k 0
    2 MULTI
    2 RPUSH k x
    2 DEL k
    2 EXEC
    2 EVAL 'redis.call(`rpush`, `k`, `a`) redis.call(`lpop`, `k`) return redis.call(`rpush`, `k`, `b`)' 0
    hear 0
    2 EXISTS k
    0 ~ BLMOVE src dst LEFT RIGHT 0
    1 ~ BLPOP dst 0
    2 RPUSH src z
    hear 0
    hear 1
    2 EXISTS src dst
    2 SET s 1
    0 ~ BLMOVE src s LEFT RIGHT 0
    1 ~ BRPOPLPUSH src dst 0
    2 RPUSH src z
    hear 0
    hear 1
    2 LRANGE dst 0 -1
    0 ~ BLMPOP 0 1 m LEFT COUNT 3
    2 RPUSH m a b
    hear 0
    0 ~ BLPOP k 0
    2 SET k x
    2 DEL k
    2 SADD k x
    2 DEL k
    2 RPUSH other x
    2 RENAME other k
    hear 0
    0 ~ BLPOP k 0
    2 RPUSH other x
    2 COPY other k
    hear 0
    2 DEL other
    0 ~ BLPOP k 0.05
    hear 0
    0 PING
    0 ~ BLPOP k 0
    renew 0
    pass 50
    2 RPUSH k a
    2 LPOP k
    0 ~ BLPOP k 0
    1 CLIENT PAUSE 100 WRITE
    1 ~ RPUSH k x
    pass 20
    hear 1
    hear 0
    0 HELLO 3
    0 ~ BLPOP k 0.01
    hear 0
    0 ~ BLPOP k 0
    2 RPUSH k a
    hear 0
    2 CLIENT UNBLOCK
    2 CLIENT UNBLOCK x
    2 CLIENT UNBLOCK 99999
    2 CLIENT UNBLOCK 99999 FOO
    ",
);

pub(in crate::redis) const BUSY: Case = case(
    "a script that goes on for ever",
    "
    0 CONFIG GET busy-reply-threshold
    0 CONFIG SET lua-time-limit 200
    0 CONFIG GET lua-time-limit
    0 CONFIG SET busy-reply-threshold x
    0 CONFIG SET busy-reply-threshold 100
    0 SET a 1
    1 MULTI
    1 SET a 2
    3 ~ BLPOP q 0
    0 ~ EVAL 'while true do end' 0
    pass 300
    1 ! EXEC
    1 ! GET a
    2 ! PING
    2 ! MULTI
    2 ! SET a 3
    2 ! EXEC
    2 ! MULTI
    2 ! DISCARD
    2 ! WATCH a
    2 ! UNWATCH
    2 ! HELLO 2
    2 ! RESET
    2 ! CLIENT ID
    2 ! SCRIPT EXISTS a
    2 ! EVAL 'return 1' 0
    2 ! NOSUCH
    2 ! GET
    2 ! SUBSCRIBE a
    2 ! SCRIPT KILL
    hear 0
    2 GET a
    2 SCRIPT KILL
    2 RPUSH q a
    hear 3
    0 ~ EVAL 'redis.pcall(`get`, `a`) while true do end' 0
    pass 300
    2 ! SCRIPT KILL
    hear 0
    0 CONFIG SET busy-reply-threshold 5000
    ",
);

/// After it the server has no replica any more, and is of no use.
pub(in crate::redis) const UNKILLABLE: Case = case(
    "a client that waits at a server that becomes a replica, and a script that has written and goes on for ever",
    "
    0 ~ BLPOP k 0
    2 REPLICAOF 127.0.0.1 1
    hear 0
    2 REPLICAOF NO ONE
    0 PING
    0 CONFIG SET busy-reply-threshold 100
    0 ~ EVAL 'redis.call(`set`, `a`, 9) while true do end' 0
    pass 300
    2 ! GET a
    2 ! SCRIPT KILL
    2 ! GET a
    ",
);
