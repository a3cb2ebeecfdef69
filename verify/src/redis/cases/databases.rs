//! Databases, and events of keys.

use super::{Case, case};

pub(in crate::redis) const DATABASES: Case = case(
    "databases",
    "
    0 SELECT 16
    0 SELECT x
    0 SELECT -1
    0 SET k zero
    0 SELECT 3
    0 GET k
    0 SET k three
    0 DBSIZE
    1 DBSIZE
    0 EVAL 'redis.call(`select`, 5) redis.call(`set`, `m`, 1) return redis.call(`dbsize`)' 0
    0 EXISTS m
    0 DBSIZE
    0 EVAL 'return redis.call(`select`, 99)' 0
    0 MULTI
    0 SET n 3
    0 SELECT 4
    0 SET n 4
    0 EXEC
    0 GET n
    0 SET o 4
    1 WATCH k
    0 SELECT 0
    1 SELECT 3
    1 WATCH n
    0 SET n 0
    1 MULTI
    1 GET n
    1 EXEC
    1 WATCH n
    2 SELECT 3
    2 SET n changed
    1 MULTI
    1 EXEC
    0 SELECT 3
    0 MOVE k 4
    0 MOVE k 4
    0 MOVE n 4
    0 MOVE n 3
    0 MOVE n 99
    0 MOVE n x
    0 MOVE none 4
    0 SWAPDB 4 3
    0 GET k
    0 SWAPDB 3 3
    0 SWAPDB x 1
    0 SWAPDB 1 x
    0 SWAPDB 99 1
    0 SWAPDB 1 99
    0 COPY k k DB 3
    0 COPY k k DB 9
    0 COPY k k DB 9
    0 COPY k k DB 99
    0 COPY k k2 DB x
    0 COPY k k2 DB 9 REPLACE
    0 COPY k k2 REPLACE DB 9
    0 COPY k k2 DB
    0 COPY none k2 DB 9
    0 SELECT 9
    0 DBSIZE
    0 RESET
    0 GET k
    1 SELECT 3
    1 WATCH k
    0 SWAPDB 3 9
    1 MULTI
    1 EXEC
    1 ~ BLPOP q 0
    0 RPUSH q zero
    2 SELECT 3
    2 RPUSH q three
    hear 1
    1 ~ BLPOP r 0
    0 RPUSH r zero
    0 SWAPDB 0 3
    hear 1
    1 ~ BLPOP r 0
    0 RPUSH r x
    0 MOVE r 3
    hear 1
    0 SELECT 7
    0 SET e 1 PX 10
    pass 30
    0 DBSIZE
    0 GET e
    0 DBSIZE
    0 SET e 1
    0 FLUSHDB
    0 DBSIZE
    0 SET e 1
    1 FLUSHALL
    0 DBSIZE
    0 FLUSHDB SYNC
    0 FLUSHALL FOO
    ",
);

pub(in crate::redis) const EVENTS: Case = case(
    "keyspace notifications",
    "
    0 CONFIG GET notify-keyspace-events
    0 CONFIG SET notify-keyspace-events KEq
    0 CONFIG SET notify-keyspace-events Exg
    0 CONFIG GET notify-keyspace-events
    0 CONFIG SET notify-keyspace-events KEAn
    0 CONFIG GET notify-keyspace-events
    1 PSUBSCRIBE __key*
    0 SET a 1
    0 SET a 1 EX 100
    0 SET a 1 PX 100 NX
    0 SET a 1 KEEPTTL
    0 SET a 1 GET
    0 SETNX b 1
    0 SETEX b 10 1
    0 PSETEX b 100000 1
    0 GETSET b 2
    0 GETEX b EX 10
    0 GETEX b PERSIST
    0 GETEX b EXAT 1
    0 GETDEL a
    0 GETDEL a
    0 APPEND a x
    0 SETRANGE a 1 yy
    0 MSET c 1 d 2
    0 MSETNX c2 1 d2 2
    0 INCR c
    0 INCRBYFLOAT c 1.5
    0 DECRBY d 2
    0 DEL c c2 none
    0 UNLINK d
    0 SET b 1
    0 EXPIRE b -1
    0 PERSIST d2
    0 EXPIRE d2 100
    0 PERSIST d2
    0 RENAME d2 d3
    0 COPY d3 d4
    0 MOVE d4 1
    0 HSET h a 1 b 2
    0 HINCRBY h a 1
    0 HINCRBYFLOAT h a 1
    0 HSETNX h z 1
    0 HMSET h y 1
    0 HDEL h a
    0 HDEL h b y z
    0 LPUSH l a b
    0 RPUSH l c
    0 LINSERT l BEFORE a x
    0 LSET l 0 q
    0 LREM l 1 q
    0 LTRIM l 0 1
    0 LTRIM l 0 -1
    0 LPOP l
    0 RPOP l
    0 RPUSH l a b c d
    0 LMOVE l m LEFT RIGHT
    0 RPOPLPUSH l m
    0 LMOVE l l LEFT RIGHT
    0 LPOP l 5
    0 LMPOP 1 m LEFT COUNT 5
    0 RPUSHX none x
    0 SADD s a b
    0 SADD s a
    0 SREM s a
    0 SREM s b
    0 ZADD z 1 a 2 b 3 c 4 d
    0 ZADD z 1 a
    0 ZINCRBY z 1 a
    0 ZADD z INCR 1 a
    0 ZREM z a
    0 ZREMRANGEBYRANK z 0 0
    0 ZREMRANGEBYSCORE z 3 3
    0 ZPOPMIN z
    0 ZADD z 1 a
    0 ZPOPMAX z
    0 SET e 1 PX 10
    pass 30
    0 EXISTS e
    0 SET e 1 PX 10
    pass 30
    0 SET e 2
    0 MULTI
    0 SET x 1
    0 DEL x
    0 EXEC
    0 EVAL 'redis.call(`set`, `x`, 1, `px`, 100000) return redis.call(`del`, `x`)' 0
    0 RPUSH blk a
    0 BLPOP blk 0
    2 ~ BLPOP blk2 0
    0 RPUSH blk2 a
    hear 2
    2 ~ BLMOVE blk2 blk3 LEFT LEFT 0
    0 RPUSH blk2 a
    hear 2
    0 SELECT 3
    0 SET x 1
    0 FLUSHDB
    0 SWAPDB 1 2
    0 CONFIG SET notify-keyspace-events Ex
    0 SET e 1 PX 10
    pass 30
    0 GET e
    0 CONFIG SET notify-keyspace-events ''
    0 CONFIG GET notify-keyspace-events
    0 SET x 1
    ",
);
