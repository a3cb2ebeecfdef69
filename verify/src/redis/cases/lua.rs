//! Scripts in Lua.

use super::{Case, case};

pub(in crate::redis) const ERRORS: Case = case(
    "errors of scripts",
    "
    0 EVAL 'return foo' 0
    0 EVAL 'foo=1' 0
    0 EVAL 'redis.x=1' 0
    0 EVAL 'return redis.call(`get`)' 0
    0 EVAL 'return redis.call(`get`, `a`, `b`)' 0
    0 EVAL 'return redis.call(`nope`)' 0
    0 EVAL '\\n\\nlocal x = redis.call(`nope`)' 0
    0 EVAL 'return redis.call()' 0
    0 EVAL 'return redis.call({})' 0
    0 EVAL 'return redis.call(`set`, `k`, true)' 0
    0 EVAL 'return redis.call(`set`, `k`, nil)' 0
    0 EVAL 'error(`x`)' 0
    0 EVAL 'error(`x`, 0)' 0
    0 EVAL 'error(`x`, 2)' 0
    0 EVAL 'error(3)' 0
    0 EVAL 'error()' 0
    0 EVAL 'error({err=`My Err`})' 0
    0 EVAL 'error({err=`My Err`, foo=1})' 0
    0 EVAL 'assert(false)' 0
    0 EVAL 'assert(nil, `m`)' 0
    0 EVAL 'local function f()\\n error(`deep`)\\n end\\n f()' 0
    0 EVAL 'local function f()\\n return redis.call(`incr`, `h`)\\n end\\n redis.call(`hset`, `h`, `a`,
    | 1)\\n f()' 0
    0 EVAL 'local function f()\\n return redis.call(`incr`, `h`)\\n end\\n return f()' 0
    0 EVAL 'return redis.pcall(`nope`)' 0
    0 EVAL 'return redis.pcall()' 0
    0 EVAL 'return redis.pcall({})' 0
    0 EVAL 'return redis.pcall(`set`, `a`)' 0
    0 EVAL 'return redis.pcall(`incr`, `h`)' 0
    0 EVAL 'local r = redis.pcall(`get`) return r.err' 0
    0 EVAL 'local r = redis.pcall(`get`) r.err = `X y` return r' 0
    0 EVAL 'local r = redis.pcall(`get`) error(r)' 0
    0 EVAL 'local r = {pcall(redis.call, `get`)} return r[2]' 0
    0 EVAL 'local ok, e = pcall(function() return redis.call(`get`) end) return e' 0
    0 EVAL 'local ok, e = pcall(function() error({err=`E x`}) end) return e' 0
    0 EVAL 'local ok, e = xpcall(function() return redis.call(`get`) end, function(e) return e.err end)
    | return e' 0
    0 EVAL 'local a, b = xpcall(function() error(`q`) end, function(e) return e end) return b' 0
    0 EVAL 'syntax error' 0
    0 EVAL 'return (' 0
    0 EVAL '\\n\\nfor' 0
    0 EVAL 'local a return a.b' 0
    0 EVAL 'local t = {} t[nil] = 1' 0
    0 EVAL 'return `a`..nil' 0
    0 EVAL 'local x = 5 x()' 0
    0 EVAL 'return `abc` < 5' 0
    0 EVAL 'return math.max(1, `a`)' 0
    0 EVAL 'return string.format(`%s`, {})' 0
    0 EVAL 'return redis.call(`subscribe`, `x`)' 0
    0 EVAL 'return redis.call(`wait`, 0, 0)' 0
    0 EVAL 'return redis.call(`multi`)' 0
    0 EVAL 'return redis.call(`eval`, `x`, 0)' 0
    0 EVAL 'return redis.call(`client`, `id`)' 0
    0 EVAL 'return redis.call(`script`, `exists`, `a`)' 0
    0 EVAL 'return redis.call(`role`)' 0
    0 EVAL 'return redis.call(`watch`, `a`)' 0
    0 EVAL 'return redis.call(`set`, `a`, `b`, `px`, `0`)' 0
    0 EVAL 'return redis.call(`set`, `a`, `b`, `ex`)' 0
    0 EVAL 'redis.log()' 0
    0 EVAL 'redis.log(`x`, `y`)' 0
    0 EVAL 'redis.setresp()' 0
    0 EVAL 'redis.setresp(4)' 0
    0 EVAL 'return redis.sha1hex()' 0
    0 EVAL 'return redis.sha1hex(1, 2)' 0
    0 EVAL 'return redis.status_reply()' 0
    0 EVAL 'return redis.error_reply({})' 0
    0 EVAL 'return 1' -1
    0 EVAL 'return 1' 2
    0 EVAL 'return 1' a
    0 EVAL 'return 1'
    0 EVALSHA abc 0
    0 EVALSHA aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 0
    0 EVALSHA abc -1
    0 EVAL_RO 'return redis.call(`set`, `k`, `v`)' 0
    0 EVAL_RO 'return redis.call(`get`, `k`)' 0
    ",
);

