//! Strings, expiry, and what concerns keys of any kind.

use super::{Case, case};

pub(in crate::redis) const STRINGS: Case = case(
    "strings",
    "
    0 SET k a
    0 SET k b NX
    0 SET k b XX
    0 SET n b XX
    0 SET n b NX GET
    0 SET k c NX GET
    0 SET k c XX GET
    0 SET k c GET GET
    0 SET k c NX NX
    0 SET k c NX XX
    0 SET k c XX NX
    0 SET k c EX 10 PX 10
    0 SET k c KEEPTTL EX 10
    0 SET k c EX 10 KEEPTTL
    0 SET k c EX
    0 SET k c EX 0
    0 SET k c PX -1
    0 SET k c EX 1x
    0 SET k c EX 9223372036854775807
    0 SET k c PX 9223372036854775807
    0 SET k c EXAT 0
    0 SET k c PX 10 foo
    0 SET k c EX 100
    0 TTL k
    0 SET k d KEEPTTL
    0 TTL k
    0 PTTL k
    0 SET k d
    0 TTL k
    0 GET k
    0 GET k2
    0 GET
    0 GET a b
    0 SET k
    0 SETNX k x
    0 SETNX k3 x
    0 SETEX k 0 a
    0 SETEX k 100 a
    0 TTL k
    0 PSETEX k -1 b
    0 PSETEX k 100000 b
    0 PTTL k
    0 GETSET k z
    0 TTL k
    0 GETSET none z
    0 GETDEL none
    0 GETDEL none
    0 GETEX k EX 100
    0 TTL k
    0 GETEX k PERSIST
    0 TTL k
    0 GETEX k PX 0
    0 GETEX nokey PX x
    0 GETEX k EX 10 PERSIST
    0 GETEX k PERSIST PERSIST
    0 GETEX k NX
    0 GETEX k PXAT 5
    0 EXISTS k
    0 MSET a 1 b 2
    0 MSET a 1 b
    0 MGET a b c
    0 MSETNX a 2 z 3
    0 MSETNX y 2 x 3
    0 MSETNX y
    0 APPEND a 23
    0 APPEND new x
    0 STRLEN a
    0 STRLEN nokey
    0 GETRANGE a 0 1
    0 GETRANGE a -2 -1
    0 GETRANGE a 0 -100
    0 GETRANGE a -1 -5
    0 GETRANGE a 5 9
    0 GETRANGE a x 1
    0 SETRANGE a 5 zz
    0 SETRANGE a -1 zz
    0 SETRANGE none2 0 ''
    0 SUBSTR a 0 2
    0 INCR i
    0 INCRBY i 10
    0 DECR i
    0 DECRBY i 5
    0 INCRBY i x
    0 INCR a
    0 SET i 9223372036854775807
    0 INCR i
    0 DECRBY i -1
    0 DECRBY i -9223372036854775808
    0 INCRBYFLOAT f 1.5
    0 INCRBYFLOAT f -0.25
    0 INCRBYFLOAT f 1e3
    0 INCRBYFLOAT f abc
    0 SET s '10 '
    0 INCR s
    0 INCRBYFLOAT s 1
    0 SET s 010
    0 INCR s
    0 INCRBY nokey
    0 HSET h f v
    0 GET h
    0 GETSET h v
    0 APPEND h v
    0 INCR h
    0 STRLEN h
    0 SET h v NX
    0 SET h v GET
    0 MGET h k
    0 GETEX h
    0 GETDEL h
    0 SET h v
    0 TYPE h
    ",
);

