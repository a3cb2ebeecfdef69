//! Transactions, messages, and connections.

use super::{Case, case};

pub(in crate::redis) const TRANSACTIONS: Case = case(
    "transactions",
    "
    0 EXEC
    0 DISCARD
    0 MULTI
    0 SET k a
    0 INCR k
    0 GET k
    1 GET k
    0 EXEC
    0 MULTI
    0 MULTI
    0 SET k b
    0 EXEC
    0 MULTI
    0 WATCH k
    0 EXEC
    0 MULTI
    0 nope
    0 SET k c
    0 EXEC
    0 GET k
    0 MULTI
    0 SET k
    0 EXEC
    0 MULTI
    0 SET k d
    0 DISCARD
    0 GET k
    0 MULTI
    0 EXEC
    0 MULTI
    0 EVAL 'return redis.call(`get`, `k`)' 0
    0 EVAL 'return redis.call(`nope`)' 0
    0 LPUSH k a
    0 GET k
    0 WAIT 1 0
    0 UNWATCH
    0 EXEC
    0 MULTI
    0 SET k a PX 20
    0 RESET
    0 EXEC
    0 PTTL k
    ",
);

pub(in crate::redis) const WATCHES: Case = case(
    "watched keys",
    "
    0 SET k a
    0 WATCH k
    0 MULTI
    0 SET k b
    0 EXEC
    0 WATCH k
    1 SET k b
    0 MULTI
    0 SET k c
    0 EXEC
    0 GET k
    0 WATCH k
    0 SET k b
    0 MULTI
    0 EXEC
    0 WATCH k
    1 SET k x NX
    1 DEL none
    0 MULTI
    0 PING
    0 EXEC
    0 WATCH k
    1 PEXPIRE k 100000
    0 MULTI
    0 EXEC
    0 WATCH none
    1 SET none a
    1 DEL none
    0 MULTI
    0 EXEC
    0 WATCH k
    1 SET k b
    0 UNWATCH
    0 MULTI
    0 EXEC
    0 WATCH k
    1 SET k b
    0 MULTI
    0 DISCARD
    0 MULTI
    0 EXEC
    0 WATCH k other
    1 SET other a
    0 MULTI
    0 nope
    0 EXEC
    0 MULTI
    0 EXEC
    0 SET k a PX 20
    0 WATCH k
    pass 30
    0 MULTI
    0 SET k mine
    0 EXEC
    0 EXISTS k
    0 SET k a PX 20
    0 WATCH k
    pass 30
    1 GET k
    0 MULTI
    0 EXEC
    0 SET k a PX 20
    pass 30
    0 WATCH k
    0 MULTI
    0 SET k mine
    0 EXEC
    0 SET k a PX 20
    pass 30
    0 WATCH k
    1 GET k
    0 MULTI
    0 SET k mine
    0 EXEC
    0 SET k a PX 20
    pass 30
    0 WATCH k
    1 SET k theirs
    0 MULTI
    0 SET k mine
    0 EXEC
    0 GET k
    0 WATCH k
    1 FLUSHALL
    0 MULTI
    0 EXEC
    0 WATCH none
    1 FLUSHALL
    0 MULTI
    0 EXEC
    0 SET k a
    0 WATCH k
    1 SET k b
    renew 0
    0 MULTI
    0 EXEC
    0 HSET h a 1
    0 WATCH h
    1 HDEL h z
    1 HSETNX h a 2
    0 MULTI
    0 EXEC
    0 WATCH h
    1 HSET h a 1
    0 MULTI
    0 EXEC
    0 WATCH h
    1 EVAL 'return redis.call(`hset`, `h`, `a`, 1)' 0
    0 MULTI
    0 EXEC
    0 WATCH h
    1 RENAME h i
    0 MULTI
    0 EXEC
    0 ZADD z 1 a
    0 WATCH z
    1 ZADD z 1 a
    0 MULTI
    0 EXEC
    0 SADD s a
    0 WATCH s
    1 SADD s a
    0 MULTI
    0 EXEC
    0 RPUSH l a
    0 WATCH l
    1 LTRIM l 0 -1
    0 MULTI
    0 EXEC
    0 WATCH l
    1 LREM l 0 none
    0 MULTI
    0 EXEC
    0 WATCH l
    1 PERSIST l
    0 MULTI
    0 EXEC
    0 WATCH l
    1 GETSET k same
    1 APPEND k ''
    0 MULTI
    0 EXEC
    ",
);