pub(in crate::redis) const VALUES: Case = case(
    "values of scripts",
    "
    0 EVAL 'return {1, 2, nil, 3}' 0
    0 EVAL 'return {1, {3, `x`, false, true, 3.9}}' 0
    0 EVAL 'return -3.9' 0
    0 EVAL 'return 2^63' 0
    0 EVAL 'return -2^70' 0
    0 EVAL 'return 0/0' 0
    0 EVAL 'return 2^53' 0
    0 EVAL 'return true' 0
    0 EVAL 'return false' 0
    0 EVAL 'return nil' 0
    0 EVAL 'return' 0
    0 EVAL '' 0
    0 EVAL 'return {}' 0
    0 EVAL 'return function() end' 0
    0 EVAL 'return {ok=`fine`}' 0
    0 EVAL 'return {ok=1}' 0
    0 EVAL 'return {err=1}' 0
    0 EVAL 'return {err=`x`}' 0
    0 EVAL 'return {err=`My x`}' 0
    0 EVAL 'return {{err=`a b`}, {ok=`c`}}' 0
    0 EVAL 'local t = {} t.a = 1 t[1] = `x` return t' 0
    0 EVAL 'return {double=3.25}' 0
    0 EVAL 'return {map={a=1}}' 0
    0 EVAL 'return {set={a=true}}' 0
    0 EVAL 'return {big_number=`123`}' 0
    0 EVAL 'return {verbatim_string={format=`txt`,string=`x`}}' 0
    0 EVAL 'return redis.error_reply(`x`)' 0
    0 EVAL 'return redis.error_reply(`My x`)' 0
    0 EVAL 'return redis.error_reply(`-A b`)' 0
    0 EVAL 'return redis.status_reply(`x`)' 0
    0 EVAL 'return redis.sha1hex(``)' 0
    0 EVAL 'return redis.sha1hex(12)' 0
    0 EVAL 'return redis.call(`get`, `none`) == false' 0
    0 EVAL 'redis.setresp(3) return redis.call(`get`, `none`) == nil' 0
    0 EVAL 'return type(redis.call(`set`, `k`, `v`))' 0
    0 EVAL 'return redis.call(`set`, `k`, `v`).ok' 0
    0 EVAL 'return redis.call(`set`, `k`, `v`, `nx`)' 0
    0 EVAL 'return type(redis.call(`incr`, `i`))' 0
    0 EVAL 'return redis.call(`lpop`, `none`, 1) == false' 0
    0 EVAL 'redis.call(`rpush`, `l`, 1, 2.5, 1e3, 0.1, 1e20, -7) return redis.call(`lrange`, `l`, 0, -1)' 0
    0 EVAL 'redis.call(`hset`, `h`, `a`, 1) return redis.call(`hgetall`, `h`)' 0
    0 EVAL 'redis.call(`zadd`, `z`, 1.5, `a`) return redis.call(`zrange`, `z`, 0, -1, `withscores`)' 0
    0 EVAL 'redis.setresp(3) return redis.call(`zscore`, `z`, `a`).double' 0
    0 EVAL 'redis.setresp(3) return redis.call(`hgetall`, `h`).map.a' 0
    0 EVAL 'return {KEYS[1], ARGV[1], ARGV[2], #KEYS, #ARGV, type(ARGV[1])}' 1 k a 5
    0 EVAL 'return KEYS[1] == nil' 0
    0 EVAL 'return ARGV[1] + 1' 0 10
    0 EVAL 'return ...' 0
    0 EVAL 'return redis.call(`ping`)' 0
    0 EVAL 'return redis.call(`echo`, `x`)' 0
    0 EVAL 'return redis.call(`select`, 0)' 0
    0 EVAL 'return #redis.call(`time`)' 0
    0 EVAL 'return redis.call(`type`, `k`)' 0
    0 EVAL 'return redis.call(`type`, `k`).ok' 0
    0 EVAL 'return redis.REDIS_VERSION_NUM' 0
    0 EVAL 'return redis.replicate_commands()' 0
    0 EVAL 'return redis.breakpoint()' 0
    0 EVAL 'return redis.set_repl(redis.REPL_ALL)' 0
    ",
);