pub(in crate::redis) const EXPIRY: Case = case(
    "expiry",
    "
    0 EXPIRE k 10
    0 SET k a
    0 EXPIRE k 10
    0 TTL k
    0 PTTL k
    0 EXPIRETIME k
    0 PEXPIRETIME k
    0 PERSIST k
    0 PERSIST k
    0 TTL k
    0 PTTL none
    0 EXPIRETIME none
    0 EXPIRE k 10 XX
    0 EXPIRE k 10 GT
    0 EXPIRE k 100 LT
    0 EXPIRE k 200 GT
    0 EXPIRE k 300 LT
    0 EXPIRE k 300 NX
    0 EXPIRE k 300 XX
    0 EXPIRE k 10 NX XX
    0 EXPIRE k 10 NX GT
    0 EXPIRE k 10 GT LT
    0 EXPIRE k 10 foo
    0 EXPIRE k x
    0 EXPIRE k 9223372036854775807
    0 PEXPIRE k 9223372036854775807
    0 PEXPIREAT k 9223372036854775807
    0 PTTL k
    0 EXPIRE k -9223372036854775807
    0 EXPIREAT k 99999999999
    0 EXPIRETIME k
    0 INCR c
    0 PEXPIRE c 100000
    0 INCR c
    0 PTTL c
    0 HSET h a 1
    0 EXPIRE h 100
    0 HSET h b 2
    0 TTL h
    0 HDEL h a b
    0 HSET h a 1
    0 TTL h
    0 SET k a
    0 PEXPIRE k 0
    0 EXISTS k
    0 SET k a
    0 PEXPIRE k -5
    0 PEXPIRE k -5
    0 SET k a
    0 PEXPIREAT k 1
    0 GET k
    0 SET k a PX 20
    0 SET l b
    pass 30
    0 DBSIZE
    0 GET k
    0 DBSIZE
    0 SET k a PX 20
    pass 30
    0 SET k b XX
    0 SET k b NX
    0 TTL k
    0 SET k a PX 20
    pass 30
    0 DEL k
    0 SET k a PX 20
    pass 30
    0 KEYS *
    0 DBSIZE
    0 SET k a PX 20
    pass 30
    0 RENAME k z
    0 SET k a PX 20
    pass 30
    0 HSET k f v
    0 TTL k
    0 SET m a PX 100000
    0 RENAME m m2
    0 PTTL m2
    0 COPY m2 m3
    0 PTTL m3
    0 SET big a PXAT 99999999999999
    0 PEXPIRETIME big
    0 SET past a PXAT 1
    0 DBSIZE
    0 EXISTS past
    ",
);

pub(in crate::redis) const OTHERS: Case = case(
    "sets and keys of any kind",
    "
    0 SADD s a b c a
    0 SADD s c d
    0 SREM s a z
    0 SREM none a
    0 SMEMBERS s
    0 SMEMBERS none
    0 SISMEMBER s b
    0 SISMEMBER s z
    0 SMISMEMBER s b z
    0 SCARD s
    0 SCARD none
    0 SREM s b c d
    0 EXISTS s
    0 SET k v
    0 SADD k a
    0 SMEMBERS k
    0 DEL k none k
    0 UNLINK k
    0 MSET a 1 b 2 c 3
    0 EXISTS a b a none
    0 TOUCH a none
    0 TYPE a
    0 TYPE none
    0 KEYS *
    0 KEYS a*
    0 KEYS [ab]
    0 DBSIZE
    0 RENAME a d
    0 RENAME none d
    0 RENAME d d
    0 RENAMENX d b
    0 RENAMENX d e
    0 RENAMENX none e
    0 RENAMENX e e
    0 COPY e f
    0 COPY e f
    0 COPY e f REPLACE
    0 COPY none f
    0 COPY e e
    0 SCAN x
    0 SCAN 0 foo
    0 SCAN 0 MATCH nothing*
    0 SCAN 0 COUNT 0
    0 OBJECT ENCODING e
    0 OBJECT ENCODING none
    0 FLUSHDB
    0 DBSIZE
    0 FLUSHALL foo
    0 FLUSHALL ASYNC
    0 ECHO a
    0 ECHO
    0 PING
    0 PING a
    0 PING a b
    0 TIME x
    0 SELECT 0
    0 SELECT a
    0 SELECT 99
    0 nope
    0 nope a b 'c d'
    0 get
    0 GeT k
    ",
);

pub(in crate::redis) const RANDOM_KEY: Case = case(
    "a key by chance",
    "
    0 RANDOMKEY
    0 RANDOMKEY a
    0 SET a 1
    0 RANDOMKEY
    0 MULTI
    0 RANDOMKEY
    0 EXEC
    0 MSET b 2 c 3 d 4
    0 RANDOMKEY
    0 RANDOMKEY
    0 RANDOMKEY
    0 EVAL 'return redis.call(\"EXISTS\", redis.call(\"RANDOMKEY\"))' 0
    1 SELECT 5
    1 RANDOMKEY
    1 SET e 5
    1 RANDOMKEY
    0 FLUSHALL
    0 SET f 6 PX 20
    pass 200
    0 RANDOMKEY
    0 DBSIZE
    ",
);