pub(in crate::redis) const MESSAGES: Case = case(
    "messages",
    "
    1 SUBSCRIBE a b
    1 SUBSCRIBE a
    2 PSUBSCRIBE a* zz*
    0 PUBLISH a hello
    0 PUBLISH b hello
    0 PUBLISH c hello
    0 SPUBLISH a hello
    0 PUBLISH a
    1 GET k
    1 SET k a
    1 PING
    1 PING hello
    1 MULTI
    1 WATCH k
    1 EVAL 'return 1' 0
    1 CLIENT ID
    0 PUBSUB CHANNELS
    0 PUBSUB CHANNELS a*
    0 PUBSUB NUMSUB a b c
    0 PUBSUB NUMPAT
    0 PUBSUB foo
    0 MULTI
    0 SET k a
    0 PUBLISH a in-transaction
    0 SET k b
    0 EXEC
    0 EVAL 'redis.call(`publish`, `a`, `one`) redis.call(`set`, `k`, `v`) return redis.call(`publish`, `a`,
    | `two`)' 0
    1 UNSUBSCRIBE b none
    1 UNSUBSCRIBE
    1 UNSUBSCRIBE
    1 GET k
    2 PUNSUBSCRIBE zz*
    0 PUBLISH abc x
    2 PUNSUBSCRIBE
    2 GET k
    3 SSUBSCRIBE s
    0 SPUBLISH s x
    0 PUBLISH s x
    0 PUBSUB SHARDCHANNELS
    0 PUBSUB SHARDNUMSUB s
    3 SUNSUBSCRIBE
    1 SUBSCRIBE z
    renew 1
    0 PUBLISH z unheard
    1 SUBSCRIBE z
    1 RESET
    0 PUBLISH z unheard
    1 GET k
    1 SUBSCRIBE
    2 UNSUBSCRIBE none
    0 SUBSCRIBE mine
    0 QUIT
    ",
);

pub(in crate::redis) const NEWER_PROTOCOL: Case = case(
    "the newer protocol",
    "
    1 HELLO 3
    1 HSET h a 1 b 2
    1 HGETALL h
    1 HGETALL none
    1 GET none
    1 MULTI
    1 GET none
    1 HGETALL h
    1 EXEC
    1 WATCH h
    0 HSET h c 3
    1 MULTI
    1 EXEC
    1 SADD s a b
    1 SMEMBERS s
    1 ZADD z 1.5 a 2 b
    1 ZSCORE z a
    1 ZINCRBY z 1 a
    1 ZRANGE z 0 -1 WITHSCORES
    1 ZRANGEBYSCORE z 0 9 WITHSCORES
    1 ZPOPMIN z
    1 ZPOPMIN z 1
    1 ZADD z INCR 1 b
    1 LPOP none
    1 LPOP none 2
    1 SUBSCRIBE a
    1 GET h
    1 SET k v
    0 PUBLISH a hello
    1 PUBLISH a own
    1 PING
    1 UNSUBSCRIBE a
    1 EVAL 'return {1, false, {double=1.5}, true, {map={a=1}}}' 0
    1 EVAL 'redis.setresp(3) return true' 0
    1 EVAL 'redis.setresp(3) return redis.call(`hgetall`, `h`)' 0
    1 EVAL 'redis.setresp(3) return redis.call(`zscore`, `z`, `b`)' 0
    1 EVAL 'return redis.call(`zscore`, `z`, `b`)' 0
    1 EVAL 'redis.setresp(3) return redis.call(`smembers`, `s`)' 0
    1 EVAL 'redis.setresp(3) return redis.call(`get`, `none`)' 0
    1 HELLO
    1 HELLO 2
    1 HGETALL h
    1 HELLO 4
    1 HELLO x
    1 HELLO 2 SETNAME me
    1 CLIENT GETNAME
    1 HELLO 2 FOO
    1 HELLO 3
    1 RESET
    1 HGETALL h
    ",
);

pub(in crate::redis) const CONNECTIONS: Case = case(
    "connections",
    "
    0 CLIENT GETNAME
    0 CLIENT SETNAME me
    0 CLIENT GETNAME
    0 CLIENT SETNAME 'a b'
    0 CLIENT GETNAME x
    0 CLIENT foo
    0 CLIENT
    0 CLIENT KILL
    0 CLIENT KILL 1.1.1.1:1
    0 CLIENT KILL TYPE foo
    0 CLIENT KILL ID x
    0 CLIENT KILL ID 0
    0 CLIENT KILL foo bar
    0 CLIENT KILL TYPE pubsub
    1 SUBSCRIBE a
    0 CLIENT KILL TYPE pubsub
    0 PUBLISH a x
    2 WATCH k
    0 CLIENT KILL TYPE normal
    0 PING
    0 CLIENT KILL TYPE normal SKIPME no
    0 CLIENT PAUSE x
    0 CLIENT PAUSE -1
    0 CLIENT PAUSE
    0 CLIENT PAUSE 1 foo
    0 CLIENT PAUSE 20 WRITE
    0 GET k
    0 SET k a
    0 CLIENT PAUSE 20
    0 GET k
    0 CLIENT PAUSE 1000 WRITE
    0 CLIENT UNPAUSE
    0 SET k b
    0 SET e a PX 10
    0 CLIENT PAUSE 50 WRITE
    pass 20
    0 GET e
    0 DBSIZE
    pass 50
    0 DBSIZE
    0 WAIT 0 0
    0 WAIT 1 20
    0 WAIT x 0
    0 WAIT 1 x
    0 WAIT 1 -1
    0 WAIT
    0 ROLE
    0 ROLE x
    0 SCRIPT foo
    0 SCRIPT EXISTS
    0 SCRIPT KILL
    0 SCRIPT FLUSH foo
    0 SCRIPT FLUSH SYNC
    0 RESET
    0 QUIT
    0 PING
    ",
);