pub(in crate::redis) const SANDBOX: Case = case(
    "what scripts may touch",
    "
    0 EVAL 'return print' 0
    0 EVAL 'return getfenv' 0
    0 EVAL 'return os' 0
    0 EVAL 'return io' 0
    0 EVAL 'return require' 0
    0 EVAL 'return debug' 0
    0 EVAL 'return dofile' 0
    0 EVAL 'string.x = 1' 0
    0 EVAL '_G.x = 1' 0
    0 EVAL 'KEYS = {}' 0
    0 EVAL 'KEYS[1] = `a` return KEYS[1]' 0
    0 EVAL 'return _G.KEYS == KEYS' 0
    0 EVAL 'rawset(_G, `x`, 1)' 0
    0 EVAL 'setmetatable(_G, {})' 0
    0 EVAL 'return rawget(_G, `zz`) == nil' 0
    0 EVAL 'return type(getmetatable(``))' 0
    0 EVAL 'return (`x`):rep(3)' 0
    0 EVAL 'return loadstring(`return 7`)()' 0
    0 EVAL 'return loadstring(`y = 1`)()' 0
    0 EVAL 'local a, b = loadstring(`x x`) return b' 0
    0 EVAL 'return loadstring(`return KEYS`)() == KEYS' 0
    0 EVAL 'local c = coroutine.wrap(function() coroutine.yield(4) end) return c()' 0
    0 EVAL 'local c = coroutine.create(function() return redis.call(`get`) end) return select(2,
    | coroutine.resume(c)).err' 0
    0 EVAL 'for i = `1`, 3 do end return math.max(1, `2`)' 0
    0 EVAL 'return {unpack({7, 8})}' 0
    0 EVAL 'return table.getn({1, 2})' 0
    0 EVAL 'return math.mod(5, 3)' 0
    0 EVAL 'return select(`#`, nil, nil)' 0
    0 EVAL 'return tonumber(`0x10`)' 0
    0 EVAL 'return tostring(10 / 2)' 0
    0 EVAL 'return tostring(0.1)' 0
    0 EVAL 'return tostring(2^63)' 0
    0 EVAL 'return 1 .. 2' 0
    0 EVAL 'return _VERSION' 0
    0 EVAL 'return {bit.band(7, 3), bit.bor(4, 1), bit.bxor(7, 2), bit.bnot(0), bit.lshift(1, 31)}' 0
    0 EVAL 'return {bit.rshift(-1, 28), bit.arshift(-8, 1), bit.tobit(2^32 + 5)}' 0
    0 EVAL 'local n = 0 for k, v in pairs({a=1, b=2}) do n = n + v end return n' 0
    0 EVAL 'local n = 0 for i, v in ipairs({4, 5}) do n = n + i * v end return n' 0
    0 EVAL 'local t = {3, 1, 2} table.sort(t) return t' 0
    0 EVAL 'return table.concat({1, 2, 3}, `-`)' 0
    0 EVAL 'return string.format(`%d %s %5.2f`, 3, `x`, 1.5)' 0
    0 EVAL 'local s = setmetatable({}, {__index = function(_, k) return k .. `!` end}) return s.x' 0
    ",
);

