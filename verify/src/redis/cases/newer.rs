//! What newer servers can do, asked only of those.

use picklock_redis::ServerVersion::{Redis7_2, Redis7_4, Redis8_4, Valkey8_1, Valkey9_0};

use super::{Case, case};

pub(in crate::redis) const COMPARE_AND_SET: Case = Case {
    needs: &[Redis8_4, Valkey8_1, Valkey9_0],
    ..case(
        "compare-and-set",
        "
        0 SET k b IFEQ a
        0 SET k a
        0 SET k b IFEQ x PX 50000
        0 SET k b IFEQ a PX 50000
        0 PTTL k
        0 SET k c IFEQ b GET
        0 PTTL k
        0 SET k c IFEQ c NX
        0 SET k c IFEQ
        0 LPUSH l a
        0 SET l b IFEQ a
        0 EVAL 'return redis.call(`set`, `k`, `d`, `ifeq`, `c`)' 0
        ",
    )
};

pub(in crate::redis) const COMPARE_AND_DELETE: Case = Case {
    needs: &[Redis8_4],
    ..case(
        "compare-and-delete",
        "
        0 SET k a IFNE a
        0 SET k b IFNE a
        0 SET k b IFNE x
        0 DELEX k IFEQ x
        0 DELEX k IFNE b
        0 DELEX k IFEQ b
        0 DELEX k IFEQ b
        0 LPUSH l a
        0 DELEX l IFEQ a
        0 DELEX l IFEQ
        0 DELEX l
        0 DELEX l
        ",
    )
};

pub(in crate::redis) const DELIFEQ: Case = Case {
    needs: &[Valkey9_0],
    ..case(
        "DELIFEQ",
        "
        0 SET k a
        0 DELIFEQ k b
        0 DELIFEQ k a
        0 DELIFEQ k a
        0 LPUSH l a
        0 DELIFEQ l a
        0 DELIFEQ k
        ",
    )
};

pub(in crate::redis) const WAITAOF: Case = Case {
    needs: &[Redis7_2, Redis7_4, Redis8_4, Valkey8_1, Valkey9_0],
    ..case(
        "WAITAOF",
        "
        0 SET k a
        0 WAITAOF 0 0 0
        0 WAITAOF 1 0 0
        0 WAITAOF 2 0 0
        0 WAITAOF 0 -1 0
        0 WAITAOF 0 0 -1
        0 WAITAOF 0 0 x
        0 WAITAOF 0 1 20
        0 WAITAOF 0 0
        0 EVAL 'return redis.call(`waitaof`, 0, 0, 0)' 0
        ",
    )
};

pub(in crate::redis) const FIELD_EXPIRY: Case = Case {
    needs: &[Redis7_4, Redis8_4, Valkey9_0],
    ..case(
        "fields that expire",
        "
        0 HSET h a 1 b 2 d 3
        0 HPEXPIRE h 100000 FIELDS 2 a x
        0 HPTTL h FIELDS 3 a b x
        0 HPEXPIRE none 100 FIELDS 1 a
        0 HPTTL none FIELDS 2 a b
        0 HPERSIST none FIELDS 1 a
        0 HPERSIST h FIELDS 3 a b x
        0 HPEXPIRE h 100000 NX FIELDS 1 a
        0 HPEXPIRE h 100000 NX FIELDS 1 a
        0 HPEXPIRE h 100000 XX FIELDS 2 a b
        0 HPEXPIRE h 200000 GT FIELDS 2 a b
        0 HPEXPIRE h 100000 LT FIELDS 2 a b
        0 HPEXPIRE h 100000 NX XX FIELDS 1 a
        0 HPEXPIRE h 100000 BAD FIELDS 1 a
        0 HPEXPIRE h 100000 FIELDS 2 a
        0 HPEXPIRE h 100000 FIELDS 0 a
        0 HPEXPIRE h 100000 FIELDS x a
        0 HPEXPIRE h 100000 FIELDS 1 a b
        0 HPEXPIRE h x FIELDS 1 a
        0 HPEXPIRE h -1 FIELDS 1 a
        0 HPEXPIRE h 0 FIELDS 1 d
        0 HMGET h a b d
        0 HSET h a 9
        0 HPTTL h FIELDS 1 a
        0 HPEXPIRE h 100000 FIELDS 1 a
        0 HINCRBY h a 1
        0 HPTTL h FIELDS 1 a
        0 HPEXPIRE h 0 FIELDS 2 a b
        0 EXISTS h
        0 SET s 1
        0 HPEXPIRE s 100 FIELDS 1 a
        0 HPEXPIRE h 100
        0 HPEXPIRE h 100 FIELDS 1
        0 HTTL s FIELDS 1 a
        0 HPTTL h
        0 HPTTL h FIELDS 1
        0 HPTTL h FIELDS 2 a
        0 HPTTL h BAD 1 a
        0 HPTTL h FIELDS 0 a
        0 HSET h a 1 b 1
        0 HEXPIRE h 100 FIELDS 1 b
        0 HTTL h FIELDS 1 b
        0 HEXPIREAT h 4000000000 FIELDS 1 b
        0 HEXPIRETIME h FIELDS 1 b
        0 HPEXPIRETIME h FIELDS 1 b
        0 HPEXPIREAT h 4000000000000 FIELDS 1 b
        0 HPEXPIRE h 9999999999999999 FIELDS 1 b
        0 HSETNX h b 1
        0 RENAME h g
        0 HPEXPIRETIME g FIELDS 1 b
        0 COPY g f
        0 HPEXPIRETIME f FIELDS 1 b
        0 HSET h a 1 b 2
        0 HPEXPIRE h 20 FIELDS 1 a
        pass 60
        0 HGET h a
        0 HGETALL h
        0 HPEXPIRE h 20 FIELDS 1 b
        pass 60
        0 HGET h b
        0 EXISTS h
        0 HDEL h b
        0 EVAL 'redis.call(`hset`, `h`, `a`, 1) return redis.call(`hpexpire`, `h`, 20, `fields`, 1, `a`)' 0
        pass 60
        0 HEXISTS h a
        ",
    )
};
