//! Hashes, lists, and sorted sets.

use super::{Case, case};

pub(in crate::redis) const HASHES: Case = case(
    "hashes",
    "
    0 HSET h a 1 b 2
    0 HSET h a 2 c 3
    0 HSET h a
    0 HSET h
    0 HMSET h d 4
    0 HMSET h d
    0 HSETNX h a 9
    0 HSETNX h e 9
    0 HGET h a
    0 HGET h z
    0 HGET none a
    0 HMGET h a z b
    0 HMGET none a
    0 HGETALL h
    0 HGETALL none
    0 HKEYS h
    0 HVALS h
    0 HLEN h
    0 HLEN none
    0 HEXISTS h a
    0 HEXISTS h z
    0 HSTRLEN h a
    0 HINCRBY h n 5
    0 HINCRBY h n -7
    0 HINCRBY h n x
    0 HSET h t x
    0 HINCRBY h t 1
    0 HSET h big 9223372036854775807
    0 HINCRBY h big 1
    0 HINCRBYFLOAT h fl 1.25
    0 HINCRBYFLOAT h fl 1.25
    0 HINCRBYFLOAT h t 1
    0 HINCRBYFLOAT h fl x
    0 HDEL h a z
    0 HDEL h a
    0 HDEL none a
    0 HDEL h
    0 HGETALL h
    0 SET s x
    0 HSET s a 1
    0 HGET s a
    0 HGETALL s
    0 HINCRBY s a 1
    0 HDEL s a
    0 HLEN s
    0 HSETNX s a 1
    0 HMGET s a
    0 TYPE h
    ",
);

pub(in crate::redis) const LISTS: Case = case(
    "lists",
    "
    0 RPUSH l a b c
    0 LPUSH l z y
    0 LRANGE l 0 -1
    0 LRANGE l 1 2
    0 LRANGE l -2 -1
    0 LRANGE l 5 9
    0 LRANGE l x 1
    0 LRANGE none 0 -1
    0 LLEN l
    0 LLEN none
    0 LINDEX l 0
    0 LINDEX l -1
    0 LINDEX l 9
    0 LINDEX l x
    0 LINDEX none 0
    0 LINDEX none x
    0 RPUSH l a a
    0 LREM l 1 a
    0 LREM l -1 a
    0 LREM l 0 a
    0 LREM l x a
    0 LREM none 0 a
    0 LSET l 0 q
    0 LSET l 9 q
    0 LSET none 0 q
    0 LSET l x q
    0 LINSERT l BEFORE q p
    0 LINSERT l AFTER q r
    0 LINSERT l AFTER nope r
    0 LINSERT l foo q r
    0 LINSERT none AFTER q r
    0 LRANGE l 0 -1
    0 LTRIM l 1 -2
    0 LRANGE l 0 -1
    0 LPOP l
    0 RPOP l
    0 LPOP l 2
    0 LPOP l 0
    0 LPOP l -1
    0 LPOP l x
    0 LPOP l 1 2
    0 RPOP l 10
    0 LPOP l
    0 LPOP l 1
    0 EXISTS l
    0 RPUSHX l a
    0 LPUSHX l a
    0 RPUSH l a
    0 RPUSHX l b
    0 LPUSHX l c
    0 RPOPLPUSH l m
    0 LMOVE l m LEFT RIGHT
    0 LMOVE l m foo RIGHT
    0 RPOPLPUSH none m
    0 LRANGE m 0 -1
    0 LTRIM m 5 9
    0 EXISTS m
    0 SET s x
    0 RPUSH s a
    0 LPOP s
    0 LRANGE s 0 -1
    0 LREM s 0 a
    0 RPOPLPUSH l s
    0 LRANGE l 0 -1
    0 RPUSHX s a
    0 LLEN s
    0 LTRIM s 0 1
    0 LSET s 0 a
    ",
);

pub(in crate::redis) const SORTED: Case = case(
    "sorted sets",
    "
    0 ZADD z 1 a 2 b 3 c
    0 ZADD z 5 a 4 d
    0 ZADD z CH 6 a 7 e
    0 ZADD z NX 9 a 9 f
    0 ZADD z XX 9 a 9 g
    0 ZADD z GT 1 a 99 b
    0 ZADD z LT 1 a 100 b
    0 ZADD z GT CH 50 a
    0 ZADD z INCR 5 a
    0 ZADD z NX INCR 5 a
    0 ZADD z XX INCR 5 zz
    0 ZADD z XX 5 zz
    0 ZADD none XX 5 zz
    0 ZADD z NX XX 1 a
    0 ZADD z GT LT 1 a
    0 ZADD z NX GT 1 a
    0 ZADD z x a
    0 ZADD z 1 a 2
    0 ZADD z INCR 1 a 2 b
    0 ZADD z 1
    0 ZADD z nan a
    0 ZADD z inf i
    0 ZADD z -inf j
    0 ZINCRBY z -inf i
    0 ZSCORE z i
    0 ZSCORE z j
    0 ZSCORE z a
    0 ZSCORE z none
    0 ZSCORE none a
    0 ZADD z 0.1 p 1.5 q 1e20 r 3.0 s 1720000000123 t 922337203685477 u -0 v
    0 ZMSCORE z p q r s t u v w
    0 ZINCRBY z 0.5 q
    0 ZINCRBY z 1 new
    0 ZINCRBY z x q
    0 ZRANGE z 0 -1
    0 ZRANGE z 0 -1 WITHSCORES
    0 ZRANGE z 1 3 REV
    0 ZRANGE z 1 5 BYSCORE
    0 ZRANGE z (1 5 BYSCORE LIMIT 0 2
    0 ZRANGE z 5 1 BYSCORE REV WITHSCORES
    0 ZRANGE z 0 1 LIMIT 0 1
    0 ZRANGE z a b
    0 ZRANGE z 0 1 foo
    0 ZREVRANGE z 0 2
    0 ZREVRANGE z 0 2 WITHSCORES
    0 ZRANGEBYSCORE z -inf +inf
    0 ZRANGEBYSCORE z (2 3 WITHSCORES
    0 ZRANGEBYSCORE z 0 100 LIMIT 1 2
    0 ZRANGEBYSCORE z 0 100 LIMIT 1 -1
    0 ZRANGEBYSCORE z 0 100 LIMIT -1 2
    0 ZRANGEBYSCORE z a b
    0 ZREVRANGEBYSCORE z 10 0
    0 ZCOUNT z 0 10
    0 ZCOUNT z (3 10
    0 ZCOUNT none 0 1
    0 ZCOUNT z a 1
    0 ZCARD z
    0 ZRANK z a
    0 ZREVRANK z a
    0 ZRANK z none
    0 ZRANK none a
    0 ZREM z a none
    0 ZREM none a
    0 ZREMRANGEBYSCORE z 0 3
    0 ZREMRANGEBYRANK z 0 0
    0 ZPOPMIN z
    0 ZPOPMAX z 2
    0 ZPOPMIN z 0
    0 ZPOPMIN z -1
    0 ZPOPMIN none
    0 ZRANGE z 0 -1 WITHSCORES
    0 ZADD same 1 b 1 a 1 c
    0 ZRANGE same 0 -1
    0 ZADD one 1 a
    0 ZREM one a
    0 EXISTS one
    0 SET s x
    0 ZADD s 1 a
    0 ZRANGE s 0 -1
    0 ZSCORE s a
    0 ZREM s a
    0 ZINCRBY s 1 a
    ",
);