pub(in crate::redis) const EFFECTS: Case = case(
    "what scripts do to keys",
    "
    0 EVAL 'redis.call(`set`, `part`, 1) redis.call(`incr`)' 0
    0 GET part
    0 EVAL 'redis.call(`set`, `part`, 2) error(`boom`)' 0
    0 GET part
    0 EVAL 'redis.call(`set`, `part`, 3) local r = redis.pcall(`lpush`, `part`, 1) return r' 0
    0 GET part
    0 SCRIPT LOAD 'return redis.call(`incr`, KEYS[1])'
    0 EVALSHA 4377abb16a9f13c08c4eac1eba4f2e6ba8da6b50 1 c
    0 SCRIPT EXISTS 4377abb16a9f13c08c4eac1eba4f2e6ba8da6b50 abc
    0 EVAL 'return 1' 0
    1 EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
    1 EVALSHA E0E1F9FABFC9D4800C877A703B823AC0578FF8DB 0
    0 SCRIPT FLUSH
    1 EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
    0 SCRIPT LOAD 'return ('
    0 SCRIPT LOAD
    0 EVAL 'redis.call(`set`, `e`, 1, `px`, 5) return redis.call(`pttl`, `e`) <= 5' 0
    pass 20
    0 EVAL 'return {redis.call(`get`, `e`), redis.call(`dbsize`), redis.call(`set`, `e`, 2, `nx`)}' 0
    0 MULTI
    0 EVAL 'return redis.call(`set`, `m`, 1)' 0
    0 GET m
    0 EXEC
    ",
);

pub(in crate::redis) const LOCKS: Case = case(
    "scripts of locks",
    "
    0 SET lock a NX PX 100000
    1 SET lock b NX PX 100000
    1 EVAL 'if redis.call(`get`, KEYS[1]) == ARGV[1] then return redis.call(`del`, KEYS[1]) else return 0
    | end' 1 lock b
    0 EVAL 'if redis.call(`get`, KEYS[1]) == ARGV[1] then return redis.call(`pexpire`, KEYS[1], ARGV[2])
    | else return 0 end' 1 lock a 200000
    0 PTTL lock
    0 EVAL 'if redis.call(`get`, KEYS[1]) == ARGV[1] then return redis.call(`del`, KEYS[1]) else return 0
    | end' 1 lock a
    0 EVAL 'if redis.call(`get`, KEYS[1]) == ARGV[1] then return redis.call(`del`, KEYS[1]) else return 0
    | end' 1 lock a
    1 SUBSCRIBE channel
    0 EVAL 'if (redis.call(`exists`, KEYS[1]) == 0) or (redis.call(`hexists`, KEYS[1], ARGV[2]) == 1) then
    | redis.call(`hincrby`, KEYS[1], ARGV[2], 1) redis.call(`pexpire`, KEYS[1], ARGV[1]) return nil end
    | return redis.call(`pttl`, KEYS[1])' 1 r 30000 id:1
    0 EVAL 'if (redis.call(`exists`, KEYS[1]) == 0) or (redis.call(`hexists`, KEYS[1], ARGV[2]) == 1) then
    | redis.call(`hincrby`, KEYS[1], ARGV[2], 1) redis.call(`pexpire`, KEYS[1], ARGV[1]) return nil end
    | return redis.call(`pttl`, KEYS[1])' 1 r 30000 id:1
    2 EVAL 'if (redis.call(`exists`, KEYS[1]) == 0) or (redis.call(`hexists`, KEYS[1], ARGV[2]) == 1) then
    | redis.call(`hincrby`, KEYS[1], ARGV[2], 1) redis.call(`pexpire`, KEYS[1], ARGV[1]) return nil end
    | return redis.call(`pttl`, KEYS[1])' 1 r 30000 id:2
    0 HGETALL r
    0 EVAL 'if (redis.call(`hexists`, KEYS[1], ARGV[1]) == 0) then return nil end local left =
    | redis.call(`hincrby`, KEYS[1], ARGV[1], -1) if left > 0 then redis.call(`pexpire`, KEYS[1], ARGV[2])
    | return 0 end redis.call(`del`, KEYS[1]) redis.call(`publish`, KEYS[2], 0) return 1' 2 r channel id:1 30000
    0 EVAL 'if (redis.call(`hexists`, KEYS[1], ARGV[1]) == 0) then return nil end local left =
    | redis.call(`hincrby`, KEYS[1], ARGV[1], -1) if left > 0 then redis.call(`pexpire`, KEYS[1], ARGV[2])
    | return 0 end redis.call(`del`, KEYS[1]) redis.call(`publish`, KEYS[2], 0) return 1' 2 r channel id:1 30000
    0 EVAL 'if (redis.call(`hexists`, KEYS[1], ARGV[1]) == 0) then return nil end return 1' 2 r channel
    | id:1 30000
    ",
);
