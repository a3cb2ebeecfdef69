//! Random steps.

use picklock_clients::redis::Command;

use super::backend::CLIENTS;
use super::step::Step;
use crate::harness::split_mix::SplitMix64;

/// Draws steps.
pub(super) struct Random {
    numbers: SplitMix64,
}

const KEYS: &[&str] = &["a", "b", "c", "d"];
const FIELDS: &[&str] = &["x", "y", "z"];
const NUMBERS: &[&str] = &["0", "1", "-1", "2", "3", "10", "-5", "x"];
const SCORES: &[&str] = &["0", "1", "2", "-1", "1.5", "0.25", "100", "inf", "y"];
const LONG: &[&str] = &["100000", "200000", "300000"];

/// Commands with gaps: `K` a key, `F` a field or member, `N` a number, `S` a score, `L` a long time in milliseconds,
/// `T` the same in seconds, `V` a value. A time of a few milliseconds would end on one side before the other.
const TEMPLATES: &str = "
    SET K V | SET K V NX | SET K V XX | SET K V NX PX L | SET K V GET | SET K V KEEPTTL | SET K V XX PX L GET |
    SET K V EX T | SETNX K V | SETEX K T V | PSETEX K L V | GET K | GET K | GETSET K V | GETDEL K | GETEX K PX L |
    GETEX K PERSIST | MGET K K | MSET K V K V | MSETNX K V K V | APPEND K V | STRLEN K | INCR K | DECR K |
    INCRBY K N | DECRBY K N | GETRANGE K N N | SETRANGE K 2 V | INCRBYFLOAT K 0.5 | DEL K | DEL K K | UNLINK K |
    EXISTS K K | TYPE K | KEYS K | RENAME K K | RENAMENX K K | COPY K K | COPY K K REPLACE | EXPIRE K T |
    PEXPIRE K L | PEXPIRE K L NX | PEXPIRE K L XX | PEXPIRE K 150000 GT | PEXPIRE K 250000 LT | PEXPIRE K 0 |
    PEXPIRE K -5 | PERSIST K | TTL K | PTTL K | PEXPIRETIME K | EXPIRETIME K | HSET K F V | HSET K F V F V |
    HSETNX K F V | HGET K F | HMGET K F F | HGETALL K | HEXISTS K F | HINCRBY K F N | HDEL K F | HDEL K F F |
    HLEN K | HKEYS K | HVALS K | HSTRLEN K F | LPUSH K V | RPUSH K V V | LPUSHX K V | LPOP K | RPOP K | LPOP K N |
    LLEN K | LRANGE K N N | LINDEX K N | LREM K N V | LSET K N V | LTRIM K N N | LINSERT K BEFORE V V |
    RPOPLPUSH K K | LMOVE K K LEFT RIGHT | ZADD K S F | ZADD K S F S F | ZADD K NX S F | ZADD K XX CH S F |
    ZADD K GT S F | ZADD K LT CH S F | ZADD K INCR S F | ZREM K F | ZSCORE K F | ZMSCORE K F F | ZRANGE K N N |
    ZRANGE K N N WITHSCORES | ZRANGE K N N REV | ZRANGEBYSCORE K S S | ZRANGEBYSCORE K S S WITHSCORES LIMIT N N |
    ZREVRANGEBYSCORE K S S | ZREMRANGEBYSCORE K S S | ZREMRANGEBYRANK K N N | ZINCRBY K S F | ZCARD K |
    ZCOUNT K S S | ZRANK K F | ZPOPMIN K | ZPOPMAX K | SADD K F | SADD K F F | SREM K F | SMEMBERS K |
    SISMEMBER K F | SCARD K | PUBLISH F V | PING | ECHO V | DBSIZE
";

/// Commands about transactions and messages, on any connection.
const OTHERS: &str = "
    MULTI | MULTI | EXEC | EXEC | EXEC | DISCARD | WATCH K | WATCH K K | UNWATCH | FLUSHALL | NOPE K | SET K
";

/// Commands that listen, on the last connections only.
const LISTENING: &str = "
    SUBSCRIBE F | SUBSCRIBE F F | UNSUBSCRIBE F | UNSUBSCRIBE | PSUBSCRIBE * | PUNSUBSCRIBE | HELLO 3 | HELLO 2
";

/// Pieces of JSON, with tildes between them, of MessagePack, and of formats of `struct`, right and wrong.
const JSON: &str = concat!(
    r#"{~}~[~]~:~,~"a"~"b":1~{"k":~[1,~"\u00e9"~"\ud83d\ude00"~"\ud83d"~"\n"~"~\~1~-0~2.50"#,
    r#"~1e3~0x1F~nan~Infinity~-inf~true~false~null~tru~ ~.~01~+1~-~1e400~x~{}~[]~[null]"#,
);
const BYTES: &str = "00 01 7f 80 81 82 90 91 92 a0 a1 a3616263 c0 c1 c2 c3 c4 ca cb cc cd ce \
    cf d0 d1 d2 d3 d9 da dc0001 de0001 ff e0 41 3f80 0000 0102030405060708";
const LAYOUT: &[&str] = &[
    "b", "B", "h", "H", "i", "I", "l", "L", "T", "f", "d", "s", "c", "c0", "c2", "x", "i3", "I8",
    "i1", ">", "<", "!", "!4", "!2", "!3", " ", "y", "?",
];

/// Scripts, each after its number of keys and its arguments.
const SCRIPTS: &[&str] = &[
    "0 J | local ok, v = pcall(cjson.decode, ARGV[1]) if not ok then return v end local _, text = \
     pcall(cjson.encode, v) return {tostring(v):sub(1, 5), text}",
    "0 J V N | return cjson.encode({ARGV[1], [ARGV[2]] = tonumber(ARGV[3])})",
    "0 H | local bytes = ARGV[1]:gsub('..', function(h) return string.char(tonumber(h, 16)) end) local ok, v = \
     pcall(cmsgpack.unpack, bytes) if not ok then return v end return {type(v), cmsgpack.pack(v), \
     cmsgpack.unpack_one(bytes)}",
    "0 H P | local bytes = ARGV[1]:gsub('..', function(h) return string.char(tonumber(h, 16)) end) local v = \
     {pcall(struct.unpack, ARGV[2], bytes)} for i = 1, #v do v[i] = tostring(v[i]) end return v",
    "0 P V | local ok, v = pcall(struct.pack, ARGV[1], 1, -2, 300.5, 70000, ARGV[2]) return v",
    "0 N S | local t = {} for i, n in ipairs({'tobit', 'bnot', 'bswap', 'rol', 'arshift', 'rshift', 'bxor', \
     'tohex'}) do t[i] = select(2, pcall(bit[n], ARGV[1], ARGV[2])) end return t",
    "1 K V | if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end",
    "1 K V L | if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end",
    "1 K F | redis.call('hincrby', KEYS[1], ARGV[1], 1) return redis.call('hgetall', KEYS[1])",
    "1 K get llen hlen zcard | local t = {} for i = 1, #ARGV do t[i] = redis.pcall(ARGV[i], KEYS[1]) end return \
     t",
    "1 K V | redis.call('rpush', KEYS[1], ARGV[1]) return redis.call('lrange', KEYS[1], 0, -1)",
    "1 K S F | redis.call('zadd', KEYS[1], ARGV[1], ARGV[2]) return redis.call('zrange', KEYS[1], 0, -1, \
     'withscores')",
    "1 K F V | redis.call('publish', ARGV[1], ARGV[2]) return redis.call('incr', KEYS[1])",
    "1 K | local v = redis.call('get', KEYS[1]) if v == false then return 'none' end return v .. #v",
    "1 K V L | return redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])",
    "1 K | return {redis.call('exists', KEYS[1]), redis.call('type', KEYS[1]), redis.call('hmget', KEYS[1], \
     'x', 'y')}",
];

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            numbers: SplitMix64(seed),
        }
    }

    pub(super) fn below(&mut self, most: usize) -> usize {
        (self.numbers.next() % most as u64) as usize
    }

    pub(super) fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    /// The next command, and what has to come with it.
    pub(super) fn steps(&mut self, in_transaction: &[bool; CLIENTS]) -> Vec<Step> {
        let client = self.below(CLIENTS);
        let ask = |command: Command| Step::Ask { client, command };
        match self.below(100) {
            // Such keys are gone before the next command: when exactly they go would depend on the moment.
            0 | 1 if !in_transaction[client] => {
                let short = Command::new("PEXPIRE").arg(self.of(KEYS)).arg("4");
                vec![ask(short), Step::Pass { millis: 12 }]
            }
            2..=11 => self.command(OTHERS).map(ask).into_iter().collect(),
            12..=15 if client >= CLIENTS - 2 && !in_transaction[client] => {
                self.command(LISTENING).map(ask).into_iter().collect()
            }
            16..=30 => self.script().map(ask).into_iter().collect(),
            _ => self.command(TEMPLATES).map(ask).into_iter().collect(),
        }
    }

    fn command(&mut self, templates: &str) -> Option<Command> {
        let templates: Vec<&str> = templates.split('|').map(str::trim).collect();
        let template = self.of(&templates);
        let words: Vec<String> = template.split(' ').map(|word| self.word(word)).collect();
        Command::of(words)
    }

    fn script(&mut self) -> Option<Command> {
        let (words, text) = self.of(SCRIPTS).split_once(" | ")?;
        let words: Vec<String> = words.split(' ').map(|word| self.word(word)).collect();
        Command::of(["EVAL", text]).map(|command| words.iter().fold(command, Command::arg))
    }

    /// Some pieces of a text, one after the other.
    fn pieces(&mut self, of: &[&str], most: usize) -> String {
        let number = 1 + self.below(most);
        (0..number).map(|_| self.of(of)).collect()
    }

    fn word(&mut self, word: &str) -> String {
        match word {
            "K" => self.of(KEYS).to_owned(),
            "F" => self.of(FIELDS).to_owned(),
            "N" => self.of(NUMBERS).to_owned(),
            "S" => self.of(SCORES).to_owned(),
            "L" => self.of(LONG).to_owned(),
            "J" => self.pieces(&JSON.split('~').collect::<Vec<_>>(), 7),
            "H" => self.pieces(&BYTES.split(' ').collect::<Vec<_>>(), 9),
            "P" => self.pieces(LAYOUT, 5),
            "T" => self.of(&["100", "200", "300"]).to_owned(),
            "V" => self.of(&["one", "2", "3.5", "", "x y", "10"]).to_owned(),
            other => other.to_owned(),
        }
    }
}
